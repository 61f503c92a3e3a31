// Attempts whose figures stay on the device while training goes on (AcceleratorOptions::host_looks).
#include "engine/accelerator_core.h"
#include "engine/misuse.h"

namespace mantissa {
namespace {

[[noreturn]] void refuse_late_look(const std::string& reason, const std::string& way_out) {
    throw EngineError({ErrorCode::BadPlan, "the host can't look later at what a step found: " + reason, way_out});
}

}  // namespace

void AcceleratorCore::refuse_to_look_later() const {
    if (scaler) refuse_late_look("a loss scale is changed by what it found", "leave host_looks as it is in fp16");
    if (options.processes && options.processes->size() > 1) refuse_late_look("the processes decide together", "leave host_looks as it is");
    if (options.on_nonfinite != OnNonfinite::Stop && options.on_nonfinite != OnNonfinite::Mark)
        refuse_late_look("on_nonfinite pause and skip go on from a bad step with the next one", "use stop or mark, or leave host_looks as it is");
    if (!options.log_with.empty()) refuse_late_look("trackers are told every step when it is done", "leave host_looks as it is");
}

void AcceleratorCore::step_later(PreparedOptimizerState& optimizer) {
    if (prepared.optimizers().size() != 1 || !optimizer.core->is_fused())
        refuse_late_look("only the fused kernels of one optimizer can be held back on the device", "use implementation fused, or leave host_looks as it is");
    std::vector<torch::Tensor> parameters;
    for (const auto& group : optimizer.core->groups()) {
        for (const auto& parameter : group.parameters) {
            if (parameter.scalar_type() != at::kFloat) misuse::refuse_half_weight(parameter, prepared.name_of(parameter));
            if (parameter.grad().defined()) parameters.push_back(parameter);
        }
    }
    const torch::NoGradGuard no_grad;
    const std::vector<torch::Tensor> gradients = optimizer.core->gradients();
    if (const double weight = short_window_weight(); weight != 1.0) at::_foreach_mul_(gradients, weight);
    facts = StepFacts{};
    facts.step = window.attempts;
    facts.learning_rate = optimizer.core->groups().at(0).learning_rate;
    facts.is_pending = true;
    const torch::Tensor mask = deferred->look(facts, window.losses, gradients, std::move(parameters));
    optimizer.core->mask = mask;
    optimizer.core->update();
    for (const auto& model : prepared.models()) {
        for (std::size_t i = 0; mask.defined() && model->is_saved && i < model->buffers.size(); ++i)
            model->buffers[i].copy_(at::where(mask.ne(0), model->saved[i], model->buffers[i]));
        model->is_saved = false;
    }
    optimizer.skipped = false;  // as far as is known
    optimizer.holds_used_gradients = true;
    m_facts_open = window.is_attempt_open = false;
    window.losses.clear();
    ++window.attempts;
    ++window.applied;
}

std::vector<SettledStep> AcceleratorCore::settle(bool all) {
    std::vector<SettledStep> settled;
    if (!deferred) return settled;
    for (auto& one : deferred->take(all)) {
        if (one.facts.skipped) --window.applied;
        SettledStep step{one.facts, {}};
        if (one.is_first_bad && options.on_nonfinite == OnNonfinite::Stop)
            step.refusal = refusal_of(one.facts, one.bad_parameter.defined() ? prepared.name_of(one.bad_parameter) : "");
        settled.push_back(std::move(step));
    }
    // The host counted the masked updates as they were queued.
    if (!settled.empty() && settled.back().facts.skipped)
        for (const auto& optimizer : prepared.optimizers()) optimizer->core->recount();
    return settled;
}

}  // namespace mantissa
