// An attempt of the optimizers: facts, unscaling, the rule for non-finite values, one update of the scale.
#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "base/numbers.h"
#include "engine/accelerator_core.h"
#include "engine/gradients.h"
#include "engine/misuse.h"
#include "engine/tracker_set.h"

namespace mantissa {
namespace {

using Stage = PreparedOptimizerState::Stage;

void multiply(const std::vector<torch::Tensor>& gradients, double factor) {
    const torch::NoGradGuard no_grad;
    if (!gradients.empty()) {
        at::_foreach_mul_(gradients, factor);
    }
}

}  // namespace

void AcceleratorCore::open_facts() {
    if (m_facts_open) {
        return;
    }
    m_facts_open = true;
    facts = StepFacts{};
    facts.step = window.attempts;
    if (!reads_once()) {
        std::vector<double> losses;
        for (const auto& loss : window.losses) losses.push_back(loss.item<double>());
        facts.take_losses(std::move(losses));
    }
    if (!prepared.optimizers().empty()) {
        facts.learning_rate = prepared.optimizers().front()->core->groups().at(0).learning_rate;
    }
    if (scaler) {
        facts.loss_scale = scaler->schedule().scale();
    }
}

double AcceleratorCore::short_window_weight() const {
    const bool is_short = options.short_window == ShortWindow::RightSized && options.sync_with_dataloader &&
                          (active_loaders->end_of_data() || loaded_at_end_of_data) && window.size > 0 && window.size < accumulation_steps;
    return is_short ? static_cast<double>(accumulation_steps) / static_cast<double>(window.size) : 1.0;
}

void AcceleratorCore::end_window(PreparedOptimizerState& optimizer, bool is_step) {
    if (optimizer.stage != Stage::Ready) {
        return;
    }
    if (deferred) {
        throw EngineError({ErrorCode::BadPlan, "gradients can't be clipped or unscaled while what a step found stays on the device",
                           "leave AcceleratorOptions::host_looks as it is"});
    }
    for (const auto& group : optimizer.core->groups()) {
        for (const auto& parameter : group.parameters) {
            if (parameter.scalar_type() != at::kFloat) misuse::refuse_half_weight(parameter, prepared.name_of(parameter));
        }
    }
    open_facts();
    std::vector<torch::Tensor> gradients = optimizer.core->gradients(), shared;
    if (scaler && (!window.is_attempt_open || gradients.empty())) {
        throw EngineError({ErrorCode::BadPlan,
                           std::string("no scaled gradient reached the optimizer ") + optimizer.core->name(),
                           "call Accelerator::backward before clip or step, on a loss of its parameters"});
    }
    // A parameter of two optimizers is unscaled and measured once.
    if (prepared.optimizers().size() > 1 && !is_upstream()) {
        const auto first_shared = std::stable_partition(gradients.begin(), gradients.end(), [this](const auto& one) {
            return m_unscaled.insert(one.unsafeGetTensorImpl()).second;
        });
        shared.assign(first_shared, gradients.end());
        gradients.erase(first_shared, gradients.end());
    }
    torch::Tensor found_inf;
    if (scaler && reads_once() && !(is_step && is_upstream() && optimizer.core->is_fused())) {
        if (!gradients.empty()) found_inf = scaler->unscale_unread(gradients);
    } else if (scaler && !gradients.empty()) {
        // Upstream's fused kernels unscale inside their step, and divide where the scaler multiplies.
        const bool divides = is_step && is_upstream() && optimizer.core->is_fused();
        optimizer.found_inf = divides ? scaler->unscale_by_division(gradients) : scaler->unscale(gradients);
    }
    if (const double weight = short_window_weight(); weight != 1.0) {
        multiply(gradients, weight);
    }
    if (reads_once()) {
        read_findings(optimizer, gradients, found_inf);
    } else {
        optimizer.sum_of_squares = sum_of_squares(gradients);
    }
    const bool is_finite = std::isfinite(optimizer.sum_of_squares);
    if (!is_finite) {
        facts.nonfinite_grads += count_nonfinite(gradients);
    }
    if (!is_finite || !std::isfinite(sum_of_squares(shared))) {
        // The scaler looks before it divides; a finite scaled gradient can leave fp32 in the division itself.
        optimizer.found_inf = optimizer.found_inf || (scaler && options.compat == Compat::None);
    }
    if (options.processes) agree_with_others(optimizer);
    optimizer.stage = Stage::Unscaled;
}

void AcceleratorCore::read_findings(PreparedOptimizerState& optimizer, const std::vector<torch::Tensor>& gradients,
                                    const torch::Tensor& found_inf) {
    const std::vector<torch::Tensor> unread = facts.losses.empty() ? window.losses : std::vector<torch::Tensor>{};
    const Findings found = unpacked_findings(packed_findings(unread, gradients, found_inf).cpu(), unread.size());
    facts.take_losses(found.losses);
    optimizer.found_inf = optimizer.found_inf || found.overflow;
    optimizer.sum_of_squares = found.sum_of_squares();
}

void AcceleratorCore::end_window_of_all(const char* what) {
    misuse::refuse_inside_autocast(device.type(), what);
    // Without a scaler and without a backward nothing begins or ends here: what is clipped are gradients of the program's own.
    if (!sync_gradients || (!scaler && !window.is_attempt_open)) {
        return;
    }
    for (const auto& optimizer : prepared.optimizers()) {
        if (optimizer->holds_used_gradients && !window.is_attempt_open) {
            throw EngineError({ErrorCode::BadPlan, std::string(what) + " was called after the step: its gradients have been used",
                               "the order is backward, clip, step, zero_grad"});
        }
        if (takes_part(*optimizer)) {
            end_window(*optimizer);
        }
    }
}

void AcceleratorCore::refuse_scaled(const std::vector<torch::Tensor>& parameters) const {
    if (!scaler) {
        return;
    }
    std::unordered_set<const c10::TensorImpl*> unscaled;
    for (const auto& optimizer : prepared.optimizers()) {
        if (optimizer->stage == Stage::Ready) continue;
        for (const auto& group : optimizer->core->groups()) {
            for (const auto& parameter : group.parameters) unscaled.insert(parameter.unsafeGetTensorImpl());
        }
    }
    for (const auto& parameter : parameters) {
        if (parameter.grad().defined() && !unscaled.contains(parameter.unsafeGetTensorImpl())) {
            throw EngineError({ErrorCode::BadPlan,
                               "the gradient of " + prepared.name_of(parameter) +
                                   " is still multiplied by the loss scale: it belongs to no prepared optimizer",
                               "give its optimizer to prepare() before clipping"});
        }
    }
}

bool AcceleratorCore::takes_part(const PreparedOptimizerState& optimizer) const {
    return !optimizer.holds_used_gradients && !optimizer.core->gradients().empty();
}

bool AcceleratorCore::is_bad(const PreparedOptimizerState& optimizer) const {
    return facts.nonfinite_loss || (!scaler && !std::isfinite(optimizer.sum_of_squares)) ||
           (optimizer.found_inf && scaler->schedule().would_collapse_on_overflow());
}

void AcceleratorCore::step(PreparedOptimizerState& optimizer) {
    misuse::refuse_inside_autocast(device.type(), "the optimizer's step");
    if (!sync_gradients) {
        return;
    }
    const bool has_stepped = optimizer.stage == Stage::Stepped || (optimizer.holds_used_gradients && !window.is_attempt_open);
    if (scaler && has_stepped) {
        throw EngineError({ErrorCode::BadPlan, "the optimizer was stepped twice for one backward",
                           "call backward between two steps"});
    }
    // Nothing reached it in this iteration; the others go on. One optimizer alone is told (end_window).
    const bool is_one_of_several = prepared.optimizers().size() > 1 && (window.attempts > 0 || window.is_attempt_open);
    const bool may_sit_out = is_one_of_several || (!scaler && !window.is_attempt_open);
    if (may_sit_out && optimizer.core->gradients().empty()) {
        optimizer.skipped = false;
        return;
    }
    if (islands) {
        islands->refuse_unmatched();
    }
    if (fp8) {
        fp8->end_first_step();
    }
    if (deferred) return step_later(optimizer);
    end_window(optimizer, true);
    const bool is_refused = options.on_nonfinite != OnNonfinite::Mark && is_bad(optimizer);
    optimizer.skipped = optimizer.found_inf || is_refused;
    const std::string bad_parameter = is_refused ? first_nonfinite_parameter(optimizer) : "";
    if (!optimizer.skipped) {
        const torch::NoGradGuard no_grad;
        optimizer.core->update();
    } else if (is_upstream() && optimizer.core->is_fused()) {
        optimizer.skipped = false;  // D4: upstream's fused kernel skips inside, and nobody is told
    }
    optimizer.stage = Stage::Stepped;
    const bool stops = is_refused && options.on_nonfinite != OnNonfinite::Skip;
    const auto& all = prepared.optimizers();
    const bool is_last = all.size() == 1 || std::none_of(all.begin(), all.end(), [this](const auto& one) {
        return one->stage != Stage::Stepped && takes_part(*one);
    });
    if (stops || is_last) {
        finish_attempt();
    }
    if (stops) {
        throw refusal_of(facts, bad_parameter);
    }
}

void AcceleratorCore::zero_grad(PreparedOptimizerState& optimizer) {
    if (is_upstream()) {
        if (sync_gradients) optimizer.core->zero_grad();
        return;
    }
    // Used gradients go at any time. Those of a window's earlier micro-batches stay when zero_grad stands before this one's
    // backward: upstream loses them there.
    const bool loses_window = window.size > 1 && !window.has_backward && !window.losses.empty();
    if (!optimizer.holds_used_gradients && (!sync_gradients || loses_window)) {
        return;
    }
    take_back(optimizer);
    optimizer.core->zero_grad();
    optimizer.holds_used_gradients = false;
    const auto& all = prepared.optimizers();
    const bool is_pending = std::any_of(all.begin(), all.end(), [this](const auto& one) {
        return one->stage == Stage::Unscaled || (one->stage == Stage::Ready && takes_part(*one));
    });
    if (window.is_attempt_open && !is_pending && !finish_if_stepped()) {
        abandon_attempt();
    }
}

void AcceleratorCore::take_back(PreparedOptimizerState& optimizer) {
    if (optimizer.stage != Stage::Unscaled) {
        return;
    }
    for (const auto& gradient : optimizer.core->gradients()) m_unscaled.erase(gradient.unsafeGetTensorImpl());
    optimizer.stage = Stage::Ready;
    optimizer.found_inf = false;
    m_facts_open = false;
}

void AcceleratorCore::abandon_attempt() {
    window.losses.clear();
    m_facts_open = window.is_attempt_open = false;
    for (const auto& model : prepared.models()) model->is_saved = false;
}

bool AcceleratorCore::finish_if_stepped() {
    const auto& all = prepared.optimizers();
    if (std::none_of(all.begin(), all.end(), [](const auto& one) { return one->stage == Stage::Stepped; })) {
        return false;
    }
    finish_attempt();  // not every optimizer takes part in every iteration
    return true;
}

void AcceleratorCore::finish_attempt() {
    double sum = 0;
    bool found = false, skipped = false;
    for (const auto& optimizer : prepared.optimizers()) {
        if (optimizer->stage == Stage::Ready) {
            continue;
        }
        sum += optimizer->sum_of_squares;
        found = found || optimizer->found_inf;
        skipped = skipped || optimizer->skipped;
        optimizer->holds_used_gradients = true;
    }
    facts.grad_norm = std::sqrt(sum);
    facts.found_inf = found;
    facts.skipped = skipped;
    if (scaler) {
        record_scale(found);
    }
    for (const auto& optimizer : prepared.optimizers()) {
        optimizer->stage = Stage::Ready;
        optimizer->found_inf = false;
    }
    for (const auto& model : prepared.models()) {
        if (skipped && model->is_saved) {
            const torch::NoGradGuard no_grad;
            at::_foreach_copy_(model->buffers, model->saved);
        }
        model->is_saved = false;
    }
    m_unscaled.clear();
    m_facts_open = window.is_attempt_open = false;
    window.losses.clear();
    ++window.attempts;
    window.applied += skipped ? 0 : 1;
    if (trackers) trackers->attempt(facts, window.applied);
}

void AcceleratorCore::record_scale(bool found_inf) {
    const double before = scaler->schedule().scale();
    scaler->record(found_inf ? GradientFinding::Overflow : GradientFinding::Finite);
    const LossScaleSchedule& schedule = scaler->schedule();
    facts.scale_collapsed = schedule.is_collapsed();
    facts.growth_tracker = schedule.growth_tracker();
    facts.loss_scale_after = schedule.scale();
    facts.backoffs_left = schedule.backoffs_left();
    facts.scale_alarm = schedule.is_alarming();
    if (facts.scale_alarm) {
        log::warning("the loss scale has fallen to " + readable_scale(schedule.scale()) + " at step " +
                     std::to_string(facts.step) + " (floor " + readable_scale(options.loss_scale.floor) + ", " +
                     std::to_string(*facts.backoffs_left) +
                     " more overflows fit above it): a scale below 1 only takes away, so look for the first non-finite tensor, or try bf16");
    }
    if (schedule.scale() != before && prepared.optimizers().size() > 1 && !is_upstream()) {
        follow_scale(before, schedule.scale());
    }
}

void AcceleratorCore::follow_scale(double before, double after) {
    for (const auto& optimizer : prepared.optimizers()) {
        if (optimizer->stage != Stage::Ready || optimizer->holds_used_gradients) {
            continue;
        }
        std::vector<torch::Tensor> gradients = optimizer->core->gradients();
        std::erase_if(gradients, [this](const auto& one) { return m_unscaled.contains(one.unsafeGetTensorImpl()); });
        multiply(gradients, after / before);
    }
}

NonFinite AcceleratorCore::refusal_of(const StepFacts& bad, const std::string& bad_parameter) const {
    const std::string at = " at step " + std::to_string(bad.step);
    if (bad.nonfinite_loss) {
        return NonFinite(NonFinite::Where::Loss, bad.step, "loss",
                        {ErrorCode::NonFinite, "the loss " + (std::isfinite(bad.loss) ? std::string("of another process is not finite") : "is " + readable_number(bad.loss)) + at + "; no weight was moved",
                         "look at the batch, the learning rate and, in fp16, the range of the activations"});
    }
    if (bad.found_inf) {
        return NonFinite(NonFinite::Where::LossScale, bad.step, "loss scale",
                        {ErrorCode::NonFinite,
                         "gradients still overflow" + at + " with the loss scale at its floor, " +
                             readable_scale(scaler->schedule().scale()) + "; no weight was moved",
                         "this model doesn't live in the range of fp16: try bf16"});
    }
    return NonFinite(NonFinite::Where::Gradient, bad.step, bad_parameter,
                    {ErrorCode::NonFinite,
                     "the gradient of " + (bad_parameter.empty() ? "a parameter of another process" : bad_parameter) + " is not finite" + at + "; no weight was moved",
                     "look at the batch, the learning rate and the model's formulas"});
}

std::string AcceleratorCore::first_nonfinite_parameter(const PreparedOptimizerState& optimizer) const {
    for (const auto& group : optimizer.core->groups()) {
        for (const auto& parameter : group.parameters) {
            if (parameter.grad().defined() && !std::isfinite(sum_of_squares({parameter.grad()}))) {
                return prepared.name_of(parameter);
            }
        }
    }
    return "";
}

}  // namespace mantissa
