#pragma once
// Data sets of the catalogue, whole in memory: digits (UCI optdigits, 8×8 images, pixels / 16), breast-cancer
// (UCI, raw features), and the random classes of the two articles, drawn as their programs draw them.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/run_plan.h"
#include "torch_pch.h"

namespace mantissa {

struct Dataset {
    std::string name;
    torch::Tensor features;  // float32, samples × features
    torch::Tensor labels;    // int64, samples; 0 … classes-1
    std::int64_t classes = 0;
    [[nodiscard]] std::int64_t samples() const { return features.size(0); }
    [[nodiscard]] std::int64_t width() const { return features.size(1); }
};

[[nodiscard]] std::vector<std::string> registered_datasets();

/// Reads the bundled file, or `plan.file` in the same form (digits: 64 whole numbers 0…16 and the digit, no
/// header; breast-cancer: a header, 30 numbers and 0 or 1). A damaged file is an error with its line and
/// column.
Result<Dataset> load_dataset(const DatasetPlan& plan);

/// SHA-256 over names, dtypes, shapes and bytes of features and labels (design §10, Fair).
[[nodiscard]] std::string content_hash(const Dataset& dataset);

}  // namespace mantissa
