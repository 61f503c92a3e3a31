#pragma once
// The ruler for validation metrics. With repetitions of the control it is their spread (control_spread.h); without, "equal" means within
// two binomial standard errors of the validation set (design §10), which only an accuracy has.
#include <cstdint>
#include <optional>
#include <string>

#include "judge/case.h"

namespace mantissa {

struct MetricComparison {
    double value = 0, control = 0;
    double noise = 0;  // two standard errors, as a share
    std::int64_t samples = 0;
    bool higher_is_better = true;
    struct Repeated {
        std::int64_t runs = 0;
        double lowest = 0, highest = 0;
        OutsideBand loss;
    };
    std::optional<Repeated> repeated;
    /// Above 0: better than the control.
    [[nodiscard]] double difference() const { return higher_is_better ? value - control : control - value; }
    [[nodiscard]] bool in_range() const { return repeated && value >= repeated->lowest && value <= repeated->highest; }
    [[nodiscard]] bool same() const {
        if (repeated) return in_range() || !repeated->loss.is_outside();
        return difference() <= noise && difference() >= -noise;
    }
};

/// Two binomial standard errors of a share measured on that many samples. At 0 and 1 one sample counts as
/// uncertain, since the plain formula would call a difference of a single sample significant.
[[nodiscard]] double two_standard_errors(double share, std::int64_t samples);

/// Empty unless both runs finished the same number of steps and have the same metric on the same number of samples: an accuracy where
/// there is no spread of the control.
[[nodiscard]] std::optional<MetricComparison> compare_metric(const RunCase& run, const RunCase& control,
                                                             const std::optional<ControlSpread>& spread);
/// "95.3 %" of an accuracy, else the number.
[[nodiscard]] std::string metric_words(const std::string& name, double value);

/// False: a median of so few steps is no measure of time.
[[nodiscard]] bool enough_for_time(const RunCase& run, const RunCase& control);

}  // namespace mantissa
