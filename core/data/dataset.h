#pragma once
// Data sets: those of the catalogue, whole in memory – digits (UCI optdigits, 8×8 images, pixels / 16), breast-cancer (UCI, raw features),
// the random classes of the two articles, drawn as their programs draw them – and files of one's own (samples/samples.h).
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/run_plan.h"
#include "samples/samples.h"
#include "torch_pch.h"

namespace mantissa {

struct Dataset {
    std::string name;        // of the catalogue, or the file's
    torch::Tensor features;  // float32, samples × width; int64 where they are tokens
    torch::Tensor labels;    // int64, samples (classes) or samples × width (next tokens); float32, samples (values)
    std::int64_t classes = 0;  // of tokens the different ones; 0 for values
    SampleTarget target = SampleTarget::Classes;
    std::vector<std::int64_t> sample_shape;  // of a file's samples: {30}, {1, 28, 28}; empty for the catalogue's, which are flat
    bool are_bytes = false;                  // features of a file that were uint8
    [[nodiscard]] std::int64_t samples() const { return features.size(0); }
    [[nodiscard]] std::int64_t width() const { return features.size(1); }
    [[nodiscard]] bool are_tokens() const { return features.scalar_type() == at::kLong; }
    /// Numbers that a model gives for one sample, or for one token.
    [[nodiscard]] std::int64_t outputs() const { return target == SampleTarget::Values ? 1 : classes; }
};

[[nodiscard]] std::vector<std::string> registered_datasets();

/// The file of the plan, or the data set of that name. Missing values of a file are NaN until prepare_dataset().
Result<Dataset> load_dataset(const DatasetPlan& plan);

/// Fills and normalises the features as the plan says, in place, by figures of the training samples (int64 indices).
void prepare_dataset(Dataset& dataset, const DatasetPlan& plan, const torch::Tensor& training);

/// SHA-256 over names, dtypes, shapes and bytes of features and labels (design §10, Fair).
[[nodiscard]] std::string content_hash(const Dataset& dataset);

}  // namespace mantissa
