// Time and memory as measured, with the ratio to `no`. An emulated mode's speed is never judged (design rule
// 6).
#include <algorithm>

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

/// The loader above a fifth of the step, else half products that the trial saw to be slower; what neither explains stays unnamed.
void name_cause(const RunCase& one, const RunCase& control, Finding& finding) {
    constexpr double loader_limit = 0.2;
    double data = 0, step = 0;
    for (const StepRow& row : one.run.rows.steps) {
        data += static_cast<double>(row.data_ns);
        step += static_cast<double>(row.step_ns);
    }
    const auto count = static_cast<double>(std::max<std::size_t>(one.run.rows.steps.size(), 1));
    finding.next("plain");
    if (data > loader_limit * (data + step)) {
        finding.next("loader").set("loader", readable_percent(data / (data + step), 0));
        finding.set("data", readable_number(data / count / 1e6)).set("whole", readable_number((data + step) / count / 1e6));
        return;
    }
    const auto &mine = one.run.trial, &theirs = control.run.trial;
    if (!mine || !theirs || !mine->runs || !theirs->runs || theirs->step_ms <= 0 || mine->multiply_adds_half == 0) return;
    if (mine->step_ms <= slower_limit * theirs->step_ms) return;
    finding.next("products").number("trial", mine->step_ms).number("control_trial", theirs->step_ms);
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
