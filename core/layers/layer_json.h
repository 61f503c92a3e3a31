#pragma once
// Reads a layer list. Every error names the place in the file ("layers[3].conv2d.kernel"), what stands there and what may; text that
// isn't JSON names line and byte. What a file may cost is bounded before anything is made from it.
#include <string_view>

#include "base/result.h"
#include "layers/layer_list.h"

namespace mantissa::layers {

inline constexpr int layer_list_version = 1;
inline constexpr std::uint64_t layer_file_limit_bytes = 1ull << 20;
inline constexpr std::size_t most_layers = 1000;
inline constexpr int deepest_layers = 8;  // layers inside layers

/// BadPlan. `name` is the model's where the text gives none.
Result<LayerList> parse_layer_list(std::string_view text, const std::string& name);

}  // namespace mantissa::layers
