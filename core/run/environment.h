#pragma once
// environment.json and `mantissa env`: versions, and every numeric setting that can move a bit (design rule
// 9).
#include <nlohmann/json_fwd.hpp>

#include "plan/run_plan.h"
#include "run/run_parts.h"

namespace mantissa {

/// Versions, threads, switches of this process, capability of the CPU. Settings are those that the plan would
/// set.
[[nodiscard]] nlohmann::json environment_of(const RunPlan& plan);
/// The same for a run that is built, with dtypes of its tensors, precision and hashes.
[[nodiscard]] nlohmann::json environment_of(const RunPlan& plan, RunParts& parts);

}  // namespace mantissa
