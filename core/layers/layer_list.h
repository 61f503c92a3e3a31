#pragma once
// A model as a list of layers, as values: what was written (layer_json.h reads it), and, once it was fitted to a data set
// (layer_fit.h), the sizes of every layer.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mantissa::layers {

enum class LayerKind {
    Linear, Conv1d, Conv2d, Embedding, PositionalEmbedding, Attention, Gate,
    BatchNorm, LayerNorm, GroupNorm, RmsNorm,
    Relu, Gelu, Silu, Sigmoid, Tanh, Softmax, Square, Times, Dropout,
    MaxPool1d, MaxPool2d, AvgPool1d, AvgPool2d, GlobalAvgPool, GlobalMaxPool, MeanTokens,
    Flatten, Reshape, Transpose, Residual, Block
};

/// Sizes of one sample, without the batch.
using Shape = std::vector<std::int64_t>;

struct Pair {
    std::int64_t height = 0, width = 0;  // a conv1d has the width only
    bool operator==(const Pair&) const = default;
};

inline constexpr std::int64_t as_many_as_classes = -1;  // "out": "classes", until the list is fitted
inline constexpr std::int64_t same_size = -1;           // "padding": "same", until the list is fitted

/// A module that holds weights: `name` below its layer, empty for the layer itself.
struct WeightedPart {
    std::string name;
    std::int64_t parameters = 0;
    std::int64_t buffer_bytes = 0;  // batch norm's running statistics and its counter
};

struct LayerSizes {
    Shape input, output;
    std::vector<WeightedPart> parts;     // its own, without those of layers inside
    std::int64_t multiply_adds = 0;      // of one sample, its own
    [[nodiscard]] std::int64_t parameters() const;
    [[nodiscard]] std::int64_t buffer_bytes() const;
};

/// One layer. Which members count depends on the kind (layer_kinds.h).
struct ListedLayer {
    LayerKind kind = LayerKind::Relu;
    std::string name;   // as in a Sequential where nothing was written: its number
    std::string place;  // in the file: "layers[3].residual[0]"

    std::int64_t out = 0;
    Pair kernel, stride{1, 1}, padding;
    std::int64_t groups = 1, heads = 1, vocabulary = 0, length = 0, dimensions = 1;
    bool bias = true, causal = false, in_fp32 = false;
    double share = 0.5, factor = 1.0, momentum = 0.1;
    double eps = 0.0;  // 0: the kind's own
    std::string activation = "relu";
    Shape sizes;
    std::vector<ListedLayer> layers, shortcut;

    std::optional<LayerSizes> fitted;
};

struct LayerList {
    std::string name, about;
    Shape input;  // empty: as the data has it
    std::vector<ListedLayer> layers;
};

}  // namespace mantissa::layers
