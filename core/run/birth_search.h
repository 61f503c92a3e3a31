#pragma once
// Does a step's batch again, forward, loss and backward, with every op watched, and names the op in which its first bad value is
// born. The weights must be those of the step: before the update, or where none was applied.
#include <optional>
#include <string>
#include <vector>

#include "engine/random_states.h"
#include "numerics/birth_finder.h"
#include "run/run_parts.h"

namespace mantissa {

/// Without a loss scale, so that what it finds isn't a scale that is too large. `masks` are the buffers that held an Inf when the run
/// began, `random` what the step's own pass with this batch began with. Empty: nothing bad came up this time.
[[nodiscard]] std::optional<BirthReport> find_birth(RunParts& parts, const TrainingPlan& plan, const Batch& batch,
                                                    const std::vector<std::string>& masks, const RandomNote& random);

/// Of weights that an update left bad though its gradients were finite: the first of them, as a birth in the update. Empty: they are
/// all finite.
[[nodiscard]] std::optional<BirthReport> find_birth_in_update(RunParts& parts);

/// Buffers that hold a value that isn't finite.
[[nodiscard]] std::vector<std::string> bad_buffers(const Model& model);

}  // namespace mantissa
