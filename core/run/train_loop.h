#pragma once
// The loop over steps: control and turns at the edges, one row per attempt, evaluation as planned, the rule
// for non-finite values, and how it ended. Thread: the caller's, which is the worker thread.
#include <optional>
#include <string>

#include "devices/memory_meter.h"
#include "host/engine_api.h"
#include "record/checkpoint_info.h"
#include "run/evaluator.h"
#include "run/incident_reporter.h"
#include "run/late_steps.h"
#include "run/loop_state.h"
#include "run/loop_watch.h"
#include "run/output_fan.h"
#include "run/run_checkpoints.h"
#include "run/run_parts.h"
#include "run/step_runner.h"

namespace mantissa {

class TrainLoop : private BeforeUpdate {
  public:
    TrainLoop(const RunPlan& plan, RunParts& parts, RunSession& session, MemoryMeter& memory);

    /// Takes up a checkpoint before the run: steps count on from it. Throws EngineError with the reason why it can't.
    void go_on_from(const CheckpointInfo& checkpoint);

    /// The end state is in the recording when it returns. An Error: the recording can't be written any more.
    Result<RunEnd> run();

  private:
    void batch_in_hand(std::int64_t step, std::size_t micro_batch, Batch& batch) override;
    void nonfinite_loss(std::int64_t step, const std::vector<Batch>& micro_batches, double loss) override;
    void before_update(std::int64_t step, const std::vector<Batch>& micro_batches) override;
    OutputWatch* outputs(std::int64_t step) override;
    [[nodiscard]] std::optional<RunEnd> step_edge();
    [[nodiscard]] std::optional<RunEnd> one_step();
    /// Tells the queued steps whose figures have come; one that was refused ends the run.
    [[nodiscard]] std::optional<RunEnd> settle(bool all);
    [[nodiscard]] StepOutcome attempt();
    void record(const StepOutcome& own);
    [[nodiscard]] std::optional<RunEnd> after_refusal(const NonFinite& refusal);
    void evaluate(const RunControl* control);
    void save();
    [[nodiscard]] RunEnd finish(RunEnd end);

    const RunPlan& m_plan;
    RunParts& m_parts;
    RunSession& m_session;
    MemoryMeter& m_memory;
    HostMemory m_host_memory;
    OnNonfinite m_on_nonfinite;
    IncidentSources m_incident_sources;
    std::string m_halt_reason;  // of the next pause or stop
    std::vector<std::unique_ptr<LoopWatch>> m_watches;
    std::optional<OutputFan> m_outputs;  // of the step that runs
    IncidentReporter m_incidents;
    StepRunner m_runner;
    LateSteps m_late;  // queued on a GPU, not yet told
    std::optional<RunEnd> m_late_end;  // what they ended in
    Evaluator m_evaluator;
    RunCheckpoints m_checkpoints;
    LoopState m_state;
    std::int64_t m_first_step = 0;
    bool m_ops_recorded = false, m_memory_parts_recorded = false;
};

}  // namespace mantissa
