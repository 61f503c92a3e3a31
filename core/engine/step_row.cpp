#include "engine/step_row.h"

#include "base/clock.h"

namespace mantissa {

StepRow step_row(const StepFacts& facts) {
    StepRow row;
    row.step = facts.step;
    row.time_ns = now_ns();
    row.loss = facts.loss;
    row.learning_rate = facts.learning_rate;
    row.grad_norm = facts.grad_norm;
    row.loss_scale = facts.loss_scale;
    row.growth_tracker = facts.growth_tracker;
    row.skipped = facts.skipped;
    row.nonfinite_loss = facts.nonfinite_loss;
    row.nonfinite_grads = facts.nonfinite_grads;
    return row;
}

}  // namespace mantissa
