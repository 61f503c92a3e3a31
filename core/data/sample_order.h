#pragma once
// The order in which samples are visited, known for the whole plan before the first step, and the same in
// every mode.
//
// Rule: epoch e visits training[randperm(n)], the permutation drawn by a generator of its own seeded with
// order_seed(seed, e): the upper 32 bits of splitmix64(seed + e · 0x9E3779B97F4A7C15). (torch's CPU generator
// looks at 32 bits of a seed only; seed + e would give epoch 1 of seed 3 the order of epoch 0 of seed 4, so
// that repetitions with neighbouring seeds were no repetitions.)
#include <cstdint>
#include <string>

#include "torch_pch.h"

namespace mantissa {

[[nodiscard]] std::uint64_t order_seed(std::uint64_t seed, std::int64_t epoch);

class SampleOrder {
  public:
    /// `training`: int64 indices of the samples that take part.
    SampleOrder(torch::Tensor training, std::uint64_t seed) : m_training(std::move(training)), m_seed(seed) {}

    [[nodiscard]] std::int64_t samples() const { return m_training.size(0); }
    /// Indices into the data set in the order of that epoch.
    [[nodiscard]] torch::Tensor epoch(std::int64_t epoch) const;
    /// SHA-256 over the orders of so many steps of `accumulation` batches each (the last step may end in an
    /// epoch's middle).
    [[nodiscard]] std::string hash(std::int64_t steps, std::int64_t batch_size, std::int64_t accumulation,
                                   bool drop_last = false) const;

  private:
    torch::Tensor m_training;
    std::uint64_t m_seed;
};

}  // namespace mantissa
