#pragma once
// The loop over steps: control and turns at the edges, one row per attempt, evaluation as planned, the rule
// for non-finite values, and how it ended. Thread: the caller's, which is the worker thread.
#include <optional>
#include <string>

#include "devices/memory_meter.h"
#include "host/engine_api.h"
#include "record/skip_kind.h"
#include "run/evaluator.h"
#include "run/incident_reporter.h"
#include "run/run_parts.h"
#include "run/step_runner.h"

namespace mantissa {

class TrainLoop {
  public:
    TrainLoop(const RunPlan& plan, RunParts& parts, RunSession& session, MemoryMeter& memory);

    /// The end state is in the recording when it returns. An Error: the recording can't be written any more.
    Result<RunEnd> run();

  private:
    [[nodiscard]] std::optional<RunEnd> step_edge(std::int64_t step);
    [[nodiscard]] StepOutcome attempt(std::int64_t step);
    void record(const StepOutcome& outcome);
    void record_memory_parts(const StepOutcome& outcome);
    [[nodiscard]] std::optional<RunEnd> after_refusal(const NonFinite& refusal);
    void evaluate(std::int64_t steps_done, const RunControl* control);
    [[nodiscard]] RunEnd finish(RunEnd end, std::int64_t steps_done);

    const RunPlan& m_plan;
    RunParts& m_parts;
    RunSession& m_session;
    MemoryMeter& m_memory;
    HostMemory m_host_memory;
    OnNonfinite m_on_nonfinite;
    IncidentReporter m_incidents;
    StepRunner m_runner;
    Evaluator m_evaluator;
    SkipClassifier m_skips;
    std::int64_t m_applied = 0;
    std::int64_t m_evaluated_at = -1;
    bool m_memory_parts_recorded = false;
    std::string m_pause_reason;
};

}  // namespace mantissa
