#include "network.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "engine/engine_error.h"

namespace mantissa::golden {
namespace {

using Function = std::function<torch::Tensor(const torch::Tensor&)>;

// One layer: its weights under their Python names, and its function.
struct Layer : torch::nn::Module {
    torch::Tensor weight(const std::string& name, std::vector<std::int64_t> shape) {
        return register_parameter(name, torch::zeros(shape));
    }
};

std::vector<std::int64_t> pair(Arguments& arguments, const std::string& name, std::optional<std::int64_t> standard) {
    auto all = arguments.wholes(name, standard ? std::vector<std::int64_t>{*standard} : std::vector<std::int64_t>{});
    if (all.size() == 1) all.push_back(all[0]);
    if (all.size() != 2) arguments.refuse("'" + name + "' is not one or two whole numbers");
    return all;
}

Function linear(Arguments& arguments, Layer& layer) {
    arguments.parameters({"in_features", "out_features"});
    const auto in = arguments.whole("in_features"), out = arguments.whole("out_features");
    const auto weight = layer.weight("weight", {out, in}), bias = layer.weight("bias", {out});
    return [weight, bias](const torch::Tensor& x) { return at::linear(x, weight, bias); };
}

Function conv2d(Arguments& arguments, Layer& layer) {
    arguments.parameters({"in_channels", "out_channels", "kernel_size", "padding"});
    const auto in = arguments.whole("in_channels"), out = arguments.whole("out_channels");
    const auto kernel = pair(arguments, "kernel_size", {});
    const auto weight = layer.weight("weight", {out, in, kernel[0], kernel[1]}), bias = layer.weight("bias", {out});
    if (arguments.is_text("padding")) {  // "same" or "valid"
        const std::string padding = arguments.text("padding", "");
        return [weight, bias, padding](const torch::Tensor& x) { return at::conv2d(x, weight, bias, {1, 1}, padding); };
    }
    const auto padding = pair(arguments, "padding", {});
    return [weight, bias, padding](const torch::Tensor& x) { return at::conv2d(x, weight, bias, {1, 1}, padding); };
}

Function relu(Arguments& arguments, Layer&) {
    arguments.parameters({"inplace"});
    if (arguments.truth("inplace", false)) {
        return [](const torch::Tensor& x) { return at::relu_(const_cast<torch::Tensor&>(x)); };
    }
    return [](const torch::Tensor& x) { return at::relu(x); };
}

Function gelu(Arguments& arguments, Layer&) {
    arguments.parameters({"approximate"});
    const std::string approximate = arguments.text("approximate", "none");
    return [approximate](const torch::Tensor& x) { return at::gelu(x, approximate); };
}

Function max_pool2d(Arguments& arguments, Layer&) {
    arguments.parameters({"kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"});
    const auto kernel = pair(arguments, "kernel_size", {});
    const auto stride = arguments.has("stride") ? pair(arguments, "stride", {}) : kernel;
    const auto padding = pair(arguments, "padding", 0), dilation = pair(arguments, "dilation", 1);
    arguments.only_default("return_indices");
    const bool ceil_mode = arguments.truth("ceil_mode", false);
    return [=](const torch::Tensor& x) { return at::max_pool2d(x, kernel, stride, padding, dilation, ceil_mode); };
}

Function batch_norm2d(Arguments& arguments, Layer& layer) {
    arguments.parameters({"num_features", "eps", "momentum", "affine", "track_running_stats"});
    const auto size = arguments.whole("num_features");
    const double eps = arguments.number("eps", 1e-5);
    const bool is_average = arguments.is_null("momentum");  // None: the plain average of all batches
    const double momentum = is_average ? 0 : arguments.number("momentum", 0.1);
    torch::Tensor weight, bias, mean, variance, count;
    if (arguments.truth("affine", true)) {
        weight = layer.weight("weight", {size});
        bias = layer.weight("bias", {size});
    }
    if (arguments.truth("track_running_stats", true)) {
        mean = layer.register_buffer("running_mean", torch::zeros({size}));
        variance = layer.register_buffer("running_var", torch::ones({size}));
        count = layer.register_buffer("num_batches_tracked", torch::zeros({}, at::kLong));
    }
    return [=](const torch::Tensor& x) {
        double factor = momentum;
        if (count.defined()) {
            torch::Tensor seen = count;
            seen.add_(1);
            factor = is_average ? 1.0 / seen.item<double>() : momentum;
        }
        return at::batch_norm(x, weight, bias, mean, variance, true, factor, eps, true);
    };
}

Function layer_norm(Arguments& arguments, Layer& layer) {
    arguments.parameters({"normalized_shape", "eps", "elementwise_affine", "bias"});
    const auto shape = arguments.wholes("normalized_shape");
    if (shape.empty()) arguments.refuse("'normalized_shape' is missing");
    const double eps = arguments.number("eps", 1e-5);
    const bool is_affine = arguments.truth("elementwise_affine", true);
    torch::Tensor weight, bias;
    if (is_affine) weight = layer.weight("weight", shape);
    if (arguments.truth("bias", true) && is_affine) bias = layer.weight("bias", shape);
    return [=](const torch::Tensor& x) { return at::layer_norm(x, shape, weight, bias, eps, true); };
}

Function flatten(Arguments& arguments, Layer&) {
    arguments.parameters({"start_dim", "end_dim"});
    const auto first = arguments.whole("start_dim", 1), last = arguments.whole("end_dim", -1);
    return [=](const torch::Tensor& x) { return x.flatten(first, last); };
}

Function unflatten(Arguments& arguments, Layer&) {
    const auto shape = arguments.rest_wholes();
    if (shape.empty()) arguments.refuse("its shape is missing");
    return [=](const torch::Tensor& x) { return x.unflatten(1, shape); };
}

Function tanh(Arguments&, Layer&) {
    return [](const torch::Tensor& x) { return at::tanh(x); };
}

Function square(Arguments&, Layer&) {
    return [](const torch::Tensor& x) { return x * x; };
}

struct Kind {
    const char* name;
    Function (*make)(Arguments&, Layer&);
};
constexpr std::array<Kind, 11> kinds{{{"linear", linear}, {"conv2d", conv2d}, {"relu", relu}, {"tanh", tanh},
                                      {"gelu", gelu}, {"square", square}, {"max_pool2d", max_pool2d},
                                      {"batch_norm2d", batch_norm2d}, {"layer_norm", layer_norm},
                                      {"flatten", flatten}, {"unflatten", unflatten}}};

}  // namespace

Network::Network(const nlohmann::json& layers) {
    if (!layers.is_array() || layers.empty()) {
        throw EngineError({ErrorCode::BadPlan, "'layers' is not a list of layers", ""});
    }
    for (const auto& entry : layers) {
        Arguments arguments(entry, "layer");
        const auto* const kind = std::find_if(kinds.begin(), kinds.end(),
                                              [&](const Kind& one) { return one.name == arguments.name(); });
        if (kind == kinds.end()) {
            arguments.refuse("this layer is not known (linear conv2d relu tanh gelu square max_pool2d batch_norm2d "
                             "layer_norm flatten unflatten)");
        }
        auto layer = std::make_shared<Layer>();
        m_functions.push_back(kind->make(arguments, *layer));
        arguments.finish();
        register_module(std::to_string(m_functions.size() - 1), layer);
    }
}

torch::Tensor Network::forward(torch::Tensor input) {
    for (const auto& function : m_functions) {
        input = function(input);
    }
    return input;
}

}  // namespace mantissa::golden
