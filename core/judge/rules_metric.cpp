// The validation metric against the control.
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "judge/metric_ruler.h"
#include "judge/verdict_rules.h"

namespace mantissa {

double two_standard_errors(double share, std::int64_t samples) {
    if (samples <= 0) return 1.0;
    const auto count = static_cast<double>(samples);
    const double least = (1.0 / count) * (1.0 - 1.0 / count);
    return 2.0 * std::sqrt(std::max(share * (1.0 - share), least) / count);
}

std::optional<MetricComparison> compare_accuracy(const RunCase& run, const RunCase& control) {
    const RunSummary& mine = run.run.summary;
    const RunSummary& theirs = control.run.summary;
    if (!run.finished() || !control.finished() || mine.steps != theirs.steps) return {};
    if (mine.metric_name != "accuracy" || theirs.metric_name != "accuracy" || !mine.metric || !theirs.metric)
        return {};
    if (!std::isfinite(*mine.metric) || !std::isfinite(*theirs.metric)) return {};
    if (mine.validation_samples <= 0 || mine.validation_samples != theirs.validation_samples) return {};
    MetricComparison comparison{*mine.metric, *theirs.metric, 0, mine.validation_samples};
    comparison.noise = two_standard_errors(comparison.control, comparison.samples);
    return comparison;
}

namespace rules {
namespace {

Finding metric_finding(const char* code, const char* severity, const RunCase& one,
                       const MetricComparison& metric) {
    Finding finding(code, severity, one.mode_name());
    finding.set("metric", readable_percent(metric.value)).set("control", readable_percent(metric.control));
    finding.set("noise", readable_number(100 * metric.noise, 2)).count("samples", metric.samples);
    finding.set("difference", readable_number(100 * std::abs(metric.difference()), 2));
    return finding;
}

/// Second sentence of "the same": choose by cost, as far as the cost was measured.
void advise_cost(const Case& all, const RunCase& one, Finding& finding) {
    const RunSummary& mine = one.run.summary;
    const RunSummary& theirs = all.control()->run.summary;
    if (one.emulated()) {
        finding.next("emulated").set("device", mine.device);
        return;
    }
    if (mine.step_ms_median && theirs.step_ms_median && *theirs.step_ms_median > 0) {
        finding.set("time", readable_number(*mine.step_ms_median / *theirs.step_ms_median));
    }
    if (mine.memory_peak_bytes > 0 && theirs.memory_peak_bytes > 0) {
        finding.set("memory", readable_number(static_cast<double>(mine.memory_peak_bytes) /
                                              static_cast<double>(theirs.memory_peak_bytes)));
    }
    const RunCase& control = *all.control();
    if (!all.times_shared() && !enough_for_time(one, control)) {
        finding.next("few_steps").count("steps", std::min(one.figures.attempts, control.figures.attempts));
        return;
    }
    finding.next(all.times_shared() ? "shared" : "measured");
}

template <typename Make>
std::vector<Finding> for_each_metric(const Case& all, Make make) {
    std::vector<Finding> findings;
    const RunCase* control = all.control();
    if (control == nullptr || control->figures.in_trouble()) return findings;
    for (const RunCase& one : all.runs()) {
        // The article's order: a run that broke, or never moved a weight, has no metric to compare.
        if (!one.is_half() || one.figures.in_trouble() || one.figures.applied == 0) continue;
        if (const auto metric = compare_accuracy(one, *control)) make(one, *metric, findings);
    }
    return findings;
}

}  // namespace

std::vector<Finding> differs(const Case& all) {
    return for_each_metric(
        all, [](const RunCase& one, const MetricComparison& metric, std::vector<Finding>& findings) {
            if (metric.same()) return;
            const bool worse = metric.difference() < 0;
            findings.push_back(metric_finding("differs", worse ? "warning" : "note", one, metric)
                                   .what(worse ? "worse" : "better"));
        });
}

std::vector<Finding> same_within_noise(const Case& all) {
    return for_each_metric(
        all, [&](const RunCase& one, const MetricComparison& metric, std::vector<Finding>& findings) {
            if (!metric.same()) return;
            Finding finding = metric_finding("same_within_noise", "ok", one, metric);
            advise_cost(all, one, finding);
            findings.push_back(std::move(finding));
        });
}

}  // namespace rules
}  // namespace mantissa
