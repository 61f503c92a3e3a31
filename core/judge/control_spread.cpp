#include "judge/control_spread.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/numbers.h"
#include "judge/evidence.h"
#include "judge/finding.h"
#include "judge/metric_ruler.h"

namespace mantissa {
namespace {

const RunEvidence* control_of(const ComparisonEvidence& evidence) {
    for (const RunEvidence& run : evidence.runs) {
        if (run.summary.mode == Precision::No) return &run;
    }
    return nullptr;
}

/// Ran like the control, to its end, with finite losses.
bool repeats(const RunEvidence& run, const RunEvidence& control) {
    if (run.summary.state != RunState::Finished || run.summary.steps != control.summary.steps) return false;
    return std::all_of(run.rows.steps.begin(), run.rows.steps.end(), [](const StepRow& row) { return std::isfinite(row.loss); });
}

void widen(ControlSpread& spread, const std::optional<double>& metric) {
    if (!metric || !std::isfinite(*metric)) return;
    spread.lowest = std::min(spread.lowest.value_or(*metric), *metric);
    spread.highest = std::max(spread.highest.value_or(*metric), *metric);
}

TextValues range_values(const RunSummary& control, const ControlSpread& spread) {
    return {{"low", metric_words(control.metric_name, *spread.lowest)}, {"high", metric_words(control.metric_name, *spread.highest)}};
}

}  // namespace

std::vector<std::pair<std::int64_t, double>> smoothed_losses(const std::vector<StepRow>& steps) {
    std::vector<std::pair<std::int64_t, double>> smoothed;
    double sum = 0;
    std::int64_t count = 0;
    const auto window = static_cast<std::size_t>(ControlSpread::smoothing);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto add = [&](const StepRow& row, int sign) {
            if (!std::isfinite(row.loss)) return;
            sum += sign * row.loss;
            count += sign;
        };
        add(steps[i], 1);
        if (i >= window) add(steps[i - window], -1);
        if (i + 1 >= window && count > 0) smoothed.emplace_back(steps[i].step, sum / static_cast<double>(count));
    }
    return smoothed;
}

ControlSpread control_spread(const RunEvidence& control, const std::vector<RunEvidence>& repetitions) {
    ControlSpread spread;
    std::vector<const RunEvidence*> all{&control};
    for (const RunEvidence& run : repetitions) {
        if (repeats(run, control)) all.push_back(&run);
    }
    spread.runs = static_cast<std::int64_t>(all.size());
    struct Sums {
        std::int64_t count = 0;
        double sum = 0, squares = 0;
    };
    std::map<std::int64_t, Sums> sums;
    for (const RunEvidence* run : all) {
        widen(spread, run->summary.metric);
        for (const auto& [step, loss] : smoothed_losses(run->rows.steps)) {
            Sums& one = sums[step];
            ++one.count;
            one.sum += loss;
            one.squares += loss * loss;
        }
    }
    for (const auto& [step, one] : sums) {
        if (one.count != spread.runs || one.count < 2) continue;
        const auto count = static_cast<double>(one.count);
        const double mean = one.sum / count;
        const double variance = std::max(0.0, (one.squares - count * mean * mean) / (count - 1));
        spread.band.push_back({step, mean, std::sqrt(variance)});
    }
    return spread;
}

OutsideBand steps_outside(const ControlSpread& spread, const std::vector<StepRow>& steps) {
    OutsideBand result;
    const auto smoothed = smoothed_losses(steps);
    const auto looked = static_cast<std::ptrdiff_t>(ControlSpread::looked_at);
    const auto begin = std::ssize(smoothed) > looked ? smoothed.end() - looked : smoothed.begin();
    for (auto one = begin; one != smoothed.end(); ++one) {
        const auto point = std::lower_bound(spread.band.begin(), spread.band.end(), one->first,
                                            [](const BandPoint& a, std::int64_t step) { return a.step < step; });
        if (point == spread.band.end() || point->step != one->first) continue;
        ++result.looked;
        result.outside += std::abs(one->second - point->mean) > 2 * point->deviation ? 1 : 0;
    }
    return result;
}

std::vector<std::string> band_lines(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    const RunEvidence* control = control_of(evidence);
    if (control == nullptr) return {};
    std::vector<Sentence> facts;
    const auto add = [&](const char* kind, const std::vector<RunEvidence>& replicas) {
        if (replicas.empty()) return;
        const ControlSpread spread = control_spread(*control, replicas);
        TextValues values{{"asked", readable_count(std::ssize(replicas))}, {"ended", readable_count(spread.runs - 1)}};
        if (spread.band.empty()) {
            facts.push_back({std::string("bands.") + kind + ".none", values});
            return;
        }
        const BandPoint& last = spread.band.back();
        values["loss"] = readable_number(last.mean);
        values["deviation"] = readable_number(2 * last.deviation, 2);
        if (spread.lowest) values.merge(range_values(control->summary, spread));
        facts.push_back({std::string("bands.") + kind + (spread.lowest ? ".metric" : ".loss"), values});
    };
    add("repetition", evidence.repetitions);
    add("rounding", evidence.rounding);
    return fill_facts(facts, texts);
}

}  // namespace mantissa
