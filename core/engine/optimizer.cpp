#include "engine/optimizer.h"

#include <unordered_map>

#include "base/numbers.h"
#include "engine/engine_error.h"
#include "engine/optimizer_parts.h"

namespace mantissa {
namespace {

// The second group has no weight decay; with nothing to spare there is one.
template <typename Options>
std::vector<GroupWith<Options>> two_groups(std::vector<torch::Tensor> parameters, std::vector<torch::Tensor> undecayed,
                                           const Options& options) {
    std::vector<GroupWith<Options>> groups;
    if (!parameters.empty() || undecayed.empty()) {
        groups.push_back({std::move(parameters), options});
    }
    if (!undecayed.empty()) {
        groups.push_back({std::move(undecayed), options});
        groups.back().options.weight_decay = 0;
    }
    return groups;
}

}  // namespace

void require(bool holds, const std::string& optimizer, const char* field, double value, const char* allowed) {
    if (!holds) {
        throw EngineError({ErrorCode::BadPlan, optimizer + ": " + field + " is " + to_text(value), allowed});
    }
}

void take_each_once(const char* optimizer, const std::vector<std::vector<torch::Tensor>*>& groups) {
    std::unordered_map<const c10::TensorImpl*, std::size_t> group_of;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::vector<torch::Tensor> kept;
        for (torch::Tensor& parameter : *groups[i]) {
            const auto [found, is_new] = group_of.emplace(parameter.unsafeGetTensorImpl(), i);
            if (is_new) {
                kept.push_back(std::move(parameter));
            } else if (found->second != i) {
                throw EngineError({ErrorCode::BadPlan,
                                   std::string(optimizer) + ": a parameter is in group " + std::to_string(found->second) +
                                       " and in group " + std::to_string(i) + ", and would be updated twice",
                                   "put every parameter into one group"});
            }
        }
        *groups[i] = std::move(kept);
    }
}

void refuse_two_implementations(const char* optimizer, std::size_t group) {
    throw EngineError({ErrorCode::BadPlan,
                       std::string(optimizer) + ": group " + std::to_string(group) + " has another implementation than group 0",
                       "make all groups exact, or all fused"});
}

void refuse_no_groups(const char* optimizer) {
    throw EngineError({ErrorCode::BadPlan, std::string(optimizer) + " got no groups", "give it at least one"});
}

void OptimizerCore::add_group(ParameterGroup group) {
    if (group.parameters.empty()) {
        throw EngineError({ErrorCode::BadPlan, "an optimizer got no parameters", "give it the model's parameters()"});
    }
    group.initial_learning_rate = group.learning_rate;
    m_groups.push_back(std::move(group));
}

void OptimizerCore::zero_grad() {
    for (auto& group : m_groups) {
        for (auto& parameter : group.parameters) {
            parameter.mutable_grad().reset();
        }
    }
}

std::vector<torch::Tensor> OptimizerCore::gradients() const {
    std::vector<torch::Tensor> found;
    for (const auto& group : m_groups) {
        for (const auto& parameter : group.parameters) {
            if (parameter.grad().defined()) {
                found.push_back(parameter.grad());
            }
        }
    }
    return found;
}

const std::shared_ptr<OptimizerCore>& Optimizer::core() const {
    if (!m_core) {
        throw EngineError({ErrorCode::BadPlan, "this optimizer was moved into prepare()",
                           "go on with the one that prepare() returned"});
    }
    return m_core;
}

Optimizer make_optimizer(const OptimizerPlan& plan, std::vector<torch::Tensor> parameters,
                         std::vector<torch::Tensor> undecayed) {
    if (plan.name == "sgd") {
        const SgdOptions options{.learning_rate = plan.learning_rate, .momentum = plan.momentum, .dampening = plan.dampening,
                                 .weight_decay = plan.weight_decay.value_or(0), .nesterov = plan.nesterov,
                                 .maximize = plan.maximize, .implementation = plan.implementation};
        return sgd(two_groups(std::move(parameters), std::move(undecayed), options));
    }
    const bool is_decoupled = plan.name == "adamw";
    if (!is_decoupled && plan.name != "adam") {
        throw EngineError({ErrorCode::BadPlan, "training.optimizer.name is '" + plan.name + "'", "use sgd, adam or adamw"});
    }
    const AdamOptions options{.learning_rate = plan.learning_rate, .beta1 = plan.beta1, .beta2 = plan.beta2, .eps = plan.eps,
                              .weight_decay = plan.weight_decay.value_or(is_decoupled ? 0.01 : 0.0), .amsgrad = plan.amsgrad,
                              .maximize = plan.maximize, .implementation = plan.implementation};
    auto groups = two_groups(std::move(parameters), std::move(undecayed), options);
    return is_decoupled ? adamw(std::move(groups)) : adam(std::move(groups));
}

}  // namespace mantissa
