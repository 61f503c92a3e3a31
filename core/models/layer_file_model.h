#pragma once
// A model from a layer list (layers/layer_list.h): the weights that PyTorch draws for the same modules in the same order, paths as in
// nested Sequentials ("3.0"), a gate's parts below it ("2.value").
#include "layers/layer_fit.h"
#include "models/listed_modules.h"
#include "models/model.h"

namespace mantissa {

class LayerFileModel : public Model {
  public:
    /// The weights come from torch's default generator.
    LayerFileModel(const layers::LayerList& fitted, const layers::Shape& sample);

    /// A batch of samples, flat or in their own form.
    torch::Tensor forward(const torch::Tensor& input) override;
    [[nodiscard]] std::vector<Layer*> layers() override;

  private:
    ListedChain m_chain;
};

/// InputOutput or BadPlan, beginning with the file.
Result<std::shared_ptr<Model>> load_layer_list(const std::string& file, const layers::SampleForm& sample);

}  // namespace mantissa
