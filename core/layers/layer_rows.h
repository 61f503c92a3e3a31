#pragma once
// A fitted list as a table: a row for each layer, those inside others behind the one that holds them.
#include <string>
#include <vector>

#include "layers/layer_fit.h"
#include "plan/memory_estimate.h"

namespace mantissa::layers {

struct LayerRow {
    int depth = 0;
    std::string path;   // as islands and records name it: "3.0"
    std::string place;  // in the file
    std::string text;   // "conv2d 8, kernel 3, padding 1"
    bool is_fitted = false;
    Shape output;
    std::int64_t parameters = 0, buffer_bytes = 0, multiply_adds = 0;  // its own
    std::string problem;                                               // of this layer
};

/// Weights, gradients and Adam's two states, fp32 in every mode, and buffers.
[[nodiscard]] std::uint64_t training_bytes(const LayerRow& row);

struct LayerSums {
    std::int64_t parameters = 0, multiply_adds = 0;
    std::uint64_t training_bytes = 0;
};
[[nodiscard]] LayerSums sums_of(const std::vector<LayerRow>& rows);

[[nodiscard]] std::vector<LayerRow> layer_rows(const FittedList& fitted);
/// The modules that hold weights, named as the model names them.
[[nodiscard]] std::vector<ModuleSize> module_sizes(const LayerList& fitted);

}  // namespace mantissa::layers
