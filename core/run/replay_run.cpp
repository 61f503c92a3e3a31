#include "run/replay_run.h"

#include "checkpoint/checkpoint_copy.h"
#include "run/replica_parts.h"
#include "run/take_up.h"

namespace mantissa {
namespace {

std::unique_ptr<RunParts> built(const RunPlan& plan, const Replica& replica, const ReplayRanks& ranks) {
    const Result<DeviceChoice> choice = choose_run_device(plan, ranks.group ? &ranks.place : nullptr);
    if (!choice) throw EngineError(choice.error());
    Result<std::unique_ptr<RunParts>> parts = ranks.group ? build_run(plan, *choice, ranks.group) : build_run(plan, *choice, replica);
    if (!parts) throw EngineError(parts.error());
    return std::move(*parts);
}

}  // namespace

ReplayRun::ReplayRun(const RunPlan& plan, BeforeUpdate& watch, const Replica& replica, const ReplayRanks& ranks)
    : m_plan(&plan), m_parts(built(plan, replica, ranks)), m_runner(*m_parts, plan.training, &watch) {
    m_loop.data_hash = m_parts->hashes.data;
    m_loop.training_split_hash = training_split_hash(*m_parts);
    m_parts->accelerator.register_for_checkpointing(std::make_shared<SavedLoop>(m_loop));
    m_parts->bare_model().train();
}

void ReplayRun::start_from(const CheckpointInfo& checkpoint) {
    take_up(checkpoint, *m_plan, *m_parts);
    m_runner.go_on_from(m_loop.step);
}

void ReplayRun::start_from(const Checkpoint& state, const RunPlan& saved) {
    take_up(state, saved, *m_plan, *m_parts);
    m_runner.go_on_from(m_loop.step);
}

ReplayRun::Step ReplayRun::next_step() {
    Step step{m_runner.run()};
    if (m_parts->ranks) m_parts->ranks->share(step.outcome.facts, step.outcome.samples_of_micro_batches);
    const StepFacts& facts = step.outcome.facts;
    m_loop.applied += facts.skipped ? 0 : 1;
    step.skip_kind = m_loop.skips.record({facts.skipped, facts.nonfinite_loss, facts.loss_scale_after});
    ++m_loop.step;
    return step;
}

Checkpoint ReplayRun::state() const {
    Checkpoint state = m_parts->accelerator.state();
    state.accelerator.tensors.clear();  // between two steps: gradients that were used
    copy_tensors(state);
    return state;
}

}  // namespace mantissa
