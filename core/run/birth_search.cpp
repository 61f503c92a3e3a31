#include "run/birth_search.h"

#include "numerics/tensor_reading.h"
#include "run/forward_look.h"

namespace mantissa {
namespace {

/// The place of parameter `wanted` in the state of the optimizer: "0.3." for the third of the first group.
std::string state_prefix(const OptimizerCore& optimizer, const torch::Tensor& wanted) {
    for (std::size_t group = 0; group < optimizer.groups().size(); ++group) {
        const auto& parameters = optimizer.groups()[group].parameters;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (parameters[i].is_same(wanted)) return std::to_string(group) + "." + std::to_string(i) + ".";
        }
    }
    return "";
}

// Adam divides by the root of the mean square plus eps: nothing but eps keeps it from zero.
bool is_zero_by_zero(const OptimizerCore& optimizer, const torch::Tensor& parameter) {
    const std::string prefix = state_prefix(optimizer, parameter);
    const StateBundle state = optimizer.state();
    const torch::Tensor* square = state.tensor(prefix + "exp_avg_sq");
    if (prefix.empty() || square == nullptr) return false;
    return (at::logical_not(at::isfinite(parameter)) & square->eq(0)).any().item<bool>();
}

}  // namespace

std::optional<BirthReport> find_birth(RunParts& parts, const TrainingPlan& plan, const Batch& batch,
                                      const std::vector<std::string>& masks, const RandomNote& random) {
    Model& model = parts.bare_model();
    const LookAgain again(model, random);
    BirthFinder finder;
    finder.name_tensors_of(model, masks);
    finder.name(batch.features, "features", "data");
    if (batch.labels.defined()) finder.name(batch.labels, "labels", "data");
    torch::Tensor loss;
    {
        const AutocastScope autocast = parts.accelerator.autocast();
        const torch::Tensor output = to_fp32_output(model.forward(batch.features));
        finder.set_phase("loss");
        loss = parts.loss(output, batch.labels);
    }
    if (auto cause = finder.cause_of(loss)) return cause;
    const double share = plan.loss_factor / static_cast<double>(plan.gradient_accumulation_steps);
    const auto gradients =
        torch::autograd::grad({loss * share}, model.parameters(), {}, std::nullopt, false, /*allow_unused=*/true);
    for (const torch::Tensor& gradient : gradients) {
        if (auto cause = finder.cause_of(gradient)) return cause;
    }
    return finder.hidden_overflow();
}

std::optional<BirthReport> find_birth_in_update(RunParts& parts) {
    const torch::NoGradGuard no_grad;
    for (const auto& entry : parts.bare_model().named_parameters()) {
        const TensorReading reading = read_tensor(entry.value());
        if (level_of(reading) == Level::Finite) continue;
        const OptimizerCore& optimizer = parts.optimizer.core();
        BirthReport birth;
        birth.tensor = entry.key();
        birth.code = is_zero_by_zero(optimizer, entry.value()) ? "adam_eps" : "weights_poisoned";
        birth.producer.phase = "update";
        birth.producer.module = entry.key().substr(0, entry.key().rfind('.') == std::string::npos ? 0 : entry.key().rfind('.'));
        birth.producer.op = birth.producer.kernel = optimizer.name();
        birth.producer.result = reading;
        birth.producer.result.name = entry.key();
        birth.producer.is_birth = true;
        return birth;
    }
    return std::nullopt;
}

std::vector<std::string> bad_buffers(const Model& model) {
    std::vector<std::string> names;
    for (const auto& entry : model.named_buffers()) {
        if (level_of(read_tensor(entry.value())) != Level::Finite) names.push_back(entry.key());
    }
    return names;
}

}  // namespace mantissa
