#pragma once
// Without repetitions of the control, "equal" means within two binomial standard errors of the validation set
// (design §10).
#include <cstdint>
#include <optional>
#include <string>

#include "judge/case.h"

namespace mantissa {

struct MetricComparison {
    double value = 0, control = 0;
    double noise = 0;  // two standard errors, as a share
    std::int64_t samples = 0;
    [[nodiscard]] double difference() const { return value - control; }
    [[nodiscard]] bool same() const { return difference() <= noise && difference() >= -noise; }
};

/// Two binomial standard errors of a share measured on that many samples. At 0 and 1 one sample counts as
/// uncertain, since the plain formula would call a difference of a single sample significant.
[[nodiscard]] double two_standard_errors(double share, std::int64_t samples);

/// Empty unless both runs finished the same number of steps and have an accuracy on the same number of
/// samples.
[[nodiscard]] std::optional<MetricComparison> compare_accuracy(const RunCase& run, const RunCase& control);

/// False: a median of so few steps is no measure of time.
[[nodiscard]] bool enough_for_time(const RunCase& run, const RunCase& control);

}  // namespace mantissa
