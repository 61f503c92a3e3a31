#include "run/step_runner.h"

#include <cmath>

#include "base/clock.h"

namespace mantissa {

StepRunner::StepRunner(RunParts& parts, const TrainingPlan& plan, BeforeUpdate* watcher)
    : m_parts(parts), m_plan(plan), m_watcher(watcher), m_parameters(parts.model.parameters()) {}

StepOutcome StepRunner::run(OpCounter* counter, const std::function<std::int64_t()>& current_bytes) {
    StepOutcome outcome;
    m_batches.clear();
    m_losses.clear();
    // Gradients live until here, so that memory at the end of a step counts them.
    m_parts.optimizer.zero_grad();
    std::int64_t data_ns = 0;
    const std::int64_t start = monotonic_ns();
    std::shared_ptr<StepClock> clock;
    do {
        const std::int64_t before_data = monotonic_ns();
        m_batches.push_back(next_batch(outcome));
        data_ns += monotonic_ns() - before_data;
        if (m_parts.looks_later && !clock) clock = std::make_shared<StepClock>(m_parts.accelerator.device());
        if (m_watcher != nullptr) m_watcher->batch_in_hand(m_step, m_batches.size() - 1, m_batches.back());
        micro_batch(m_batches.back(), counter, outcome, current_bytes);
    } while (!m_parts.accelerator.sync_gradients());
    look_before_update();
    update(outcome);
    outcome.step_ns = clock ? 0 : monotonic_ns() - start - data_ns;
    if (clock) clock->stop();
    outcome.clock = std::move(clock);
    outcome.data_ns = data_ns;
    outcome.facts = m_parts.accelerator.last_step();
    ++m_step;
    return outcome;
}

Batch StepRunner::next_batch(StepOutcome& outcome) {
    std::optional<Batch> batch;
    if (m_is_in_pass) batch = m_parts.loader.next();
    if (!batch) {
        m_parts.loader.start_pass();
        m_is_in_pass = true;
        batch = m_parts.loader.next();
    }
    outcome.epoch = m_parts.loader.epoch();
    outcome.samples += batch->features.size(0);
    outcome.samples_of_micro_batches.push_back(batch->features.size(0));
    return std::move(*batch);
}

torch::Tensor StepRunner::forward(const Batch& batch, OutputWatch* outputs) {
    std::optional<WatchScope> watch;
    if (outputs != nullptr) watch.emplace(*outputs);
    const AutocastScope autocast = m_parts.accelerator.autocast();
    begin_phase("forward");
    const torch::Tensor output = m_parts.model(batch.features);
    begin_phase("loss");
    // A mean over nothing is NaN. This process's part is 0, with zeros for gradients: it takes part in what the others do together.
    if (batch.features.size(0) == 0) return output.sum();
    return m_parts.loss(output, batch.labels);
}

double StepRunner::weight_of(const Batch& batch) const {
    const std::int64_t of_all = m_parts.loader.end_of_dataloader() ? m_parts.loader.remainder() : 0;
    if (!m_parts.ranks || m_plan.even_batches || of_all <= 0) return 1.0;
    const std::int64_t processes = m_parts.ranks->group()->size();
    return static_cast<double>(batch.features.size(0) * processes) / static_cast<double>(of_all);
}

void StepRunner::begin_phase(const char* phase) {
    if (m_watcher != nullptr) m_watcher->phase_begins(phase);
}

void StepRunner::micro_batch(const Batch& batch, OpCounter* counter, StepOutcome& outcome,
                             const std::function<std::int64_t()>& current_bytes) {
    m_parts.accelerator.accumulate();
    const bool measured = current_bytes && m_batches.size() == 1;
    const std::int64_t before = measured ? current_bytes() : 0;
    if (counter != nullptr) {
        counter->set_phase(OpPhase::Forward);
        counter->resume();
    }
    const torch::Tensor loss = forward(batch, m_watcher == nullptr ? nullptr : m_watcher->outputs(m_step));
    if (measured) outcome.saved_for_backward_bytes = current_bytes() - before;
    if (counter != nullptr) counter->set_phase(OpPhase::Backward);
    m_losses.push_back(loss.detach());
    begin_phase("backward");
    m_parts.accelerator.backward(loss, m_plan.loss_factor * weight_of(batch));
    if (counter != nullptr) counter->pause();
}

void StepRunner::look_before_update() {
    if (m_watcher == nullptr) return;
    m_watcher->before_update(m_step, m_batches);
    if (m_parts.looks_later) return;  // the loop looks when the figures have come
    for (const double loss : losses()) {
        if (!std::isfinite(loss)) return m_watcher->nonfinite_loss(m_step, m_batches, loss);
    }
}

std::vector<double> StepRunner::losses() {
    if (!m_parts.accelerator.device().is_cpu()) {
        // Everything that the update wants to know of the device comes with the losses, in one read.
        m_parts.accelerator.unscale_gradients();
        return m_parts.accelerator.last_step().losses;
    }
    std::vector<double> read;
    for (const torch::Tensor& loss : m_losses) read.push_back(loss.item<double>());
    return read;
}

void StepRunner::update(StepOutcome& outcome) {
    begin_phase("update");
    if (m_plan.clip_grad_norm) m_parts.accelerator.clip_grad_norm(m_parameters, *m_plan.clip_grad_norm);
    if (m_plan.clip_grad_value) m_parts.accelerator.clip_grad_value(m_parameters, *m_plan.clip_grad_value);
    try {
        m_parts.optimizer.step();
        m_parts.scheduler.step();
    } catch (const NonFinite& refusal) {
        outcome.refusal = refusal;
    }
}

}  // namespace mantissa
