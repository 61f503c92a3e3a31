#pragma once
// SGD, Adam and AdamW. `Exact` repeats torch.optim of Python (2.11, single-tensor path) operation by operation, so that the bits
// are the same; `Fused` calls at::_fused_*_. The state lies on the heap: a handle moves freely and schedulers stay bound to it.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/state_places.h"
#include "plan/run_plan.h"

namespace mantissa {

struct ParameterGroup {
    std::vector<torch::Tensor> parameters;
    double learning_rate = 1e-3;
    double initial_learning_rate = 1e-3;  // before any scheduler
    double momentum = 0;                  // SGD's momentum, Adam's beta1: what OneCycleLR cycles
    double weight_decay = 0;
};

/// Parameters with options of their own: sgd({SgdGroup{…}, SgdGroup{…}}). Schedulers act on every group from its own first rate.
template <typename Options>
struct GroupWith {
    std::vector<torch::Tensor> parameters;
    Options options = {};
};

class OptimizerCore : public Stateful {
  public:
    /// One update from the gradients that are there; parameters without one are left out, as in Python.
    virtual void update() = 0;
    [[nodiscard]] virtual const char* name() const = 0;
    [[nodiscard]] virtual bool is_fused() const = 0;
    [[nodiscard]] virtual std::int64_t state_bytes() const = 0;

    /// Of a fused rule: a number on its device; where it is 1, update() leaves all as it is. Undefined: none.
    torch::Tensor mask;
    /// Counts of updates that the host keeps, taken anew from the device after masked ones.
    virtual void recount() {}

    [[nodiscard]] std::vector<ParameterGroup>& groups() { return m_groups; }
    [[nodiscard]] const std::vector<ParameterGroup>& groups() const { return m_groups; }
    void add_group(ParameterGroup group);
    void zero_grad();
    /// Gradients of all parameters that have one.
    [[nodiscard]] std::vector<torch::Tensor> gradients() const;

    /// Groups' hyper-parameters, options, and what the rule keeps for each parameter ("0.3.exp_avg": group 0, parameter 3). The
    /// tensors are the live ones. As in Python, loading takes up the saved hyper-parameters and options, too.
    [[nodiscard]] StateBundle state() const override;
    void load_state(const StateBundle& bundle) override;
    /// What load_state() checks first: throws EngineError that names what differs.
    void refuse_misfit(const StateBundle& bundle) const;

  protected:
    /// Something that the rule keeps for one parameter: a tensor of its shape, or a number.
    struct Kept {
        const char* name;
        std::variant<torch::Tensor*, double*, float*> place;
    };
    /// A group's options beyond those of ParameterGroup, and what the rule keeps; both lists are the same at every call.
    [[nodiscard]] virtual std::vector<FactPlace> options([[maybe_unused]] std::size_t group) { return {}; }
    [[nodiscard]] virtual std::vector<Kept> kept([[maybe_unused]] std::size_t group, [[maybe_unused]] std::size_t index) {
        return {};
    }

    std::vector<ParameterGroup> m_groups;
};

/// Raw optimizer, to be moved into prepare(). A moved-from handle refuses with a sentence.
class Optimizer {
  public:
    explicit Optimizer(std::shared_ptr<OptimizerCore> core) : m_core(std::move(core)) {}
    Optimizer(Optimizer&&) = default;
    Optimizer& operator=(Optimizer&&) = default;

    [[nodiscard]] const std::shared_ptr<OptimizerCore>& core() const;
    [[nodiscard]] double learning_rate() const { return core()->groups().at(0).learning_rate; }

  private:
    std::shared_ptr<OptimizerCore> m_core;
};

struct SgdOptions {
    double learning_rate = 1e-3;
    double momentum = 0, dampening = 0, weight_decay = 0;
    bool nesterov = false, maximize = false;
    OptimizerImplementation implementation = OptimizerImplementation::Exact;
};

struct AdamOptions {
    double learning_rate = 1e-3;
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    double weight_decay = 0;
    bool amsgrad = false, maximize = false;
    OptimizerImplementation implementation = OptimizerImplementation::Exact;
};

using SgdGroup = GroupWith<SgdOptions>;
using AdamGroup = GroupWith<AdamOptions>;

/// Options are validated here; a bad value is an EngineError that names it.
[[nodiscard]] Optimizer sgd(std::vector<torch::Tensor> parameters, const SgdOptions& options = {});
[[nodiscard]] Optimizer adam(std::vector<torch::Tensor> parameters, const AdamOptions& options = {});
/// Decoupled weight decay; Python's default for it is 0.01.
[[nodiscard]] Optimizer adamw(std::vector<torch::Tensor> parameters,
                              const AdamOptions& options = {.weight_decay = 0.01});

/// Groups with options of their own, as in Python; the implementation is one for all. An error names the group.
[[nodiscard]] Optimizer sgd(std::vector<SgdGroup> groups);
[[nodiscard]] Optimizer adam(std::vector<AdamGroup> groups);
[[nodiscard]] Optimizer adamw(std::vector<AdamGroup> groups);

/// From a plan ("sgd" "adam" "adamw"); an unset weight decay is the optimizer's own default. `undecayed` become a second group
/// without weight decay (engine/parameter_groups.h); empty: one group.
[[nodiscard]] Optimizer make_optimizer(const OptimizerPlan& plan, std::vector<torch::Tensor> parameters,
                                       std::vector<torch::Tensor> undecayed = {});

}  // namespace mantissa
