#include "models/model.h"

#include <algorithm>

namespace mantissa {

std::vector<std::string> Model::paths() {
    std::vector<std::string> paths;
    for (const Layer* layer : layers()) paths.push_back(layer->path());
    return paths;
}

Result<void> Model::set_fp32_islands(const std::vector<std::string>& islands) {
    const std::vector<std::string> known = paths();
    for (std::size_t i = 0; i < islands.size(); ++i) {
        if (std::find(known.begin(), known.end(), islands[i]) != known.end()) continue;
        std::string list;
        for (const std::string& path : known) list += (list.empty() ? "" : ", ") + path;
        return Error{ErrorCode::BadPlan,
                     "fp32_islands[" + std::to_string(i) + "] is \"" + islands[i] + "\", but model " +
                         name() + " has no module of that path",
                     "its modules are " + list};
    }
    for (Layer* layer : layers()) {
        layer->make_island(std::find(islands.begin(), islands.end(), layer->path()) != islands.end());
    }
    return {};
}

torch::Tensor Model::shaped(const torch::Tensor& batch) const {
    if (m_sample_shape.empty()) return batch;
    std::vector<std::int64_t> sizes{batch.size(0)};
    sizes.insert(sizes.end(), m_sample_shape.begin(), m_sample_shape.end());
    return batch.reshape(sizes);
}

LayerList::LayerList(std::string name, std::vector<LayerSpec> specs) : Model(std::move(name)) {
    m_layers.reserve(specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].name.empty()) specs[i].name = std::to_string(i);
        m_layers.push_back(make_layer(*this, "", specs[i]));
    }
}

torch::Tensor LayerList::forward(const torch::Tensor& input) {
    torch::Tensor value = input;
    for (const Layer& layer : m_layers) value = layer(value);
    return value;
}

std::vector<Layer*> LayerList::layers() {
    std::vector<Layer*> all;
    for (Layer& layer : m_layers) all.push_back(&layer);
    return all;
}

}  // namespace mantissa
