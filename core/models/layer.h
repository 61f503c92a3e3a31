#pragma once
// A named step of a model: a path ("gate.down") and a function. It opens the ModuleScope, tells the watcher
// its output, and runs in fp32 outside autocast where the plan makes it an island.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/module_scope.h"

namespace mantissa {

class Layer {
  public:
    using Function = std::function<torch::Tensor(const torch::Tensor&)>;

    Layer(std::string path, Function function) : m_path(std::move(path)), m_function(std::move(function)) {}

    torch::Tensor operator()(const torch::Tensor& input) const;

    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] bool is_island() const { return m_is_island; }
    void make_island(bool island) { m_is_island = island; }

  private:
    std::string m_path;
    Function m_function;
    bool m_is_island = false;
};

/// What a layer is made of, in the words of the layer lists: kind and its whole numbers.
///   linear in out | conv2d in out kernel padding | relu | tanh | gelu | square | times factor | max_pool2d size |
///   batch_norm2d channels | layer_norm size | flatten | unflatten sizes…
struct LayerSpec {
    std::string name;
    std::string kind;
    std::vector<std::int64_t> arguments;
};

/// Makes the layer and registers its weights in `owner` under `spec.name`. The initial weights are drawn
/// here, in the order of the calls, which is what makes them Python's for the same seed. Throws
/// std::invalid_argument with a sentence.
[[nodiscard]] Layer make_layer(torch::nn::Module& owner, const std::string& path_prefix,
                               const LayerSpec& spec);

/// Runs one named operation of a composite module and tells the watcher ("gate" + "mul").
[[nodiscard]] torch::Tensor watched_product(const torch::Tensor& left, const torch::Tensor& right);

}  // namespace mantissa
