#pragma once
// `gated` (design §9): h = 300·Linear(x); g = Linear(h) · relu(Linear(h)); head(LayerNorm(Linear(g) + h)).
// The product of the gate grows while training until fp16 can't hold it.
#include "models/model.h"

namespace mantissa {

class GatedModel : public Model {
  public:
    GatedModel(std::int64_t features, std::int64_t classes);
    torch::Tensor forward(const torch::Tensor& input) override;
    [[nodiscard]] std::vector<Layer*> layers() override;

  private:
    // Holds the weights of the gate, so that they are named gate.value, gate.opening and gate.down.
    struct Gate : torch::nn::Module {
        Gate();
        std::vector<Layer> parts;  // value, opening, down
        torch::Tensor forward(const torch::Tensor& hidden);
    };

    std::vector<Layer> m_layers;  // inlet, gate, norm, head
    std::shared_ptr<Gate> m_gate;
};

}  // namespace mantissa
