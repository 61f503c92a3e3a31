#include "layers/layer_shapes.h"

#include <algorithm>
#include <numeric>

#include "base/numbers.h"
#include "layers/layer_kinds.h"

namespace mantissa::layers {
namespace {

constexpr std::int64_t float_bytes = 4, counter_bytes = 8;

struct Refused {
    std::string problem, hint;
};

Shape with_last(Shape shape, std::int64_t size) {
    shape.back() = size;
    return shape;
}

/// Fits one layer to one input; every function leaves with Refused where that can't be.
class Fit {
  public:
    Fit(ListedLayer& layer, const Shape& input, const std::string& giver) : m_layer(layer), m_input(input), m_giver(giver) {}

    LayerSizes sizes();

  private:
    void linear();
    void convolution();
    void embedding();
    void positions();
    void attention();
    void gate();
    void norm();
    void pool();
    void global_pool();
    void reshape();

    void need_dimensions(std::size_t least, std::size_t most, const std::string& what) const;
    [[nodiscard]] std::int64_t along(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t& padding, const char* side) const;
    void slide();  // sets the output's height and width
    void add_part(const std::string& name, std::int64_t parameters, std::int64_t buffer_bytes = 0) {
        m_sizes.parts.push_back({name, parameters, buffer_bytes});
    }
    [[nodiscard]] std::string given() const { return "the " + shape_text(m_input) + " that " + m_giver + " gives"; }

