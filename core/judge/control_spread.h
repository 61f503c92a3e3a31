#pragma once
// How far the control lies from itself: it and its repetitions, which differ in batch order alone. With two repetitions or more this is
// what a mode is judged by (design §7): it differs when its loss lies outside mean ± 2 deviations in 50 of the last 60 smoothed steps and
// its validation metric outside their range. Rounding replicas are shown, and never used for a verdict.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/texts.h"
#include "record/rows.h"

namespace mantissa {

struct RunEvidence;
struct ComparisonEvidence;

struct BandPoint {
    std::int64_t step = 0;
    double mean = 0, deviation = 0;  // of the smoothed losses of all runs; the deviation is that of a sample
};

struct ControlSpread {
    static constexpr std::int64_t smoothing = 20;  // steps of a trailing mean
    static constexpr std::int64_t looked_at = 60, outside_at = 50;
    static constexpr std::int64_t least_runs = 3;

    std::int64_t runs = 0;  // the control among them
    std::optional<double> lowest, highest;  // validation metric
    std::vector<BandPoint> band;            // steps that all of them have, from `smoothing` − 1 on

    [[nodiscard]] bool is_enough() const { return runs >= least_runs && lowest && !band.empty(); }
    [[nodiscard]] bool is_in_range(double metric) const { return lowest && metric >= *lowest && metric <= *highest; }
};

/// Repetitions that ended early, or that broke, tell nothing of the spread and are left out.
[[nodiscard]] ControlSpread control_spread(const RunEvidence& control, const std::vector<RunEvidence>& repetitions);

struct OutsideBand {
    std::int64_t looked = 0, outside = 0;
    [[nodiscard]] bool is_outside() const {
        return looked >= ControlSpread::looked_at && outside >= ControlSpread::outside_at;
    }
};
/// Of the last 60 smoothed steps of a run.
[[nodiscard]] OutsideBand steps_outside(const ControlSpread& spread, const std::vector<StepRow>& steps);

/// A smoothed loss of each step from the 20th on; a loss that isn't finite is left out of its means.
[[nodiscard]] std::vector<std::pair<std::int64_t, double>> smoothed_losses(const std::vector<StepRow>& steps);

/// The bands as sentences, for table and report; empty for a comparison without replicas.
[[nodiscard]] std::vector<std::string> band_lines(const ComparisonEvidence& evidence, const TextCatalogue& texts);

}  // namespace mantissa
