#include "models/listed_modules.h"

#include <cmath>
#include <limits>

#include "engine/engine_error.h"
#include "layers/layer_kinds.h"

namespace mantissa {
namespace {

namespace nn = torch::nn;
using layers::LayerKind;
using layers::ListedLayer;
using torch::Tensor;

/// A layer's function, and the named layers inside it.
struct Built {
    Layer::Function function;
    std::vector<Layer*> inside;
};

template <typename Holder>
Built registered(nn::Module& owner, const ListedLayer& layer, Holder module) {
    owner.register_module(layer.name, module);
    return {[module](const Tensor& input) mutable { return module->forward(input); }, {}};
}

/// Python's linear is one operation; that of the C++ module is two for more than two dimensions, which rounds twice in half precision.
Layer::Function linear(nn::Module& owner, const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
    const auto module = owner.register_module(name, nn::Linear(nn::LinearOptions(in, out).bias(bias)));
    return [module](const Tensor& input) { return torch::linear(input, module->weight, module->bias); };
}

Layer linear_part(nn::Module& owner, const std::string& prefix, const char* name, std::int64_t in, std::int64_t out, bool bias) {
    return {prefix + name, linear(owner, name, in, out, bias)};
}

/// softmax(q·kᵀ/√d)·v, written out so that a bad value has an operation to be born in.
struct ListedAttention : nn::Module {
    ListedAttention(const ListedLayer& layer, const std::string& prefix) : heads(layer.heads), causal(layer.causal) {
        const std::int64_t features = layer.fitted->input.back();
        parts.reserve(2);
        parts.push_back(linear_part(*this, prefix, "qkv", features, 3 * features, layer.bias));
        parts.push_back(linear_part(*this, prefix, "out", features, features, layer.bias));
    }

    Tensor forward(const Tensor& input) {
        const std::int64_t batch = input.size(0), pieces = input.size(1), features = input.size(2);
        const auto of_heads = [&](const Tensor& x) { return x.view({batch, pieces, heads, features / heads}).transpose(1, 2); };
        const std::vector<Tensor> qkv = parts[0](input).split(features, 2);
        const Tensor query = of_heads(qkv[0]), key = of_heads(qkv[1]).transpose(-2, -1);
        Tensor scores = torch::matmul(query, key);
        if (OutputWatch* watch = current_watch()) watch->output(ModuleScope::current(), "matmul", {query, key}, scores);
        scores = scores * (1.0 / std::sqrt(static_cast<double>(features / heads)));
        if (causal) {
            const Tensor later = torch::ones({pieces, pieces}, input.options().dtype(torch::kBool)).triu(1);
            scores = scores.masked_fill(later, -std::numeric_limits<double>::infinity());
        }
        const Tensor mixed = torch::matmul(torch::softmax(scores, -1), of_heads(qkv[2]));
        return parts[1](mixed.transpose(1, 2).reshape({batch, pieces, features}));
    }

    std::int64_t heads;
    bool causal;
    std::vector<Layer> parts;  // qkv, out
};

Tensor activated(const std::string& activation, const Tensor& x) {
    if (activation == "gelu") return torch::gelu(x);
    if (activation == "silu") return torch::silu(x);
    if (activation == "sigmoid") return torch::sigmoid(x);
    if (activation == "tanh") return torch::tanh(x);
    return torch::relu(x);
}

/// value(x) · activation(opening(x)).
struct ListedGate : nn::Module {
    ListedGate(const ListedLayer& layer, const std::string& prefix) : activation(layer.activation) {
        const std::int64_t features = layer.fitted->input.back();
        parts.reserve(2);
        for (const char* name : {"value", "opening"}) parts.push_back(linear_part(*this, prefix, name, features, layer.out, layer.bias));
    }

    Tensor forward(const Tensor& input) {
        const Tensor value = parts[0](input);
        return watched_product(value, activated(activation, parts[1](input)));
    }

    std::string activation;
    std::vector<Layer> parts;  // value, opening
};

struct ListedRmsNorm : nn::Module {
    ListedRmsNorm(std::int64_t features, double given_eps) : weight(register_parameter("weight", torch::ones({features}))) {
        if (given_eps > 0) eps = given_eps;
    }
    Tensor forward(const Tensor& input) { return at::rms_norm(input, {weight.size(0)}, weight, eps); }

