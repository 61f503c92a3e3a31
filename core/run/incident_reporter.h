#pragma once
// Names the place of a fault: when a loss goes non-finite, or a half-precision step is skipped, the same
// batch goes forward once more with the same weights, watched layer by layer. Each place is recorded once,
// and a run is watched a few times only. Thread: the one that trains.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "numerics/birth_finder.h"
#include "numerics/output_meter.h"
#include "plan/run_plan.h"
#include "record/run_recorder.h"
#include "run/loop_watch.h"
#include "run/run_parts.h"
#include "run/step_runner.h"

namespace mantissa {

class IncidentReporter {
  public:
    IncidentReporter(RunParts& parts, const RunPlan& plan, RunSession& session, const IncidentSources& sources);

    void nonfinite_loss(std::int64_t step, const std::vector<Batch>& micro_batches, double loss);
    /// Hidden overflows, gradients that went bad alone, a collapsed scale, poisoned weights.
    void after_step(const StepOutcome& outcome, const std::vector<Batch>& micro_batches);

    /// Whether a weight is not finite, and that was told.
    [[nodiscard]] bool is_poisoned() const { return m_poisoned; }
    /// A checkpoint's weights were poisoned already: the recording that goes on says so at its first step.
    void go_on_poisoned(std::int64_t step) { report_poisoned(step); }

    /// "gate.mul" of the last place that was found in that step, for the reason of the run's end; empty when
    /// none was.
    [[nodiscard]] const std::string& last_place() const { return m_last_place; }

  private:
    struct Look {
        OutputMeter meter;
        torch::Tensor output;
    };
    [[nodiscard]] Look look_again(const Batch& batch);
    bool report_forward(std::int64_t step, const OutputMeter& meter, const char* severity,
                        std::optional<double> loss);
    void report_loss_op(std::int64_t step, const torch::Tensor& output, const Batch& batch, double loss);
    void look_at_skip(const StepFacts& facts, const std::vector<Batch>& micro_batches);
    void report_birth(IncidentRow row, const BirthReport& birth);
    void report_gradient(const StepOutcome& outcome, const Batch& batch);
    void report_poisoned(std::int64_t step);
    void report_alarm(const StepFacts& facts);
    void record(IncidentRow row);
    [[nodiscard]] std::string first_nonfinite_parameter();

    RunParts& m_parts;
    const RunPlan& m_plan;
    OnNonfinite m_on_nonfinite;  // as `compat` resolves it
    RunRecorder& m_recorder;
    RunFolder m_folder;
    const IncidentSources& m_sources;
    std::set<std::string> m_seen;  // kind (a scale's with its severity) + place
    std::string m_last_place;
    int m_looks_left = 8, m_hidden_looks_left = 4;
    bool m_poisoned = false;
};

}  // namespace mantissa
