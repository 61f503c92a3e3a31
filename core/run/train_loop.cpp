#include "run/train_loop.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "engine/engine_error.h"
#include "plan/resume_check.h"
#include "plan/resume_rule.h"
#include "engine/step_row.h"
#include "record/linear_layers.h"
#include "record/meta_keys.h"
#include "record/resume_record.h"
#include "run/memory_parts.h"
#include "run/take_up.h"

namespace mantissa {
namespace {

StepRow row_of(const StepOutcome& outcome) {
    StepRow row = step_row(outcome.facts);
    row.epoch = outcome.epoch;
    row.samples = outcome.samples;
    row.data_ns = outcome.data_ns;
    row.step_ns = outcome.step_ns;
    return row;
}

}  // namespace

TrainLoop::TrainLoop(const RunPlan& plan, RunParts& parts, RunSession& session, MemoryMeter& memory)
    : m_plan(plan),
      m_parts(parts),
      m_session(session),
      m_memory(memory),
      m_on_nonfinite(accelerator_options(plan).on_nonfinite),
      m_watches(make_watches({plan, parts, session, m_incident_sources, m_halt_reason, m_state})),
      m_incidents(parts, plan, session, m_incident_sources),
      m_runner(parts, plan.training, this),
      m_evaluator(parts, plan),
      m_checkpoints(plan, parts, session) {
    m_state.data_hash = parts.hashes.data;
    m_state.training_split_hash = training_split_hash(parts);
    m_parts.accelerator.register_for_checkpointing(std::make_shared<SavedLoop>(m_state));
}

void TrainLoop::go_on_from(const CheckpointInfo& checkpoint) {
    take_up(checkpoint, m_plan, m_parts);
    m_runner.go_on_from(m_state.step);
    m_first_step = m_state.step;
    // A scale that starts anew looks for its place once more: its first skips are probing.
    if (resumed_scale(checkpoint.mode, m_plan.mixed_precision) == ResumedScale::StartsAnew) m_state.skips = {};
    if (m_state.step >= m_parts.planned_steps)
        throw EngineError(nothing_left_to_do(m_parts.planned_steps, m_state.step));
    CheckpointInfo told = checkpoint;
    told.step = m_state.step;
    told.applied_steps = m_state.applied;
    record_resume(m_session.recorder, told, m_plan.mixed_precision);
}

Result<RunEnd> TrainLoop::run() {
    m_parts.bare_model().train();
    if (m_state.poisoned) m_incidents.go_on_poisoned(m_state.step);
    std::optional<RunEnd> end;
    while (!end && m_state.step < m_parts.planned_steps) {
        if ((end = step_edge()) || (end = m_late_end)) break;
        if (const auto error = m_session.recorder.error()) return *error;
        if ((end = one_step())) break;
        if (m_evaluator.is_due(m_state.step)) evaluate(&m_session.control);
        if (m_checkpoints.is_due(m_state.step)) save();
        end = m_late_end;
    }
    if (const auto late = settle(true)) end = late;
    if (const auto error = m_session.recorder.error()) return *error;
    return finish(end.value_or(RunEnd{RunState::Finished, ""}));
}

std::optional<RunEnd> TrainLoop::one_step() {
    for (const auto& watch : m_watches) watch->before_step(m_state.step);
    StepOutcome outcome = attempt();
    const bool is_late = outcome.facts.is_pending;
    if (!is_late) {
        record(outcome);
        m_incidents.after_step(outcome, m_runner.last_batches());
    }
    for (const auto& watch : m_watches) watch->after_step(outcome, m_runner.last_batches());
    ++m_state.step;
    if (outcome.refusal) return after_refusal(*outcome.refusal);
    if (!is_late) return std::nullopt;
    m_late.add(std::move(outcome), m_runner.last_batches());
    return settle(false);
}

std::optional<RunEnd> TrainLoop::settle(bool all) {
    for (const auto& [outcome, micro_batches] : m_late.take(m_parts.accelerator, all)) {
        // The weights are still those of its forward pass: the device held this step and all that followed back.
        const auto& losses = outcome.facts.losses;
        const auto bad = std::find_if(losses.begin(), losses.end(), [](double loss) { return !std::isfinite(loss); });
        if (bad != losses.end() && outcome.refusal) m_incidents.nonfinite_loss(outcome.facts.step, micro_batches, *bad);
        record(outcome);
        m_incidents.after_step(outcome, micro_batches);
        if (!outcome.refusal) continue;
        m_state.step = outcome.facts.step + 1;
        m_late_end = after_refusal(*outcome.refusal);
    }
    return m_late_end;
}

void TrainLoop::batch_in_hand(std::int64_t /*step*/, std::size_t micro_batch, Batch& /*batch*/) {
    m_incidents.micro_batch_begins(micro_batch);
}

void TrainLoop::nonfinite_loss(std::int64_t step, const std::vector<Batch>& micro_batches, double loss) {
    m_incidents.nonfinite_loss(step, micro_batches, loss);
}

void TrainLoop::before_update(std::int64_t step, const std::vector<Batch>& micro_batches) {
    for (const auto& watch : m_watches) watch->before_update(step, micro_batches);
}

OutputWatch* TrainLoop::outputs(std::int64_t step) {
    std::vector<OutputWatch*> interested;
    for (const auto& watch : m_watches) {
        if (OutputWatch* one = watch->outputs(step)) interested.push_back(one);
    }
    if (interested.empty()) return nullptr;
    return &m_outputs.emplace(std::move(interested));
}

std::optional<RunEnd> TrainLoop::step_edge() {
    const auto tell = [this](bool paused) {
        if (paused) (void)settle(true);
        const std::string why = m_halt_reason.empty() ? m_session.control.asked(ControlCommand::Pause, m_state.step) : m_halt_reason;
        m_session.recorder.state(paused ? RunState::Paused : RunState::Running, paused ? why : "");
        m_halt_reason.clear();
    };
    const auto keep = [this] { save(); };
    RunControl::Next next = m_parts.ranks ? m_parts.ranks->at_step_edge(m_session.control, tell, keep)
                                          : m_session.control.at_step_edge(tell, keep);
    if (next == RunControl::Next::Go && m_session.gate != nullptr) {
        m_session.gate->wait_for_turn(m_state.step, m_session.control);
        // A command may have come while this run waited for its turn.
        if (m_session.control.is_ending()) next = m_session.control.at_step_edge(tell, keep);
        if (m_session.control.take_checkpoint_request()) save();
    }
    const RunControl& control = m_session.control;
    if (next == RunControl::Next::Interrupt) return RunEnd{RunState::Interrupted, "interrupted " + control.obeyed(ControlCommand::Interrupt, m_state.step)};
    if (next == RunControl::Next::Stop)
        // What the run itself decided was asked for by nobody.
        return RunEnd{RunState::Stopped, "stopped " + (m_halt_reason.empty() ? control.obeyed(ControlCommand::Stop, m_state.step)
                                                                             : "before step " + std::to_string(m_state.step) + ": " + m_halt_reason)};
    return std::nullopt;
}

StepOutcome TrainLoop::attempt() {
    m_memory.begin_step();
    if (m_ops_recorded) {
        if (m_memory_parts_recorded) return m_runner.run();
        return m_runner.run(nullptr, [this] { return m_memory.current_bytes(); });
    }
    // The first step is watched op by op: the proof that the mode is on.
    OpCounter counter;
    counter.pause();
    StepOutcome outcome = m_runner.run(&counter, [this] { return m_memory.current_bytes(); });
    for (OpDtypeRow& row : counter.rows(m_state.step)) m_session.recorder.op_dtypes(std::move(row));
    if (m_parts.accelerator.mixed_precision() == Precision::Fp8) {
        std::vector<LinearLayer> layers;
        for (const Fp8Layer& one : m_parts.accelerator.fp8_layers()) layers.push_back({one.module, one.in, one.out, one.is_fp8});
        m_session.recorder.meta(meta::linear_layers, to_text(layers));
    }
    m_ops_recorded = true;
    return outcome;
}

void TrainLoop::record(const StepOutcome& own) {
    StepOutcome of_all = own;
    if (m_parts.ranks) {
        m_parts.ranks->share(of_all.facts, of_all.samples_of_micro_batches);
        of_all.samples = std::accumulate(of_all.samples_of_micro_batches.begin(), of_all.samples_of_micro_batches.end(), std::int64_t{0});
    }
    // The run's record holds the whole batch, that of another rank its own part.
    const StepOutcome& outcome = m_parts.is_main() ? of_all : own;
    const StepFacts& facts = outcome.facts;
    StepRow row = row_of(outcome);
    m_state.applied += facts.skipped ? 0 : 1;
    row.applied_step = m_state.applied;
    row.skip_kind = m_state.skips.record({facts.skipped, facts.nonfinite_loss, facts.loss_scale_after});
    row.memory_bytes = m_memory.current_bytes();
    row.memory_peak_bytes = m_memory.peak_bytes();
    row.host_memory_bytes = m_host_memory.bytes();
    m_session.recorder.step(row);
    if (m_plan.training.gradient_accumulation_steps > 1) {
        for (std::size_t i = 0; i < facts.losses.size(); ++i) {
            m_session.recorder.micro_batch({facts.step, static_cast<std::int64_t>(i), facts.losses[i]});
        }
    }
    // Before the first update the optimizer has no state yet.
    if (facts.skipped || m_memory_parts_recorded) return;
    record_memory_parts(m_parts, m_memory, outcome, m_session.recorder);
    m_memory_parts_recorded = true;
}

std::optional<RunEnd> TrainLoop::after_refusal(const NonFinite& refusal) {
    std::string reason = refusal.error().message;
    if (!m_incidents.last_place().empty()) reason += "; it was born in " + m_incidents.last_place();
    if (m_on_nonfinite == OnNonfinite::Pause) {
        m_halt_reason = reason;
        m_session.control.pause_here();
        return std::nullopt;
    }
    return RunEnd{RunState::StoppedNonfinite, reason};
}

void TrainLoop::evaluate(const RunControl* control) {
    if (settle(true)) return;
    m_session.recorder.activity(Activity::Evaluating);
    for (EvaluationRow& row : m_evaluator.evaluate(m_state.step, control)) {
        m_session.recorder.evaluation(std::move(row));
        m_state.evaluated_at = m_state.step;
    }
    m_session.recorder.activity(Activity::Training);
}

void TrainLoop::save() {
    if (settle(true)) return;
    m_state.poisoned = m_incidents.is_poisoned();
    m_session.recorder.activity(Activity::Saving);
    m_checkpoints.save(m_state.step);
    m_session.recorder.activity(m_session.control.is_paused() ? Activity::Paused : Activity::Training);
}

RunEnd TrainLoop::finish(RunEnd end) {
    // An interrupted run ends at once; every other one is worth its last evaluation. A run that was stopped
    // asks nobody.
    const bool is_interrupted = end.state == RunState::Interrupted, is_stopped = end.state == RunState::Stopped;
    if (!is_interrupted && m_state.step > 0 && m_state.evaluated_at != m_state.step)
        evaluate(is_stopped ? nullptr : &m_session.control);
    // A run that was stopped is meant to go on one day, whatever the plan says of its end.
    const bool is_wanted = is_stopped || (m_plan.checkpoint.at_end && !is_interrupted);
    if (is_wanted && m_state.step > m_first_step) save();
    for (const auto& watch : m_watches) watch->at_end();
    if (const auto scale = m_parts.accelerator.loss_scale_state()) {
        m_session.recorder.meta(meta::final_scale, to_text(scale->scale));
    }
    m_session.recorder.state(end.state, end.reason);
    return end;
}

}  // namespace mantissa
