#pragma once
// What the step rows of one run come down to. Pure; the kinds of skips are those recorded at the step (never
// rewritten).
#include <cstdint>
#include <optional>
#include <vector>

#include "record/run_reader.h"

namespace mantissa {

struct RunFigures {
    std::int64_t attempts = 0, applied = 0;  // of this recording, also where it goes on from a checkpoint
    std::optional<std::int64_t> last_step;

    std::int64_t skips_at_start = 0;       // before the first applied step
    std::int64_t skips_later_probing = 0;  // probing skips after it
    std::int64_t longest_later_skip_row = 0;
    std::int64_t faults = 0, probing = 0;
    std::int64_t longest_fault_row = 0, skips_in_row_at_end = 0;
    std::optional<std::int64_t> first_fault_step;
    bool persistent = false;  // 8 faults in a row, or 10 within 50 steps, at any moment

    std::optional<double> scale_first, scale_settled,
        scale_last;                                     // scale_settled: as used by the first applied step
    std::optional<std::int64_t> first_floor_skip_step;  // a skip while the scale stood at the floor

    std::int64_t nonfinite_losses = 0;
    std::optional<std::int64_t> first_nonfinite_loss;
    std::optional<std::int64_t>
        first_nonfinite_gradient;  // outside a loss scaler only: under it an overflow is a skip
    std::optional<double> first_nonfinite_value;  // that loss

    [[nodiscard]] std::optional<std::int64_t> first_bad_step() const;  // loss or gradient
    /// Something is wrong with this run's numbers: non-finite, or persistent skips.
    [[nodiscard]] bool in_trouble() const { return first_bad_step().has_value() || persistent; }
    [[nodiscard]] std::optional<std::int64_t> trouble_step() const;
};

/// `scale_goes_on`: the run took up the loss scale of a checkpoint, so its first skips aren't those of a start.
[[nodiscard]] RunFigures run_figures(const std::vector<StepRow>& steps, std::optional<double> scale_floor,
                                     bool scale_goes_on = false);

}  // namespace mantissa
