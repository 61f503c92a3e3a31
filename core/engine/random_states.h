#pragma once
// The default generators of this process: the CPU's and every CUDA device's.
#include "checkpoint/tensor_file.h"

namespace mantissa {

/// "cpu", "cuda.0", …
[[nodiscard]] NamedTensors random_states();
/// Throws EngineError when a state is none of its generator; nothing is changed.
void check_random_states(const NamedTensors& states);
/// After check_random_states. Devices that are not there, and a rank that has no saved state, are told.
void load_random_states(const NamedTensors& states, std::vector<std::string>& notices);

}  // namespace mantissa
