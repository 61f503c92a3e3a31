#pragma once
// Seeded, stratified split into training and validation samples.
#include <cstdint>

#include "base/result.h"
#include "data/dataset.h"

namespace mantissa {

struct Split {
    torch::Tensor training;    // int64 indices, ascending
    torch::Tensor validation;  // int64 indices, ascending; empty without validation
};

/// Holds out ceil(samples × share) samples; every class gives its proportional part (largest remainders, the
/// lower class first on a tie; digits at 0.2: 1,437 and 360). Which samples: the first of each class in
/// randperm(samples) of a generator seeded with `seed`. BadPlan when nothing would be left for training.
Result<Split> split_dataset(const Dataset& dataset, double share, std::uint64_t seed);

}  // namespace mantissa
