#include "plan/memory_estimate.h"

#include <algorithm>

namespace mantissa {
namespace {

constexpr std::int64_t float_bytes = 4, counter_bytes = 8;

ModuleSize linear(const char* path, std::int64_t in, std::int64_t out, bool has_bias = true) {
    return {path, in * out + (has_bias ? out : 0), 0};
}

ModuleSize convolution(const char* path, std::int64_t in, std::int64_t out, std::int64_t kernel) {
    return {path, in * out * kernel * kernel + out, 0};
}

ModuleSize batch_norm(const char* path, std::int64_t channels) {
    return {path, 2 * channels, 2 * channels * float_bytes + counter_bytes};
}

std::int64_t bytes_of(const ModuleSize& module) {
    return module.parameters * float_bytes + module.buffer_bytes;
}

/// Tensors as large as a parameter that the optimizer keeps for it.
std::int64_t states_per_parameter(const OptimizerPlan& optimizer) {
    if (optimizer.name == "sgd") return optimizer.momentum != 0 ? 1 : 0;
    return optimizer.amsgrad ? 3 : 2;  // adam, adamw
}

}  // namespace

std::vector<ModuleSize> module_sizes(const ModelPlan& model, std::int64_t features, std::int64_t classes) {
    if (model.name == "mlp" || model.name == "squares")
        return {linear("hidden", features, model.hidden), linear("head", model.hidden, classes)};
    if (model.name == "cnn")
        return {convolution("conv1", 1, 8, 3), convolution("conv2", 8, 16, 3), batch_norm("norm", 16),
                linear("head", 64, classes)};
    if (model.name == "linear") return {linear("head", features, classes)};
    if (model.name == "bright")
        return {linear("hidden1", features, model.hidden), linear("hidden2", model.hidden, model.hidden), linear("head", model.hidden, 16)};
    if (model.name == "gated")
        return {linear("inlet", features, 64),
                linear("gate.value", 64, 256),
                linear("gate.opening", 64, 256),
                linear("gate.down", 256, 64, false),
                {"norm", 128, 0},
                linear("head", 64, classes)};
    return {};
}

ModelSize model_size(const std::vector<ModuleSize>& modules) {
    ModelSize size;
    for (const ModuleSize& module : modules) {
        const std::int64_t bytes = bytes_of(module);
        size.parameters += module.parameters;
        size.bytes += bytes;
        if (bytes > size.largest_layer_bytes) size.largest_layers.clear();
        size.largest_layer_bytes = std::max(size.largest_layer_bytes, bytes);
        if (bytes == size.largest_layer_bytes) size.largest_layers.push_back(module.path);
    }
    return size;
}

const char* to_string(StoredType type) {
    switch (type) {
        case StoredType::Float32:
            return "float32";
        case StoredType::Float16:
            return "float16";
        case StoredType::BFloat16:
            return "bfloat16";
        case StoredType::Int8:
            return "int8";
        case StoredType::Int4:
            return "int4";
    }
    return "";
}

double stored_bytes(std::int64_t fp32_bytes, StoredType type) {
    const auto bytes = static_cast<double>(fp32_bytes);
    switch (type) {
        case StoredType::Float32:
            return bytes;
        case StoredType::Float16:
        case StoredType::BFloat16:
            return bytes / 2;
        case StoredType::Int8:
            return bytes / 4;
        case StoredType::Int4:
            return bytes / 8;
    }
    return bytes;
}

std::int64_t TrainingParts::largest() const {
    return std::max({model, gradients, optimizer, step});
}

bool has_training(StoredType type) {
    return type != StoredType::Int8 && type != StoredType::Int4;
}

TrainingParts accelerate_training(std::int64_t fp32_bytes, StoredType type) {
    if (!has_training(type)) return {};
    if (type == StoredType::Float32) return {fp32_bytes, fp32_bytes, 2 * fp32_bytes, 4 * fp32_bytes};
    return {fp32_bytes, fp32_bytes + fp32_bytes / 2, 2 * fp32_bytes, 2 * fp32_bytes};
}

ResidentBytes resident_bytes(const ModelSize& size, const OptimizerPlan& optimizer) {
    const std::int64_t parameters = size.parameters * float_bytes;
    return {size.bytes, parameters, parameters * states_per_parameter(optimizer)};
}

}  // namespace mantissa
