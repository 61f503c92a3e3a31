#pragma once
// Evaluation as the plan says: on the held-out samples or the training samples, in fp32 outside autocast
// (default), under the mode's autocast, or both. The model is in eval mode meanwhile.
#include <cstdint>
#include <vector>

#include "host/run_control.h"
#include "plan/run_plan.h"
#include "record/rows.h"
#include "run/run_parts.h"

namespace mantissa {

class Evaluator {
  public:
    Evaluator(RunParts& parts, const RunPlan& plan);

    /// False: there are no samples to evaluate on.
    [[nodiscard]] bool has_samples() const { return m_indices.size(0) > 0; }
    [[nodiscard]] bool is_due(std::int64_t steps_done) const;
    /// Accuracy and loss, for each precision of the plan, after `steps_done` attempts. A `control` that ends
    /// the run ends the pass too, without a row; none for the last evaluation of a run that was stopped.
    [[nodiscard]] std::vector<EvaluationRow> evaluate(std::int64_t steps_done, const RunControl* control);

  private:
    struct Totals {
        double loss = 0;
        std::int64_t right = 0;
    };
    [[nodiscard]] std::optional<Totals> pass(bool autocast, const RunControl* control);

    RunParts& m_parts;
    const EvaluationPlan& m_plan;
    Precision m_mode;
    torch::Tensor m_indices;
    const char* m_split;
};

}  // namespace mantissa
