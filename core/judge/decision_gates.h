#pragma once
// The three gates, each a pure question about one mode.
#include <optional>
#include <string>
#include <vector>

#include "judge/case.h"
#include "judge/finding.h"
#include "judge/metric_ruler.h"

namespace mantissa {

enum class Gate { Support, Range, Metric, Passed };

struct GateResult {
    Precision mode = Precision::No;
    Gate failed_at = Gate::Passed;  // Passed: all three were passed
    std::vector<Sentence> reasons;      // why it failed, or what it passed with
    bool metric_known = true;       // false: no validation data or no ruler; then gate 3 isn't answered
    bool finished = true;           // false: stopped by hand or interrupted; gate 3 isn't answered either
    bool emulated = false;
    bool better = false;  // than the control, by more than the noise
    std::optional<double> time_ratio;  // of native modes with times of their own
    std::optional<double> memory_ratio;
};

[[nodiscard]] GateResult pass_gates(const Case& all, Precision mode);

}  // namespace mantissa
