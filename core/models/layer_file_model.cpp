#include "models/layer_file_model.h"

#include "layers/layer_file.h"

namespace mantissa {

namespace {

/// What the list says of a sample's form, else the data's own; a flat row stays what it is.
layers::Shape input_of(const layers::LayerList& list, const layers::Shape& sample) {
    if (!list.input.empty()) return list.input;
    return sample.size() > 1 ? sample : layers::Shape{};
}

}  // namespace

LayerFileModel::LayerFileModel(const layers::LayerList& fitted, const layers::Shape& sample) : Model(fitted.name), m_chain(*this, fitted.layers, "") {
    set_sample_shape(input_of(fitted, sample));
}

torch::Tensor LayerFileModel::forward(const torch::Tensor& input) { return m_chain(shaped(input)); }

std::vector<Layer*> LayerFileModel::layers() {
    std::vector<Layer*> all;
    m_chain.collect(all);
    return all;
}

Result<std::shared_ptr<Model>> load_layer_list(const std::string& file, const layers::SampleForm& sample) {
    const auto list = layers::read_fitted_list(file, sample);
    if (!list) return list.error();
    return std::shared_ptr<Model>(std::make_shared<LayerFileModel>(*list, sample.sizes));
}

}  // namespace mantissa
