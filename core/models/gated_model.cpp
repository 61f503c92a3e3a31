#include "models/gated_model.h"

namespace mantissa {
namespace {

constexpr std::int64_t width = 64, gate_width = 256;
constexpr double inlet_factor = 300.0;

}  // namespace

GatedModel::Gate::Gate() {
    parts.push_back(make_layer(*this, "gate.", {"value", "linear", {width, gate_width}}));
    parts.push_back(make_layer(*this, "gate.", {"opening", "linear", {width, gate_width}}));
    parts.push_back(make_layer(*this, "gate.", {"down", "linear_without_bias", {gate_width, width}}));
}

torch::Tensor GatedModel::Gate::forward(const torch::Tensor& hidden) {
    const torch::Tensor value = parts[0](hidden);
    const torch::Tensor opening = torch::relu(parts[1](hidden));
    return parts[2](watched_product(value, opening));
}

GatedModel::GatedModel(std::int64_t features, std::int64_t classes) : Model("gated") {
    m_layers.reserve(4);
    m_layers.push_back(make_layer(*this, "", {"inlet", "linear", {features, width}}));
    m_gate = register_module("gate", std::make_shared<Gate>());
    m_layers.emplace_back(
        "gate", [gate = m_gate.get()](const torch::Tensor& hidden) { return gate->forward(hidden); });
    m_layers.push_back(make_layer(*this, "", {"norm", "layer_norm", {width}}));
    m_layers.push_back(make_layer(*this, "", {"head", "linear", {width, classes}}));
}

torch::Tensor GatedModel::forward(const torch::Tensor& input) {
    const torch::Tensor hidden = inlet_factor * m_layers[0](input);
    const torch::Tensor gated = m_layers[1](hidden);
    return m_layers[3](m_layers[2](gated.to(torch::kFloat) + hidden.to(torch::kFloat)));
}

std::vector<Layer*> GatedModel::layers() {
    std::vector<Layer*> all{&m_layers[0]};
    for (Layer& part : m_gate->parts) all.push_back(&part);
    for (std::size_t i = 1; i < m_layers.size(); ++i) all.push_back(&m_layers[i]);
    return all;
}

}  // namespace mantissa
