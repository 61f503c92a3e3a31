#pragma once
// Random numbers that depend on a seed alone: each call has a generator of its own, the process-wide one is
// not touched.
#include <cstdint>

#include "torch_pch.h"

namespace mantissa {

[[nodiscard]] at::Generator seeded_generator(std::uint64_t seed);
/// randperm(count) as int64 of a fresh generator.
[[nodiscard]] torch::Tensor seeded_permutation(std::int64_t count, std::uint64_t seed);

}  // namespace mantissa
