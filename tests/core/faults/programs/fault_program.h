#pragma once
// A labelled fault: a small training program that meets its fault after a few steps, and the cause that must be named for it. Built
// from plain ops, from layers, or from TorchScript; the Accelerator trains it.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/accelerator.h"

namespace mantissa {

struct FaultNet : torch::nn::Module {
    virtual torch::Tensor forward(const torch::Tensor& features) = 0;
    /// Before step n; a program may switch to evaluation here.
    virtual void before_step(std::int64_t /*step*/) {}

  protected:
    /// Parameters, buffers and children of a module under their own names.
    void adopt(const torch::nn::Module& module);
};

/// Plain torch calls on named weights.
class OpsNet : public FaultNet {
  public:
    using Function = std::function<torch::Tensor(const OpsNet& net, const torch::Tensor& features)>;
    OpsNet(std::vector<std::pair<std::string, torch::Tensor>> weights, Function function);
    torch::Tensor forward(const torch::Tensor& features) override { return m_function(*this, features); }
    [[nodiscard]] torch::Tensor operator[](const std::string& name) const { return named_parameters()[name]; }

  private:
    Function m_function;
};

/// A list of layers: torch's Sequential, or a model of the catalogue.
class LayerNet : public FaultNet {
  public:
    explicit LayerNet(torch::nn::Sequential layers);
    explicit LayerNet(const std::string& catalogue_id, std::int64_t features, std::int64_t classes);
    torch::Tensor forward(const torch::Tensor& features) override { return m_function(features); }
    void before_step(std::int64_t step) override;
    std::optional<std::int64_t> evaluates_from;  // step from which batch norms are frozen

  private:
    std::function<torch::Tensor(const torch::Tensor&)> m_function;
};

/// TorchScript, compiled from source text: one submodule "block" with a weight, and the top module's own method.
class ScriptNet : public FaultNet {
  public:
    /// `block` and `top` are the bodies of forward(self, x); the block's weight is self.weight, the top calls self.block.forward(x).
    ScriptNet(const torch::Tensor& weight, const std::string& block, const std::string& top);
    torch::Tensor forward(const torch::Tensor& features) override { return m_script->forward(features).toTensor(); }

  private:
    std::shared_ptr<ScriptModel> m_script;
};

struct FaultBatch {
    torch::Tensor features, labels;
    double loss_factor = 1;
};

struct FaultProgram {
    std::string label = {};  // the cause that must be named
    std::string name = {};
    std::string form = {};  // ops layers script
    Precision mode = Precision::No;
    std::function<std::shared_ptr<FaultNet>()> net = {};
    std::function<torch::Tensor(const torch::Tensor& output, const torch::Tensor& labels)> loss = {};
    std::function<FaultBatch(std::int64_t step)> batch = {};
    std::function<Optimizer(std::vector<torch::Tensor>, double rate)> optimizer = {};
    double rate = 0.01;
    double initial_scale = 1024;
    std::int64_t growth_interval = 2000;
    OnNonfinite rule = OnNonfinite::Skip;
    BatchNormOnSkip batch_norm = BatchNormOnSkip::Restore;
    bool looks_at_skips = false;               // the step to explain is the first that was skipped, whatever kind it is
    std::optional<std::int64_t> looks_at = {};  // the step to explain; unset: the first fault
    std::int64_t max_steps = 60;
    bool has_control = true;    // false: nobody ran `no`
    bool is_repeatable = true;  // false: each process draws its own numbers
    std::string place = {};     // where it is born; empty: not asked
};

/// "gate product, ops, fp16"
[[nodiscard]] std::string title(const FaultProgram& program);

// What most programs share: 16 samples of 8 features, two classes by the sign of their sum.
inline constexpr std::int64_t samples = 16, width = 8, fault_step = 5;
[[nodiscard]] FaultBatch ordinary_batch(std::int64_t step, std::int64_t features = width);
/// At `fault_step` changed by `spoil`, before and after ordinary.
[[nodiscard]] std::function<FaultBatch(std::int64_t)> spoilt(std::function<void(FaultBatch&)> spoil, std::int64_t features = width);
[[nodiscard]] torch::Tensor weights(std::int64_t in, std::int64_t out, double scale = 0.1);
[[nodiscard]] torch::Tensor cross_entropy(const torch::Tensor& output, const torch::Tensor& labels);
[[nodiscard]] torch::Tensor mean_of_output(const torch::Tensor& output, const torch::Tensor& labels);
[[nodiscard]] Optimizer plain_sgd(std::vector<torch::Tensor> parameters, double rate);

using FaultPrograms = std::vector<FaultProgram>;
/// The same program in several modes.
void add_in_modes(FaultPrograms& to, FaultProgram program, const std::vector<Precision>& modes);
[[nodiscard]] FaultPrograms range_programs();     // values that leave their format
[[nodiscard]] FaultPrograms formula_programs();   // bad in every precision
[[nodiscard]] FaultPrograms poisoned_programs();  // bad before the step began, the update, the rate
[[nodiscard]] FaultPrograms open_programs();      // what can't be decided
// Whole runs, told from the comparison.
[[nodiscard]] FaultPrograms survivors();    // label survived_by_skipping
[[nodiscard]] FaultPrograms underflowing();  // label gradient_underflow

}  // namespace mantissa
