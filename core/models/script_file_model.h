#pragma once
// A model that somebody made with torch.jit.script or torch.jit.trace and saved: it trains here with its own weights, its forward and
// backward are eager PyTorch's to the bit (engine/script_model.h).
#include "engine/script_model.h"
#include "models/model.h"

namespace mantissa {

class ScriptFileModel : public Model {
  public:
    /// `output`: the part that counts of several, by key or place; empty: it returns one tensor.
    ScriptFileModel(std::string name, torch::jit::Module&& script, std::string output);

    /// BadPlan where the module gives something else than one tensor, or has no such part.
    torch::Tensor forward(const torch::Tensor& input) override;
    [[nodiscard]] std::vector<Layer*> layers() override { return {}; }
    [[nodiscard]] std::vector<std::string> paths() override;
    [[nodiscard]] bool is_script() const override { return true; }
    [[nodiscard]] std::vector<std::string> findings() override;
    void train(bool on = true) override;

  private:
    [[nodiscard]] c10::IValue run(const torch::Tensor& input);
    [[nodiscard]] c10::IValue part_of(const c10::IValue& output) const;

    ScriptModel m_script;
    std::string m_output;
};

/// Such a file is a program. From here on this process gains no rights by starting others, and its memory is bounded by the machine's: call
/// it in a process of its own. InputOutput for what isn't a TorchScript file, BadPlan for a module that can't be trained here.
Result<std::shared_ptr<Model>> load_script_model(const std::string& file, const std::string& output = "");

}  // namespace mantissa