    Tensor weight;
    std::optional<double> eps;  // none: that of the dtype
};

/// A residual's or a block's layers.
struct ListedGroup : nn::Module {
    ListedGroup(const std::vector<ListedLayer>& layers, const std::string& prefix) : chain(*this, layers, prefix) {}
    ListedChain chain;
};

template <typename Module>
Built with_parts(nn::Module& owner, const ListedLayer& layer, const std::string& prefix) {
    auto module = owner.register_module(layer.name, std::make_shared<Module>(layer, prefix + layer.name + "."));
    Built built{[module = module.get()](const Tensor& input) { return module->forward(input); }, {}};
    for (Layer& part : module->parts) built.inside.push_back(&part);
    return built;
}

Built group(nn::Module& owner, const ListedLayer& layer, const std::string& prefix) {
    const std::string inside = prefix + layer.name + ".";
    auto module = owner.register_module(layer.name, std::make_shared<ListedGroup>(layer.layers, inside));
    Built built;
    module->chain.collect(built.inside);
    const ListedChain* own = &module->chain;
    if (layer.kind == LayerKind::Block) {
        built.function = [own](const Tensor& input) { return (*own)(input); };
        return built;
    }
    const ListedChain* beside = nullptr;
    if (!layer.shortcut.empty()) {
        auto shortcut = module->register_module("shortcut", std::make_shared<ListedGroup>(layer.shortcut, inside + "shortcut."));
        shortcut->chain.collect(built.inside);
        beside = &shortcut->chain;
    }
    built.function = [own, beside, adds_wide = layer.in_fp32](const Tensor& input) {
        const Tensor changed = (*own)(input), kept = beside != nullptr ? (*beside)(input) : input;
        return adds_wide ? kept.to(torch::kFloat) + changed.to(torch::kFloat) : kept + changed;
    };
    return built;
}

Built convolution(nn::Module& owner, const ListedLayer& layer) {
    const std::int64_t in = layer.fitted->input.front();
    if (layer.kind == LayerKind::Conv1d)
        return registered(owner, layer, nn::Conv1d(nn::Conv1dOptions(in, layer.out, layer.kernel.width).stride(layer.stride.width)
                                                       .padding(layer.padding.width).groups(layer.groups).bias(layer.bias)));
    return registered(owner, layer, nn::Conv2d(nn::Conv2dOptions(in, layer.out, {layer.kernel.height, layer.kernel.width}).stride({layer.stride.height, layer.stride.width})
                                                   .padding({layer.padding.height, layer.padding.width}).groups(layer.groups).bias(layer.bias)));
}

Built norm(nn::Module& owner, const ListedLayer& layer) {
    const layers::Shape& input = layer.fitted->input;
    const double eps = layer.eps > 0 ? layer.eps : 1e-5;
    if (layer.kind == LayerKind::LayerNorm) {
        const std::vector<std::int64_t> last(input.end() - layer.dimensions, input.end());
        return registered(owner, layer, nn::LayerNorm(nn::LayerNormOptions(last).eps(eps)));
    }
    if (layer.kind == LayerKind::GroupNorm) return registered(owner, layer, nn::GroupNorm(nn::GroupNormOptions(layer.groups, input.front()).eps(eps)));
    if (layer.kind == LayerKind::RmsNorm) return registered(owner, layer, std::make_shared<ListedRmsNorm>(input.back(), layer.eps));
    const auto options = nn::BatchNormOptions(input.front()).eps(eps).momentum(layer.momentum);
    if (input.size() == 3) return registered(owner, layer, nn::BatchNorm2d(options));
    return registered(owner, layer, nn::BatchNorm1d(options));
}

Built embedding(nn::Module& owner, const ListedLayer& layer) {
    if (layer.kind == LayerKind::PositionalEmbedding) {
        auto positions = owner.register_module(layer.name, nn::Embedding(layer.length, layer.fitted->input.back()));
        return {[positions](const Tensor& input) { return input + positions->weight; }, {}};
    }
    auto module = owner.register_module(layer.name, nn::Embedding(layer.vocabulary, layer.out));
    const Error outside{ErrorCode::BadPlan, layer.place + " embedding: a sample holds a number that is none of the " + std::to_string(layer.vocabulary) + " pieces 0 to " + std::to_string(layer.vocabulary - 1),
                        "use a larger vocabulary, or whole numbers as samples"};
    return {[module, outside](const Tensor& input) mutable {
                try {
                    return module->forward(input.is_floating_point() ? input.to(torch::kLong) : input);
                } catch (const c10::IndexError&) {
                    throw EngineError(outside);
                }
            }, {}};
}

Built pool(const ListedLayer& layer) {
    const auto k = layer.kernel, s = layer.stride, p = layer.padding;
    switch (layer.kind) {
        case LayerKind::MaxPool1d: return {[=](const Tensor& x) { return torch::max_pool1d(x, {k.width}, {s.width}, {p.width}); }, {}};
        case LayerKind::AvgPool1d: return {[=](const Tensor& x) { return torch::avg_pool1d(x, {k.width}, {s.width}, {p.width}); }, {}};
        case LayerKind::MaxPool2d: return {[=](const Tensor& x) { return torch::max_pool2d(x, {k.height, k.width}, {s.height, s.width}, {p.height, p.width}); }, {}};
        default: return {[=](const Tensor& x) { return torch::avg_pool2d(x, {k.height, k.width}, {s.height, s.width}, {p.height, p.width}); }, {}};
    }
}

Layer::Function plain(const ListedLayer& layer) {
    switch (layer.kind) {
        case LayerKind::Softmax: return [](const Tensor& x) { return torch::softmax(x, -1); };
        case LayerKind::Square: return [](const Tensor& x) { return watched_product(x, x); };
        case LayerKind::Times: return [factor = layer.factor](const Tensor& x) { return x * factor; };
        case LayerKind::GlobalAvgPool: return [](const Tensor& x) { return x.flatten(2).mean(2); };
        case LayerKind::GlobalMaxPool: return [](const Tensor& x) { return x.flatten(2).amax(2); };
        case LayerKind::MeanTokens: return [](const Tensor& x) { return x.mean(1); };
        case LayerKind::Flatten: return [](const Tensor& x) { return x.flatten(1); };
        case LayerKind::Transpose: return [](const Tensor& x) { return x.transpose(-2, -1); };
        case LayerKind::Reshape: return [sizes = layer.sizes](const Tensor& x) {
            std::vector<std::int64_t> all{x.size(0)};
            all.insert(all.end(), sizes.begin(), sizes.end());
            return x.reshape(all);
        };
        default: return [activation = layers::entry_of(layer.kind).id](const Tensor& x) { return activated(activation, x); };
    }
}

Built build(nn::Module& owner, const ListedLayer& layer, const std::string& prefix) {
    switch (layer.kind) {
        case LayerKind::Linear: return {linear(owner, layer.name, layer.fitted->input.back(), layer.out, layer.bias), {}};
        case LayerKind::Conv1d:
        case LayerKind::Conv2d: return convolution(owner, layer);
        case LayerKind::Embedding:
        case LayerKind::PositionalEmbedding: return embedding(owner, layer);
        case LayerKind::Attention: return with_parts<ListedAttention>(owner, layer, prefix);
        case LayerKind::Gate: return with_parts<ListedGate>(owner, layer, prefix);
        case LayerKind::BatchNorm:
        case LayerKind::LayerNorm:
        case LayerKind::GroupNorm:
        case LayerKind::RmsNorm: return norm(owner, layer);
        case LayerKind::Dropout: return registered(owner, layer, nn::Dropout(layer.share));
        case LayerKind::MaxPool1d:
        case LayerKind::MaxPool2d:
        case LayerKind::AvgPool1d:
        case LayerKind::AvgPool2d: return pool(layer);
        case LayerKind::Residual:
        case LayerKind::Block: return group(owner, layer, prefix);
        default: return {plain(layer), {}};
    }
}

}  // namespace

ListedChain::ListedChain(nn::Module& owner, const std::vector<ListedLayer>& layers, const std::string& prefix) {
    m_layers.reserve(layers.size());
    for (const ListedLayer& layer : layers) {
        Built built = build(owner, layer, prefix);
        m_layers.emplace_back(prefix + layer.name, std::move(built.function));
        m_inside.push_back(std::move(built.inside));
    }
}

Tensor ListedChain::operator()(Tensor value) const {
    for (const Layer& layer : m_layers) value = layer(value);
    return value;
}

void ListedChain::collect(std::vector<Layer*>& all) {
    for (std::size_t i = 0; i < m_layers.size(); ++i) {
        all.insert(all.end(), m_inside[i].begin(), m_inside[i].end());
        all.push_back(&m_layers[i]);
    }
}

}  // namespace mantissa