    ListedLayer& m_layer;
    const Shape& m_input;
    const std::string& m_giver;
    LayerSizes m_sizes;
};

void Fit::need_dimensions(std::size_t least, std::size_t most, const std::string& what) const {
    if (m_input.size() >= least && m_input.size() <= most) return;
    throw Refused{"takes " + what + ", not " + given(), m_input.size() == 1 ? "say the form of a sample with \"input\", or put a reshape before it"
                                                                            : "put a flatten or a reshape before it"};
}

void Fit::linear() {
    const std::int64_t in = m_input.back(), out = m_layer.out;
    m_sizes.output = with_last(m_input, out);
    add_part("", in * out + (m_layer.bias ? out : 0));
    m_sizes.multiply_adds = product(m_input) * out;
}

std::int64_t Fit::along(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t& padding, const char* side) const {
    if (padding == same_size) {
        if (stride != 1 || kernel % 2 == 0)
            throw Refused{"pads to the same size, which needs stride 1 and an odd kernel", "say the padding as a number"};
        padding = kernel / 2;
    }
    const std::int64_t room = size + 2 * padding;
    if (kernel > room) {
        const std::int64_t more = (kernel - size + 1) / 2;
        throw Refused{"kernel " + std::to_string(kernel) + " doesn't fit " + given() +
                          (padding > 0 ? ", with padding " + std::to_string(padding) : "") + " (" + side + " " + std::to_string(size) + ")",
                      "use a kernel of at most " + std::to_string(room) + ", or padding " + std::to_string(more)};
    }
    return (room - kernel) / stride + 1;
}

void Fit::slide() {
    const std::size_t last = m_input.size() - 1;
    m_sizes.output = m_input;
    m_sizes.output[last] = along(m_input[last], m_layer.kernel.width, m_layer.stride.width, m_layer.padding.width, "width");
    if (m_input.size() == 3) m_sizes.output[1] = along(m_input[1], m_layer.kernel.height, m_layer.stride.height, m_layer.padding.height, "height");
}

void Fit::convolution() {
    const bool is_flat = m_layer.kind == LayerKind::Conv1d;
    if (is_flat)
        need_dimensions(2, 2, "channels × length");
    else
        need_dimensions(3, 3, "channels × height × width");
    const std::int64_t in = m_input.front(), out = m_layer.out, groups = m_layer.groups;
    if (in % groups != 0 || out % groups != 0)
        throw Refused{
            "can't divide " + std::to_string(in) + " channels in and " + std::to_string(out) + " out into " + std::to_string(groups) + " groups",
            "use a number of groups that divides both, as " + std::to_string(std::gcd(in, out)) + " does"};
    slide();
    m_sizes.output.front() = out;
    const std::int64_t of_one_output = in / groups * m_layer.kernel.width * (is_flat ? 1 : m_layer.kernel.height);
    if (of_one_output > most_parameters) throw Refused{"has " + readable_count(of_one_output) + " weights for one output", "use a smaller kernel"};
    add_part("", out * of_one_output + (m_layer.bias ? out : 0));
    m_sizes.multiply_adds = product(m_sizes.output) * of_one_output;
}

void Fit::embedding() {
    need_dimensions(1, 1, "a row of numbers of pieces");
    m_sizes.output = {m_input.front(), m_layer.out};
    add_part("", m_layer.vocabulary * m_layer.out);
}

void Fit::positions() {
    need_dimensions(2, 2, "pieces × features");
    m_sizes.output = m_input;
    m_layer.length = m_input.front();
    add_part("", product(m_input));
}

void Fit::attention() {
    need_dimensions(2, 2, "pieces × features");
    const std::int64_t pieces = m_input[0], width = m_input[1];
    if (width % m_layer.heads != 0)
        throw Refused{"can't divide " + std::to_string(width) + " features among " + std::to_string(m_layer.heads) + " heads",
                      "use a number of heads that divides " + std::to_string(width)};
    if (product({pieces, pieces, m_layer.heads}) > most_values_of_a_sample)
        throw Refused{"compares each of " + readable_count(pieces) + " pieces with each other, more than " + readable_count(most_values_of_a_sample) +
                          " values a sample",
                      "use shorter samples"};
    m_sizes.output = m_input;
    add_part("qkv", 3 * width * width + (m_layer.bias ? 3 * width : 0));
    add_part("out", width * width + (m_layer.bias ? width : 0));
    m_sizes.multiply_adds = 4 * pieces * width * width + 2 * pieces * pieces * width;
}

void Fit::gate() {
    const std::int64_t in = m_input.back(), out = m_layer.out;
    m_sizes.output = with_last(m_input, out);
    for (const char* part : {"value", "opening"}) add_part(part, in * out + (m_layer.bias ? out : 0));
    m_sizes.multiply_adds = 2 * product(m_input) * out;
}

void Fit::norm() {
    m_sizes.output = m_input;
    if (m_layer.kind == LayerKind::BatchNorm) {
        need_dimensions(1, 3, "features, channels × length or channels × height × width");
        const std::int64_t channels = m_input.front();
        return add_part("", 2 * channels, 2 * channels * float_bytes + counter_bytes);
    }
    if (m_layer.kind == LayerKind::RmsNorm) return add_part("", m_input.back());
    if (m_layer.kind == LayerKind::GroupNorm) {
        if (m_input.front() % m_layer.groups != 0)
            throw Refused{"can't divide " + std::to_string(m_input.front()) + " channels into " + std::to_string(m_layer.groups) + " groups",
                          "use a number of groups that divides " + std::to_string(m_input.front())};
        return add_part("", 2 * m_input.front());
    }
    const auto dimensions = static_cast<std::size_t>(m_layer.dimensions);
    if (dimensions > m_input.size())
        throw Refused{"goes over " + std::to_string(dimensions) + " dimensions, more than " + given(),
                      "use at most " + std::to_string(m_input.size())};
    add_part("", 2 * product({m_input.end() - static_cast<std::ptrdiff_t>(dimensions), m_input.end()}));
}

void Fit::pool() {
    const bool is_flat = m_layer.kind == LayerKind::MaxPool1d || m_layer.kind == LayerKind::AvgPool1d;
    if (is_flat)
        need_dimensions(2, 2, "channels × length");
    else
        need_dimensions(3, 3, "channels × height × width");
    if (2 * m_layer.padding.width > m_layer.kernel.width || 2 * m_layer.padding.height > m_layer.kernel.height)
        throw Refused{"pads by more than half of its kernel", "use a padding of at most half the kernel"};
    slide();
}

void Fit::global_pool() {
    if (m_layer.kind == LayerKind::MeanTokens) {
        need_dimensions(2, 2, "pieces × features");
        m_sizes.output = {m_input.back()};
        return;
    }
    need_dimensions(2, 3, "channels × length or channels × height × width");
    m_sizes.output = {m_input.front()};
}

void Fit::reshape() {
    if (m_layer.kind == LayerKind::Flatten) {
        m_sizes.output = {product(m_input)};
    } else if (m_layer.kind == LayerKind::Transpose) {
        need_dimensions(2, 3, "two or three dimensions");
        m_sizes.output = m_input;
        std::swap(m_sizes.output.back(), m_sizes.output[m_input.size() - 2]);
    } else {
        if (product(m_layer.sizes) != product(m_input))
            throw Refused{"to " + shape_text(m_layer.sizes) + " needs " + readable_count(product(m_layer.sizes)) + " values, " + given() + " has " +
                              readable_count(product(m_input)),
                          "use sizes whose product is " + std::to_string(product(m_input))};
        m_sizes.output = m_layer.sizes;
    }
}

LayerSizes Fit::sizes() {
    m_sizes.input = m_sizes.output = m_input;
    switch (m_layer.kind) {
        case LayerKind::Linear:
            linear();
            break;
        case LayerKind::Conv1d:
        case LayerKind::Conv2d:
            convolution();
            break;
        case LayerKind::Embedding:
            embedding();
            break;
        case LayerKind::PositionalEmbedding:
            positions();
            break;
        case LayerKind::Attention:
            attention();
            break;
        case LayerKind::Gate:
            gate();
            break;
        case LayerKind::BatchNorm:
        case LayerKind::LayerNorm:
        case LayerKind::GroupNorm:
        case LayerKind::RmsNorm:
            norm();
            break;
        case LayerKind::MaxPool1d:
        case LayerKind::MaxPool2d:
        case LayerKind::AvgPool1d:
        case LayerKind::AvgPool2d:
            pool();
            break;
        case LayerKind::GlobalAvgPool:
        case LayerKind::GlobalMaxPool:
        case LayerKind::MeanTokens:
            global_pool();
            break;
        case LayerKind::Flatten:
        case LayerKind::Reshape:
        case LayerKind::Transpose:
            reshape();
            break;
        case LayerKind::Relu:
        case LayerKind::Gelu:
        case LayerKind::Silu:
        case LayerKind::Sigmoid:
        case LayerKind::Tanh:
        case LayerKind::Softmax:
        case LayerKind::Square:
        case LayerKind::Times:
        case LayerKind::Dropout:
        case LayerKind::Residual:
        case LayerKind::Block:
            break;
    }
    return std::move(m_sizes);
}

}  // namespace

std::int64_t LayerSizes::parameters() const {
    return std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                           [](std::int64_t sum, const WeightedPart& part) { return sum + part.parameters; });
}

