#pragma once
// What a plan asks to be done with features before training, by figures of the training samples alone: what is held out for validation
// has no part in them.
#include <cstdint>
#include <span>
#include <vector>

#include "plan/run_plan.h"

namespace mantissa {

struct FeatureMatrix {
    float* data = nullptr;  // samples × width, row-major
    std::int64_t samples = 0, width = 0;
    bool are_bytes = false, are_images = false;  // images are normalised as a whole, columns of a table each
};

/// Missing values (NaN) become the mean of their column; then Unit divides by the largest absolute training value (Auto: bytes by 255),
/// Standardise subtracts mean and divides by the deviation (a column that doesn't vary becomes 0).
void prepare_features(FeatureMatrix features, std::span<const std::int64_t> training, Normalise rule);

}  // namespace mantissa
