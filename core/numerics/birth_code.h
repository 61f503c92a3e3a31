#pragma once
// How bad a tensor is, and what the op that made it so is called in the verdicts.
#include <string>

#include "numerics/birth_finder.h"

namespace mantissa {

enum class Level { Finite, Inf, NaN };

[[nodiscard]] Level level_of(const torch::Tensor& tensor);
/// Largest |value|: Inf or NaN when one is; 0 for what has no floating-point values.
[[nodiscard]] double largest_magnitude_of(const torch::Tensor& tensor);
/// Smallest |value|; NaN for what has no floating-point values.
[[nodiscard]] double smallest_magnitude_of(const torch::Tensor& tensor);

/// The verdict code of a birth, from its op, phase and what went in.
[[nodiscard]] std::string birth_code(const Birth& birth, Level before, Level after);

}  // namespace mantissa
