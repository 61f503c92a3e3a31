#pragma once
// The place among ranks that a launcher gave this process: torchrun's variables are believed first, then Slurm's, then Open MPI's.
// A half-set environment is refused with the name of what is missing.
#include <optional>
#include <string>

#include "base/result.h"
#include "plan/plan_sources.h"
#include "plan/rank_place.h"

namespace mantissa {

enum class RankLauncher { Torchrun, Slurm, OpenMpi };
[[nodiscard]] const char* to_string(RankLauncher launcher);  // "torchrun" "Slurm" "Open MPI"

struct LaunchedRank {
    RankLauncher launcher = RankLauncher::Torchrun;
    RankPlace place;
    std::string overruled;  // launchers whose variables are there too: "Slurm, Open MPI"; mostly empty
    /// "rank 1 of 4 by torchrun, met at node1:29500"
    [[nodiscard]] std::string told() const;
};

/// Empty: no launcher started this process. A launch of one process is one, too (size 1). Errors: BadPlan.
/// Slurm: variables of a step (srun), not of a batch script, which is rank 0 of nothing. Host and port, where a launcher has none:
/// MASTER_ADDR and MASTER_PORT, else the step's first node and a port made of the job's number.
Result<std::optional<LaunchedRank>> read_rank_environment(const EnvironmentLookup& environment);

/// "node[01-03,07],other" -> "node01"; empty for an empty list.
[[nodiscard]] std::string first_node(const std::string& node_list);

}  // namespace mantissa
