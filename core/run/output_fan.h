#pragma once
// Hands the outputs of a forward pass to several watchers.
#include <vector>

#include "models/module_scope.h"

namespace mantissa {

class OutputFan : public OutputWatch {
  public:
    explicit OutputFan(std::vector<OutputWatch*> watchers) : m_watchers(std::move(watchers)) {}
    void output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>& operands,
                const torch::Tensor& result) override {
        for (OutputWatch* watcher : m_watchers) watcher->output(module, op, operands, result);
    }

  private:
    std::vector<OutputWatch*> m_watchers;
};

}  // namespace mantissa
