#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace mantissa {

/// What one attempt of the optimizer was: filled by the prepared optimizers' steps, complete after the last of them, and also
/// when a step threw NonFinite.
struct StepFacts {
    std::int64_t step = -1;     // number of the attempt, from 0
    bool is_pending = false;    // what it found still lies on the device: only step and learning rate are known (AcceleratorCore::settle)
    std::vector<double> losses;  // of the micro-batches: unscaled, before division and before the loss factor
    double loss = 0;             // their mean
    bool nonfinite_loss = false;
    double learning_rate = 0;    // of group 0 of the first optimizer, as used
    double grad_norm = 0;        // unscaled, before clipping
    std::int64_t nonfinite_grads = 0;  // elements
    std::optional<double> loss_scale;             // as used; empty without a scaler
    std::optional<std::int64_t> growth_tracker;   // after the attempt
    std::optional<double> loss_scale_after;
    bool found_inf = false;       // a gradient overflowed under the scaler
    bool skipped = false;         // no weight of at least one optimizer moved
    bool scale_collapsed = false;  // an overflow wanted to go below the floor
    /// An overflow took the scale below 1, or to within 2^4 of its floor: said once in a descent, well before the floor.
    bool scale_alarm = false;
    std::optional<std::int64_t> backoffs_left;  // overflows that the scale can still answer by falling; empty without a scaler

    /// All of them at once, before anything else knows their mean.
    void take_losses(std::vector<double> of_micro_batches) {
        losses = std::move(of_micro_batches);
        loss = 0;
        for (const double one : losses) {
            loss += one / static_cast<double>(losses.size());
            nonfinite_loss = nonfinite_loss || !std::isfinite(one);
        }
    }
};

}  // namespace mantissa
