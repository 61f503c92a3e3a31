#pragma once
// The ACCELERATE_* variables that this version does not take settings from: said, instead of ignored.
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan_sources.h"

namespace mantissa {

/// Names of this process's variables that begin with ACCELERATE_, sorted.
[[nodiscard]] std::vector<std::string> process_accelerate_variables();

/// One sentence for each variable of `names` that has no effect here, or that Accelerate doesn't know (with the nearest name).
/// Error NotBuilt for one that asks for another kind of training (DeepSpeed, FSDP, compilation …), BadPlan for a bad value.
Result<std::vector<std::string>> notes_on_accelerate_variables(const std::vector<std::string>& names,
                                                               const EnvironmentLookup& environment);

}  // namespace mantissa
