#include "models/layer.h"

#include <stdexcept>

#include "engine/autocast_scope.h"

namespace mantissa {
namespace {

using torch::Tensor;

Tensor in_fp32(const Layer::Function& function, const Tensor& input) {
    const AutocastScope island = AutocastScope::fp32_island(input.device().type());
    return function(input.is_floating_point() ? input.to(torch::kFloat) : input);
}

std::int64_t argument(const LayerSpec& spec, std::size_t index) {
    if (index >= spec.arguments.size()) {
        throw std::invalid_argument("layer '" + spec.name + "' (" + spec.kind + ") needs " +
                                    std::to_string(index + 1) + " numbers, it has " +
                                    std::to_string(spec.arguments.size()));
    }
    return spec.arguments[index];
}

template <typename Holder>
Layer::Function owned(torch::nn::Module& owner, const LayerSpec& spec, Holder module) {
    owner.register_module(spec.name, module);
    return [module](const Tensor& input) mutable { return module->forward(input); };
}

Layer::Function weighted_function(torch::nn::Module& owner, const LayerSpec& spec) {
    if (spec.kind == "linear") {
        return owned(owner, spec, torch::nn::Linear(argument(spec, 0), argument(spec, 1)));
    }
    if (spec.kind == "linear_without_bias") {
        const auto options = torch::nn::LinearOptions(argument(spec, 0), argument(spec, 1)).bias(false);
        return owned(owner, spec, torch::nn::Linear(options));
    }
    if (spec.kind == "conv2d") {
        const auto options =
            torch::nn::Conv2dOptions(argument(spec, 0), argument(spec, 1), argument(spec, 2));
        return owned(owner, spec,
                     torch::nn::Conv2d(torch::nn::Conv2dOptions(options).padding(argument(spec, 3))));
    }
    if (spec.kind == "batch_norm2d") return owned(owner, spec, torch::nn::BatchNorm2d(argument(spec, 0)));
    if (spec.kind == "layer_norm") {
        return owned(owner, spec, torch::nn::LayerNorm(torch::nn::LayerNormOptions({argument(spec, 0)})));
    }
    return {};
}

Layer::Function plain_function(const LayerSpec& spec) {
    if (spec.kind == "relu") return [](const Tensor& x) { return torch::relu(x); };
    if (spec.kind == "tanh") return [](const Tensor& x) { return torch::tanh(x); };
    if (spec.kind == "gelu") return [](const Tensor& x) { return torch::gelu(x); };
    if (spec.kind == "square") return [](const Tensor& x) { return watched_product(x, x); };
    if (spec.kind == "times") return [factor = argument(spec, 0)](const Tensor& x) { return x * factor; };
    if (spec.kind == "flatten") return [](const Tensor& x) { return x.flatten(1); };
    if (spec.kind == "max_pool2d") {
        const std::int64_t size = argument(spec, 0);
        return [size](const Tensor& x) { return torch::max_pool2d(x, {size, size}); };
    }
    if (spec.kind == "unflatten") {
        return [shape = spec.arguments](const Tensor& x) { return x.unflatten(1, shape); };
    }
    return {};
}

}  // namespace

Tensor Layer::operator()(const Tensor& input) const {
    const ModuleScope scope(m_path);
    Tensor result = m_is_island ? in_fp32(m_function, input) : m_function(input);
    if (OutputWatch* watch = current_watch()) watch->output(m_path, "", {input}, result);
    return result;
}

Layer make_layer(torch::nn::Module& owner, const std::string& path_prefix, const LayerSpec& spec) {
    Layer::Function function = weighted_function(owner, spec);
    if (!function) function = plain_function(spec);
    if (!function) throw std::invalid_argument("no kind of layer is named '" + spec.kind + "'");
    return {path_prefix + spec.name, std::move(function)};
}

Tensor watched_product(const Tensor& left, const Tensor& right) {
    Tensor result = left * right;
    if (OutputWatch* watch = current_watch())
        watch->output(ModuleScope::current(), "mul", {left, right}, result);
    return result;
}

}  // namespace mantissa
