#pragma once
// "Apply and continue from here": a new run from the kept state with the one change of a variant, a child of the run.
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"
#include "launch/job.h"
#include "record/replay_report.h"

namespace mantissa {

/// Whether a run can go on with what a variant changes, and why not. Errors: Usage.
Result<void> check_applicable(const VariantReport& variant);

/// Prepared beside the run, ready for start_supervisor. Where no state is kept at the first step that changes, one is made first by going
/// forward there (a replay of its own, kept with the incident): `is_cancelled` is asked meanwhile. Errors: Usage (no such variant, it
/// doesn't hold, it can't be a run's setting), Interrupted, and those of find_replay_subject and prepare_job.
Result<PreparedJob> prepare_applied_run(const ReplayReport& report, const std::string& variant_id, const std::function<bool()>& is_cancelled = {});

}  // namespace mantissa
