#pragma once
// Steps that were queued, and whose figures haven't come yet (HostLooks::Later), with what is needed to tell them then. Thread: the one
// that trains.
#include <deque>
#include <vector>

#include "run/step_runner.h"

namespace mantissa {

class LateSteps {
  public:
    struct Step {
        StepOutcome outcome;
        std::vector<Batch> micro_batches;
    };
    void add(StepOutcome outcome, std::vector<Batch> micro_batches) { m_steps.push_back({std::move(outcome), std::move(micro_batches)}); }
    [[nodiscard]] bool empty() const { return m_steps.empty(); }
    /// In their order, complete: those whose figures have come, or all. After a refusal nothing follows: what was queued behind it moved
    /// no weight, and is forgotten.
    [[nodiscard]] std::vector<Step> take(Accelerator& accelerator, bool all);

  private:
    std::deque<Step> m_steps;
};

}  // namespace mantissa
