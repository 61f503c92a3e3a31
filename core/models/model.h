#pragma once
// Models of the catalogue. A model is a torch module (names of weights as in a state dict) with named layers.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "models/layer.h"

namespace mantissa {

class Model : public torch::nn::Module {
  public:
    explicit Model(std::string name) : torch::nn::Module(std::move(name)) {}

    virtual torch::Tensor forward(const torch::Tensor& input) = 0;
    /// Every named layer, in the order of computation, children before the module that holds them.
    [[nodiscard]] virtual std::vector<Layer*> layers() = 0;

    [[nodiscard]] virtual std::vector<std::string> paths();
    /// Its modules are TorchScript's: the engine finds them by name as they compute, islands as well.
    [[nodiscard]] virtual bool is_script() const { return false; }
    /// What will surprise somebody who trains it here, a sentence each.
    [[nodiscard]] virtual std::vector<std::string> findings() { return {}; }
    /// The named layers run in fp32 outside autocast. An unknown path is an error that lists the known ones.
    Result<void> set_fp32_islands(const std::vector<std::string>& paths);
    /// Samples are rows of features; a model that wants them in the shape that the data has gets it here: {1, 28, 28}.
    void set_sample_shape(std::vector<std::int64_t> shape) { m_sample_shape = std::move(shape); }

  protected:
    /// The batch in the shape of its samples; as it is where none was set.
    [[nodiscard]] torch::Tensor shaped(const torch::Tensor& batch) const;

  private:
    std::vector<std::int64_t> m_sample_shape;
};

/// A chain of layers; names count from 0 as in a Sequential where a spec has none.
class LayerList : public Model {
  public:
    LayerList(std::string name, std::vector<LayerSpec> specs);
    torch::Tensor forward(const torch::Tensor& input) override;
    [[nodiscard]] std::vector<Layer*> layers() override;

  private:
    std::vector<Layer> m_layers;
};

}  // namespace mantissa
