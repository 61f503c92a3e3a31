// Time and memory as measured, with the ratio to `no`. An emulated mode's speed is never judged (design rule
// 6).
#include <algorithm>
#include <optional>

#include "base/numbers.h"
#include "judge/metric_ruler.h"
#include "judge/verdict_rules.h"

namespace mantissa {

bool enough_for_time(const RunCase& run, const RunCase& control) {
    constexpr std::int64_t enough_steps = 30;
    return run.figures.attempts >= enough_steps && control.figures.attempts >= enough_steps;
}

namespace rules {
namespace {

constexpr double slower_limit = 1.1;

/// A broken run has no cost worth a sentence.
bool comparable(const RunCase& one, const RunCase& control) {
    if (one.figures.in_trouble() || control.figures.in_trouble()) return false;
    return one.is_half() && enough_for_time(one, control);
}

struct DataTime {
    double data_ms = 0, whole_ms = 0;  // a step's means
    [[nodiscard]] double share() const { return whole_ms > 0 ? data_ms / whole_ms : 0; }
};

DataTime data_time(const std::vector<StepRow>& steps) {
    DataTime time;
    for (const StepRow& row : steps) {
        time.data_ms += static_cast<double>(row.data_ns) / 1e6;
        time.whole_ms += static_cast<double>(row.data_ns + row.step_ns) / 1e6;
    }
    const auto count = static_cast<double>(std::max<std::size_t>(steps.size(), 1));
    return {time.data_ms / count, time.whole_ms / count};
}

std::optional<OpTime> op_time(const RunCase& one) {
    const auto& trial = one.run.trial;
    return trial && trial->runs && trial->op_time && trial->op_time->step_ms > 0 ? trial->op_time : std::nullopt;
}

/// One of three: the loader; what lies outside products and convolutions; half products that are slower themselves. Where the last two
/// both hold, the one with the larger part of the extra time.
void name_cause(const RunCase& one, const RunCase& control, Finding& finding) {
    constexpr double loader_limit = 0.2, outside_limit = 0.3;
    const DataTime data = data_time(one.run.rows.steps);
    finding.set("loader", readable_percent(data.share(), 0));
    finding.set("data", readable_number(data.data_ms)).set("whole", readable_number(data.whole_ms));
    if (data.share() > loader_limit) {
        finding.next("loader");
        return;
    }
    finding.next("plain");
    const auto mine = op_time(one), theirs = op_time(control);
    if (!mine || !theirs) return;
    const auto outside_ms = [](const OpTime& time) { return time.step_ms - time.products_ms; };
    const double outside = outside_ms(*mine) / mine->step_ms;
    finding.set("outside", readable_percent(outside, 0)).number("outside_ms", outside_ms(*mine)).number("trial", mine->step_ms);
    finding.number("products", mine->products_ms).number("control_products", theirs->products_ms);
    const bool is_outside = outside > outside_limit;
    const bool are_products = one.run.trial->multiply_adds_half > 0 && mine->products_ms > slower_limit * theirs->products_ms;
    const bool more_by_products = mine->products_ms - theirs->products_ms > outside_ms(*mine) - outside_ms(*theirs);
    finding.next(are_products && (more_by_products || !is_outside) ? "products" : is_outside ? "outside" : "none");
}

}  // namespace

std::vector<Finding> slower(const Case& all) {
    std::vector<Finding> findings;
    const RunCase* control = all.control();
    if (control == nullptr || all.times_shared()) return findings;
    for (const RunCase& one : all.runs()) {
        const auto mine = one.run.summary.step_ms_median, theirs = control->run.summary.step_ms_median;
        if (!comparable(one, *control) || one.run.summary.support != Support::Native) continue;
        if (!mine || !theirs || *theirs <= 0 || *mine / *theirs <= slower_limit) continue;
        findings.push_back(Finding("slower", "note", one.mode_name())
                               .number("time", *mine)
                               .number("control", *theirs)
                               .set("ratio", readable_number(*mine / *theirs))
                               .count("steps", one.figures.attempts)
                               .set("device", one.run.summary.device));
        name_cause(one, *control, findings.back());
    }
    return findings;
}

std::vector<Finding> memory_not_lower(const Case& all) {
    std::vector<Finding> findings;
    const RunCase* control = all.control();
    if (control == nullptr) return findings;
    for (const RunCase& one : all.runs()) {
        const auto mine = one.run.summary.memory_peak_bytes, theirs = control->run.summary.memory_peak_bytes;
        if (!comparable(one, *control) || mine <= 0 || theirs <= 0 || mine < theirs) continue;
        findings.push_back(
            Finding("memory_not_lower", "note", one.mode_name())
                .set("memory", readable_bytes(static_cast<std::uint64_t>(mine)))
                .set("control", readable_bytes(static_cast<std::uint64_t>(theirs)))
                .set("ratio", readable_number(static_cast<double>(mine) / static_cast<double>(theirs))));
    }
    return findings;
}

}  // namespace rules
}  // namespace mantissa
