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

std::string metric_words(const std::string& name, double value) {
    return name == "accuracy" ? readable_percent(value) : readable_number(value, 4);
}

std::optional<MetricComparison> compare_metric(const RunCase& run, const RunCase& control,
                                               const std::optional<ControlSpread>& spread) {
    const RunSummary& mine = run.run.summary;
    const RunSummary& theirs = control.run.summary;
    if (!run.finished() || !control.finished() || mine.steps != theirs.steps) return {};
    if (mine.metric_name.empty() || mine.metric_name != theirs.metric_name || !mine.metric || !theirs.metric) return {};
    if (!spread && mine.metric_name != "accuracy") return {};
    if (!std::isfinite(*mine.metric) || !std::isfinite(*theirs.metric)) return {};
    if (mine.validation_samples <= 0 || mine.validation_samples != theirs.validation_samples) return {};
    MetricComparison comparison;
    comparison.value = *mine.metric;
    comparison.control = *theirs.metric;
    comparison.samples = mine.validation_samples;
    comparison.higher_is_better = mine.metric_name == "accuracy";
    comparison.noise = two_standard_errors(comparison.control, comparison.samples);
    if (spread) {
        comparison.repeated = {spread->runs, *spread->lowest, *spread->highest, steps_outside(*spread, run.run.rows.steps)};
    }
    return comparison;
}

namespace rules {
namespace {

Finding metric_finding(const char* code, const char* severity, const RunCase& one,
                       const MetricComparison& metric) {
    Finding finding(code, severity, one.mode_name());
    const std::string& name = one.run.summary.metric_name;
    finding.set("metric", metric_words(name, metric.value)).set("control", metric_words(name, metric.control));
    if (metric.repeated) {
        finding.count("runs", metric.repeated->runs)
            .set("low", metric_words(name, metric.repeated->lowest))
            .set("high", metric_words(name, metric.repeated->highest))
            .count("outside", metric.repeated->loss.outside)
            .count("looked", metric.repeated->loss.looked);
        return finding;
    }
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
        if (const auto metric = compare_metric(one, *control, all.spread())) make(one, *metric, findings);
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
                                   .what(std::string(worse ? "worse" : "better") + (metric.repeated ? "_repeated" : ""))
                                   .next(metric.repeated ? worse ? "worse_repeated" : "better_repeated" : "repeat"));
        });
}

std::vector<Finding> same_within_noise(const Case& all) {
    return for_each_metric(
        all, [&](const RunCase& one, const MetricComparison& metric, std::vector<Finding>& findings) {
            if (!metric.same()) return;
            Finding finding = metric_finding("same_within_noise", "ok", one, metric);
            finding.what(!metric.repeated ? "errors" : metric.in_range() ? "repeated" : "repeated_loss");
            advise_cost(all, one, finding);
            findings.push_back(std::move(finding));
        });
}

}  // namespace rules
}  // namespace mantissa
