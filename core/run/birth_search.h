#pragma once
// Does a step's batch again, forward, loss and backward, with every op watched, and names the op in which its first bad value is
// born. The weights must be those of the step: before the update, or where none was applied.
#include <optional>

#include "numerics/birth_finder.h"
#include "run/run_parts.h"

namespace mantissa {

/// Without a loss scale, so that what it finds isn't a scale that is too large. Empty: nothing bad came up this time.
[[nodiscard]] std::optional<BirthReport> find_birth(RunParts& parts, const TrainingPlan& plan, const Batch& batch);

}  // namespace mantissa
