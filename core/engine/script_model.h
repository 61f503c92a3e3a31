#pragma once
// A TorchScript module as a torch::nn::Module, so that everything that prepares, saves and counts models takes it too: parameters,
// buffers and submodules under their own names, on the same memory. Its forward runs in the plain interpreter: the optimizing
// executor gives other numbers under autocast than eager mode does (design §9), and hides modules from islands.
#include <utility>
#include <vector>

#include "engine/script_paths.h"
#include "torch_pch.h"

namespace mantissa {

/// Registers parameters, buffers and submodules of the script in `module`, under their own names; the tensors are the same objects.
void mirror_script(torch::nn::Module& module, const torch::jit::Module& script);

class ScriptModel : public torch::nn::Module {
  public:
    /// BadPlan for a module that was moved away.
    explicit ScriptModel(torch::jit::Module&& script);

    /// Arguments as TorchScript takes them: tensors, numbers, lists of them.
    template <typename... Arguments>
    c10::IValue forward(Arguments&&... arguments) {
        std::vector<c10::IValue> inputs;
        (inputs.emplace_back(std::forward<Arguments>(arguments)), ...);
        return run(std::move(inputs));
    }

    void train(bool on = true) override;
    [[nodiscard]] torch::jit::Module& script() { return m_script; }

  private:
    [[nodiscard]] c10::IValue run(std::vector<c10::IValue> inputs);

    torch::jit::Module m_script;
    ScriptPaths m_paths;
};

}  // namespace mantissa
