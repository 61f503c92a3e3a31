#include "run/step_start.h"

namespace mantissa {

void StepStart::note(std::int64_t step, const RunParts& parts, const LoopState& loop) {
    const bool follows = m_step >= 0 && step == m_step + 1;
    m_step = step;
    m_loop = loop;
    const WindowProgress& window = parts.accelerator.window();
    m_window = {window.micro_step, window.size, window.attempts, window.applied, window.is_due, window.was_held,
                parts.loader.end_of_dataloader()};
    m_loss_scale = parts.accelerator.loss_scale_state();
    if (!follows) m_loader.can_be_counted_on = false;
    note_loader(parts.loader, parts.accelerator.gradient_accumulation_steps());
    m_random.take();
}

// A step takes as many batches as a window has, and only a pass's last window may be short: in the middle of a pass it is enough to count.
void StepStart::note_loader(const PreparedLoader& loader, std::int64_t batches_of_a_step) {
    if (m_loader.can_be_counted_on && loader.epoch() == m_loader.epoch && !loader.end_of_dataloader()) {
        m_loader.batches_since += batches_of_a_step;
        return;
    }
    m_loader.state = loader.state();
    m_loader.epoch = loader.epoch();
    m_loader.batches_since = 0;
    // Before its first batch a pass isn't open; and a source that draws, or has a state of its own, moves more than its place.
    const bool moves_only_its_place =
        m_loader.state.tensors.empty() && m_loader.state.facts.lower_bound("source.") == m_loader.state.facts.lower_bound("source/");
    m_loader.can_be_counted_on = moves_only_its_place && m_loader.state.fact<bool>("is_open");
}

StateBundle StepStart::loader_state() const {
    StateBundle state = m_loader.state;
    if (m_loader.batches_since > 0) std::get<std::int64_t>(state.facts.at("consumed")) += m_loader.batches_since;
    return state;
}

void StepStart::put_into(Checkpoint& state) const {
    state.step = m_loop.step;
    state.applied_steps = m_window.applied;
    state.loaders = {loader_state()};
    state.epoch = state.loaders.front().fact<std::int64_t>("epoch");
    state.random_states = m_random.states();
    LoopState loop = m_loop;
    state.objects = {SavedLoop(loop).state()};
    if (m_loss_scale) state.loss_scale = SavedScale{m_loss_scale->scale, m_loss_scale->growth_tracker};
    auto& facts = state.accelerator.facts;
    facts["micro_step"] = m_window.micro_step;
    facts["window_size"] = m_window.size;
    facts["attempts"] = m_window.attempts;
    facts["applied"] = m_window.applied;
    facts["is_due"] = m_window.is_due;
    facts["was_held"] = m_window.was_held;
    facts["end_of_data"] = m_window.end_of_data;
    facts["losses"] = std::int64_t{0};
    facts["optimizer.0.stage"] = static_cast<std::int64_t>(PreparedOptimizerState::Stage::Ready);
    for (const char* no : {"attempt_open", "has_backward", "facts_open", "optimizer.0.found_inf", "optimizer.0.holds_used_gradients"})
        facts[no] = false;
}

}  // namespace mantissa
