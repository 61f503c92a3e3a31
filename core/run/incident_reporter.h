#pragma once
// Names the place of a fault: when a loss goes non-finite, or a half-precision step is skipped, the same batch is looked at again
// with the same weights. What it finds goes to an IncidentLog; a run is watched a few times only. Thread: the one that trains.
#include <optional>
#include <string>
#include <vector>

#include "plan/run_plan.h"
#include "run/forward_look.h"
#include "run/incident_log.h"
#include "run/loop_watch.h"
#include "run/run_parts.h"
#include "run/step_runner.h"

namespace mantissa {

class IncidentReporter {
  public:
    IncidentReporter(RunParts& parts, const RunPlan& plan, RunSession& session, const IncidentSources& sources);

    /// Before its forward pass: where the random numbers stand, for a second look at it.
    void micro_batch_begins(std::size_t index);
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
    /// The batch that an incident is about, and what the step knew of itself.
    struct Scene {
        const Batch& batch;
        const RandomNote& random;
        double loss = 0;
        std::optional<double> loss_scale;
        std::optional<std::int64_t> micro_batch;
    };
    [[nodiscard]] Scene scene(const std::vector<Batch>& micro_batches, std::size_t index, double loss) const;
    [[nodiscard]] std::optional<BirthReport> birth_in(const Scene& scene) const;
    bool report_bad_weights(std::int64_t step, const Scene& scene);
    bool report_micro_batch(std::int64_t step, const Scene& scene);
    bool report_forward(std::int64_t step, const Scene& scene, const OutputMeter& meter, const char* severity, bool tells_loss);
    bool report_loss_op(std::int64_t step, const Scene& scene, const torch::Tensor& output);
    void look_at_skip(const StepFacts& facts, const std::vector<Batch>& micro_batches);
    void report_birth(IncidentRow row, const BirthReport& birth, const Scene& scene);
    void report_gradient(const StepOutcome& outcome, const std::vector<Batch>& micro_batches);
    bool report_gradient_of_logarithm(IncidentRow row, const Scene& scene);
    void report_poisoned(std::int64_t step);
    void report_alarm(const StepFacts& facts);
    void settle_with_others(const StepFacts& facts);
    /// The row, and a file with the birth where it is known or can be found.
    void record(IncidentRow row, const Scene& scene, std::optional<BirthReport> birth = std::nullopt);

    RunParts& m_parts;
    const RunPlan& m_plan;
    OnNonfinite m_on_nonfinite;  // as `compat` resolves it
    IncidentLog m_log;
    std::vector<RandomNote> m_random;  // of the step's micro-batches
    std::vector<std::string> m_masks;  // buffers that held an Inf when the run began
    std::string m_last_place;
    int m_looks_left = 8, m_hidden_looks_left = 4;
    bool m_poisoned = false;
};

}  // namespace mantissa
