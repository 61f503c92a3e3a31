#pragma once
// What one layer makes of a sample: its output's sizes, its weights and multiply-adds. Layers that hold others are walked by layer_fit.h.
#include <string>

#include "base/result.h"
#include "layers/layer_list.h"

namespace mantissa::layers {

inline constexpr std::int64_t most_parameters = 1'000'000'000;       // of all layers: 16 GB with gradients and Adam's state
inline constexpr std::int64_t most_values_of_a_sample = 1ll << 28;  // of one output

[[nodiscard]] std::string shape_text(const Shape& shape);  // "1×28×28"
/// Bounded, so that sizes of a hostile file can't overflow.
[[nodiscard]] std::int64_t product(const Shape& shape);

/// Fills `layer.fitted`; "classes" and "same" become numbers. `giver` is what the input came from, for the sentence: "layers[2] max_pool2d".
Result<void> fit_layer(ListedLayer& layer, const Shape& input, const std::string& giver, std::int64_t classes);

}  // namespace mantissa::layers