std::int64_t LayerSizes::buffer_bytes() const {
    return std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                           [](std::int64_t sum, const WeightedPart& part) { return sum + part.buffer_bytes; });
}

std::string shape_text(const Shape& shape) {
    std::string text;
    for (const std::int64_t size : shape) text += (text.empty() ? "" : "×") + std::to_string(size);
    return text;
}

std::int64_t product(const Shape& shape) {
    std::int64_t all = 1;
    for (const std::int64_t size : shape) all = std::min(all * size, most_values_of_a_sample + 1);
    return all;
}

Result<void> fit_layer(ListedLayer& layer, const Shape& input, const std::string& giver, std::int64_t classes) {
    if (layer.out == as_many_as_classes) layer.out = classes;
    if (layer.vocabulary == as_many_as_classes) layer.vocabulary = classes;
    const std::string start = layer.place + " " + entry_of(layer.kind).id + ": ";
    try {
        LayerSizes sizes = Fit(layer, input, giver).sizes();
        if (product(sizes.output) > most_values_of_a_sample)
            throw Refused{"gives more than " + readable_count(most_values_of_a_sample) + " values a sample", "use smaller sizes"};
        if (sizes.parameters() > most_parameters)
            throw Refused{"has " + readable_count(sizes.parameters()) + " weights, more than " + readable_count(most_parameters),
                          "use smaller sizes"};
        layer.fitted = std::move(sizes);
        return {};
    } catch (const Refused& refused) {
        return Error{ErrorCode::BadPlan, start + refused.problem, refused.hint};
    }
}

}  // namespace mantissa::layers
