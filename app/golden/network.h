#pragma once
// The layer list of a trace as a module with the keys of Python's Sequential ("0.weight"), each layer in the operation that
// Python's module calls (torch::nn::Linear, for one, calls another).
#include <nlohmann/json_fwd.hpp>
#include <functional>
#include <vector>

#include "torch_pch.h"

namespace mantissa::golden {

class Network : public torch::nn::Module {
  public:
    /// Throws EngineError that names the layer and what is wrong with it. Weights are zero: load a state.
    explicit Network(const nlohmann::json& layers);
    torch::Tensor forward(torch::Tensor input);

  private:
    std::vector<std::function<torch::Tensor(const torch::Tensor&)>> m_functions;
};

}  // namespace mantissa::golden
