#pragma once
// The modules of a layer list: what holds the weights of a listed layer and computes it. Weights are drawn in the order of the list, as a
// Sequential of the same modules draws them in Python.
#include <vector>

#include "layers/layer_list.h"
#include "models/layer.h"

namespace mantissa {

/// Layers one behind the other; their modules are registered in an owner under the layers' names.
class ListedChain {
  public:
    /// `layers` are fitted; `prefix` of the paths is empty or ends with a dot.
    ListedChain(torch::nn::Module& owner, const std::vector<layers::ListedLayer>& layers, const std::string& prefix);
    ListedChain(const ListedChain&) = delete;
    ListedChain& operator=(const ListedChain&) = delete;

    torch::Tensor operator()(torch::Tensor value) const;
    /// Children before the layer that holds them.
    void collect(std::vector<Layer*>& all);

  private:
    std::vector<Layer> m_layers;
    std::vector<std::vector<Layer*>> m_inside;  // of each layer; they live in the registered modules
};

}  // namespace mantissa
