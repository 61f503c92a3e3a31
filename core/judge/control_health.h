#pragma once
// Healthy control (design §10): loss below 10³ × its start, and the median gradient norm of the last 20 steps
// at most 10 × that of the 20 before. "Only fp16" counts as a matter of range only while the control is
// healthy.
#include <cstdint>
#include <optional>
#include <vector>

#include "record/rows.h"

namespace mantissa {

struct ControlHealth {
    static constexpr double loss_limit = 1e3;
    static constexpr double norm_limit = 10.0;
    static constexpr std::int64_t window = 20;

    std::int64_t steps = 0;  // rows looked at: those up to the step asked about
    bool finite = true;
    std::optional<double> loss_growth;  // largest loss of the last 20 steps / loss of the first step
    std::optional<double> norm_growth;  // medians; needs 40 steps
    std::optional<std::int64_t> last_step;

    [[nodiscard]] bool grown() const { return (loss_growth && *loss_growth >= loss_limit) || norm_grown(); }
    [[nodiscard]] bool norm_grown() const { return norm_growth && *norm_growth > norm_limit; }
    [[nodiscard]] bool healthy() const { return steps > 0 && finite && !grown(); }
};

/// Looks at the rows with step <= until (all without `until`).
[[nodiscard]] ControlHealth control_health(const std::vector<StepRow>& steps,
                                           std::optional<std::int64_t> until = {});

}  // namespace mantissa
