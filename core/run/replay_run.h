#pragma once
// A run built again from its plan and moved forward step by step, without a recording. Throws what the engine throws. Thread: the
// one that trains.
#include "checkpoint/checkpoint_files.h"
#include "record/checkpoint_info.h"
#include "record/replica.h"
#include "run/loop_state.h"
#include "run/run_parts.h"
#include "run/step_runner.h"

namespace mantissa {

/// This process's place among several that do a step again together; the group is null where it is alone.
struct ReplayRanks {
    RankPlace place;
    std::shared_ptr<Ranks> group;
};

class ReplayRun {
  public:
    /// At step 0. `plan` must outlive it. A repetition of the control has an order, a rounding replica weights of its own.
    /// Of several processes each makes one, and every call is collective.
    ReplayRun(const RunPlan& plan, BeforeUpdate& watch, const Replica& replica = {}, const ReplayRanks& ranks = {});

    void start_from(const CheckpointInfo& checkpoint);
    /// A state that another ReplayRun of the plan `saved` gave.
    void start_from(const Checkpoint& state, const RunPlan& saved);
    /// From here on, whatever was taken up.
    void fix_loss_scale(double scale) { m_parts->accelerator.restore_loss_scale({scale, 0}); }

    struct Step {
        StepOutcome outcome;
        SkipKind skip_kind = SkipKind::None;
    };
    /// Facts are those of all processes, as in the run's record.
    [[nodiscard]] Step next_step();

    /// The number of the next step.
    [[nodiscard]] std::int64_t step() const { return m_loop.step; }
    /// Everything at this point, in memory of its own.
    [[nodiscard]] Checkpoint state() const;
    [[nodiscard]] RunParts& parts() { return *m_parts; }
    [[nodiscard]] const StepRunner& runner() const { return m_runner; }

  private:
    const RunPlan* m_plan;
    std::unique_ptr<RunParts> m_parts;
    LoopState m_loop;
    StepRunner m_runner;
};

}  // namespace mantissa
