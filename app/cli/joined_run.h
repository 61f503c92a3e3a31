#pragma once
// One process of a launch that torchrun, Slurm or mpirun made (scope join). Rank 0 makes the run folder and tells the others where it is.
#include <functional>
#include <optional>

#include "base/result.h"
#include "launch/job.h"
#include "plan/plan_sources.h"
#include "plan/rank_environment.h"

namespace mantissa::cli {

/// The launch that this process belongs to; empty: it trains as the plan says. A flag that names another scope is stronger than the
/// launcher's variables; `--scope join` without a launcher is an error.
Result<std::optional<LaunchedRank>> find_launch(const SourcedPlan& plan, const EnvironmentLookup& environment);

/// Settles the plan's scope and number of processes by what the launcher said.
void take_launch(SourcedPlan& plan, const LaunchedRank& launch);

/// Meets the others. Rank 0 hands over what it prepared (or why it could not), the others return it: one job or one error for all.
Result<PreparedJob> share_job(const LaunchedRank& launch, const std::function<Result<PreparedJob>()>& prepare);

}  // namespace mantissa::cli
