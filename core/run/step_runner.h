#pragma once
// One attempt of the optimizer with all its micro-batches. Throws what torch throws; a refusal by rule 12 is
// an outcome. Thread: the one that trains.
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine_error.h"
#include "models/module_scope.h"
#include "numerics/op_counter.h"
#include "plan/run_plan.h"
#include "run/run_parts.h"
#include "run/step_clock.h"

namespace mantissa {

struct StepOutcome {
    StepFacts facts;
    std::optional<NonFinite> refusal;  // stopped before any weight moved (on_nonfinite stop and pause)
    std::int64_t epoch = 0;
    std::int64_t samples = 0;
    std::vector<std::int64_t> samples_of_micro_batches = {};
    std::int64_t data_ns = 0, step_ns = 0;
    std::shared_ptr<const StepClock> clock;  // of a step whose figures come later; step_ns is 0 until then
    std::int64_t saved_for_backward_bytes =
        0;  // alive after the forward pass of the first micro-batch, not before it
};

/// Looks at an attempt before the update, while the weights are those of the forward pass.
class BeforeUpdate {
  public:
    virtual ~BeforeUpdate() = default;
    /// A micro-batch is in hand; a replay may put another in its place.
    virtual void batch_in_hand(std::int64_t /*step*/, std::size_t /*micro_batch*/, Batch& /*batch*/) {}
    /// What is done from here on: forward loss backward update (which unscales first).
    virtual void phase_begins(const char* /*phase*/) {}
    virtual void nonfinite_loss(std::int64_t step, const std::vector<Batch>& micro_batches, double loss) = 0;
    /// After all backward passes of every attempt, before anything else looks: gradients are scaled and not clipped.
    virtual void before_update(std::int64_t /*step*/, const std::vector<Batch>& /*micro_batches*/) {}
    /// Asked before every forward pass of this attempt: who sees its outputs; null: nobody does.
    virtual OutputWatch* outputs(std::int64_t /*step*/) { return nullptr; }
};

class StepRunner {
  public:
    /// `current_bytes` is asked around the first forward pass; may be empty.
    StepRunner(RunParts& parts, const TrainingPlan& plan, BeforeUpdate* watcher);

    /// `counter` sees the ops of forward and backward; null on all but the first step.
    StepOutcome run(OpCounter* counter = nullptr, const std::function<std::int64_t()>& current_bytes = {});

    /// Where a checkpoint left off: the number of the next attempt. The loader knows its place itself.
    void go_on_from(std::int64_t step) { m_step = step; }

    /// The batches of the last attempt (for a look at them again).
    [[nodiscard]] const std::vector<Batch>& last_batches() const { return m_batches; }
    [[nodiscard]] const std::vector<torch::Tensor>& last_losses() const { return m_losses; }  // detached

  private:
    [[nodiscard]] Batch next_batch(StepOutcome& outcome);
    [[nodiscard]] torch::Tensor forward(const Batch& batch, OutputWatch* outputs);
    /// Makes the mean of all processes' gradients that over the samples: 1 unless the last batches of an epoch are uneven.
    [[nodiscard]] double weight_of(const Batch& batch) const;
    void micro_batch(const Batch& batch, OpCounter* counter, StepOutcome& outcome,
                     const std::function<std::int64_t()>& current_bytes);
    void begin_phase(const char* phase);
    void look_before_update();
    [[nodiscard]] std::vector<double> losses();
    void update(StepOutcome& outcome);

    RunParts& m_parts;
    const TrainingPlan& m_plan;
    BeforeUpdate* m_watcher;
    std::vector<torch::Tensor> m_parameters;
    std::vector<Batch> m_batches;
    std::vector<torch::Tensor> m_losses;  // detached, of this attempt
    std::int64_t m_step = 0;
    bool m_is_in_pass = false;
};

}  // namespace mantissa
