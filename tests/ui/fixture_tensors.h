#pragma once
// Tensor records made from real values, for tests and pictures of the page Numerics: what the engine's watch would have recorded of
// them (counts, moments, exponent histogram), computed here value by value.
#include <span>
#include <vector>

#include "fixture_runs.h"

namespace mantissa::fixture {

[[nodiscard]] TensorStatRow tensorRow(std::int64_t step, const std::string& tensor, TensorRole role, const std::string& dtype,
                                      std::span<const float> values);
/// `count` values of a normal distribution times `size`, from a seed; the same on every machine.
[[nodiscard]] std::vector<float> normalValues(std::size_t count, double size, std::uint64_t seed);

/// Adds to a comparison of `writeComparison` the records of four outputs and three parameters, every `every` steps: the outputs of
/// gate.mul grow towards fp16's limit as in `gated-overflow`, and hold Inf at fp16's last step.
void addTensorRecords(const Comparison& comparison, const Options& options, std::int64_t every = 20);

}  // namespace mantissa::fixture
