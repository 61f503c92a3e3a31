#include "judge/decision_gates.h"

#include <algorithm>

#include "base/numbers.h"

namespace mantissa {
namespace {

Sentence mode_fact(const std::string& key, Precision mode, TextValues values = {}) {
    values["mode"] = to_string(mode);
    return {key, std::move(values)};
}

constexpr double worth_telling_bits = 24;

/// Gate 1: did the mode run at all, and natively?
bool pass_support(const Case& all, Precision mode, GateResult& result) {
    const RunCase* one = all.run(mode);
    const auto& trials = all.evidence().trials;
    const auto trial =
        std::find_if(trials.begin(), trials.end(), [&](const TrialReport& t) { return t.mode == mode; });
    const bool refused = trial != trials.end() && !trial->runs && !trial->refusal.empty();
    if (one == nullptr || one->figures.attempts == 0) {
        if (refused) {
            result.reasons.push_back(
                mode_fact("decisions.reason.refused", mode, {{"reason", trial->refusal}}));
        } else if (one != nullptr && !one->run.summary.state_reason.empty()) {
            result.reasons.push_back(
                mode_fact("decisions.reason.not_started", mode, {{"reason", one->run.summary.state_reason}}));
        } else {
            result.reasons.push_back(mode_fact("decisions.reason.no_run", mode));
        }
        return false;
    }
    const RunSummary& summary = one->run.summary;
    if (summary.effective != mode) {
        result.reasons.push_back(
            mode_fact("decisions.reason.not_effective", mode, {{"effective", to_string(summary.effective)}}));
        return false;
    }
    if (summary.state == RunState::Lost || summary.state == RunState::Failed) {
        result.reasons.push_back(
            mode_fact("decisions.reason.lost", mode,
                      {{"steps", readable_count(summary.steps)},
                       {"state", to_string(summary.state)},
                       {"reason", summary.state_reason.empty() ? "-" : summary.state_reason}}));
        return false;
    }
    result.emulated = summary.support == Support::Emulated;
    result.reasons.push_back(
        mode_fact(result.emulated ? "decisions.reason.emulated" : "decisions.reason.native", mode,
                  {{"device", summary.device}}));
    return true;
}

/// The step at which the scale wanted to go below its floor.
std::optional<std::int64_t> collapse_step(const RunCase& one) {
    if (const IncidentRow* incident = one.scale_collapse()) return incident->step;
    return one.figures.first_floor_skip_step;
}

/// Gate 2: non-finite values, faults after probing, headroom.
bool pass_range(const RunCase& one, GateResult& result) {
    const RunFigures& figures = one.figures;
    const Precision mode = one.mode();
    if (const auto bad = figures.first_bad_step()) {
        result.reasons.push_back(
            mode_fact("decisions.reason.nonfinite", mode,
                      {{"step", readable_count(*bad)},
                       {"bad", readable_count(std::max<std::int64_t>(1, figures.nonfinite_losses))},
                       {"attempts", readable_count(figures.attempts)}}));
        return false;
    }
    if (figures.faults > 0) {
        result.reasons.push_back(mode_fact("decisions.reason.faults", mode,
                                           {{"faults", readable_count(figures.faults)},
                                            {"step", readable_count(figures.first_fault_step.value_or(0))},
                                            {"attempts", readable_count(figures.attempts)}}));
        return false;
    }
    if (const auto collapse = collapse_step(one)) {
        const double floor = one.run.plan.loss_scale_floor.value_or(0);
        result.reasons.push_back(
            mode_fact("decisions.reason.collapsed", mode,
                      {{"step", readable_count(*collapse)}, {"floor", readable_scale(floor)}}));
        return false;
    }
    if (figures.applied == 0) {
        result.reasons.push_back(mode_fact("decisions.reason.none_applied", mode,
                                           {{"attempts", readable_count(figures.attempts)}}));
        return false;
    }
    const auto& trial = one.run.trial;
    if (trial && trial->runs && trial->headroom_bits && !(*trial->headroom_bits >= 0)) {
        result.reasons.push_back(
            mode_fact("decisions.reason.no_headroom", mode,
                      {{"where", trial->headroom_module.empty() ? "-" : trial->headroom_module}}));
        return false;
    }
    result.reasons.push_back(mode_fact(
        "decisions.reason.in_range", mode,
        {{"attempts", readable_count(figures.attempts)}, {"probing", readable_count(figures.probing)}}));
    // The range of bf16 is that of fp32: over a hundred bits of headroom are no reason for anything.
    if (trial && trial->headroom_bits && *trial->headroom_bits < worth_telling_bits &&
        !trial->headroom_module.empty()) {
        result.reasons.push_back(mode_fact(
            "decisions.reason.headroom", mode,
            {{"bits", readable_number(*trial->headroom_bits, 2)}, {"where", trial->headroom_module}}));
    }
    return true;
}

/// Gate 3: not worse than the control by more than its noise.
bool pass_metric(const Case& all, const RunCase& one, const RunCase& control, GateResult& result) {
    const auto metric = compare_metric(one, control, all.spread());
    if (!metric) {
        result.metric_known = false;
        result.finished = one.finished();
        if (!result.finished) {
            result.reasons.push_back(mode_fact("decisions.reason.unfinished", one.mode(),
                                               {{"steps", readable_count(one.run.summary.steps)},
                                                {"control_steps", readable_count(control.run.summary.steps)},
                                                {"state", to_string(one.run.summary.state)}}));
        }
        return true;
    }
    const bool worse = !metric->same() && metric->difference() < 0;
    std::string key = worse            ? "decisions.reason.metric_worse"
                      : metric->same() ? "decisions.reason.metric_same"
                                       : "decisions.reason.metric_better";
    const std::string& name = one.run.summary.metric_name;
    TextValues values{{"metric", metric_words(name, metric->value)},
                      {"control", metric_words(name, metric->control)},
                      {"noise", readable_number(100 * metric->noise, 2)},
                      {"samples", readable_count(metric->samples)}};
    if (const auto& repeated = metric->repeated) {
        key += "_repeated";
        values["runs"] = readable_count(repeated->runs);
        values["low"] = metric_words(name, repeated->lowest);
        values["high"] = metric_words(name, repeated->highest);
        values["outside"] = readable_count(repeated->loss.outside);
        values["looked"] = readable_count(repeated->loss.looked);
    }
    result.reasons.push_back(mode_fact(key, one.mode(), std::move(values)));
    result.better = !worse && !metric->same();
    return !worse;
}

void measure_cost(const Case& all, const RunCase& one, const RunCase& control, GateResult& result) {
    const RunSummary& mine = one.run.summary;
    const RunSummary& theirs = control.run.summary;
    if (result.emulated) {
        result.reasons.push_back(
            mode_fact("decisions.reason.speed_not_judged", one.mode(), {{"device", mine.device}}));
    } else if (all.times_shared()) {
        result.reasons.push_back(mode_fact("decisions.reason.times_shared", one.mode()));
    } else if (!enough_for_time(one, control)) {
        result.reasons.push_back(
            mode_fact("decisions.reason.few_steps", one.mode(),
                      {{"steps", readable_count(std::min(one.figures.attempts, control.figures.attempts))}}));
    } else if (mine.step_ms_median && theirs.step_ms_median && *theirs.step_ms_median > 0) {
        result.time_ratio = *mine.step_ms_median / *theirs.step_ms_median;
        result.reasons.push_back(mode_fact("decisions.reason.time", one.mode(),
                                           {{"ratio", readable_number(*result.time_ratio)},
                                            {"ms", readable_number(*mine.step_ms_median)},
                                            {"control_ms", readable_number(*theirs.step_ms_median)}}));
    }
    if (mine.memory_peak_bytes > 0 && theirs.memory_peak_bytes > 0) {
        result.memory_ratio =
            static_cast<double>(mine.memory_peak_bytes) / static_cast<double>(theirs.memory_peak_bytes);
        result.reasons.push_back(mode_fact(
            "decisions.reason.memory", one.mode(),
            {{"ratio", readable_number(*result.memory_ratio)},
             {"bytes", readable_bytes(static_cast<std::uint64_t>(mine.memory_peak_bytes))},
             {"control_bytes", readable_bytes(static_cast<std::uint64_t>(theirs.memory_peak_bytes))}}));
    }
}

}  // namespace

GateResult pass_gates(const Case& all, Precision mode) {
    GateResult result;
    result.mode = mode;
    if (!pass_support(all, mode, result)) {
        result.failed_at = Gate::Support;
        return result;
    }
    const RunCase& one = *all.run(mode);
    const RunCase* control = all.control();
    if (!pass_range(one, result)) {
        result.failed_at = Gate::Range;
    } else if (control != nullptr && !pass_metric(all, one, *control, result)) {
        result.failed_at = Gate::Metric;
    } else if (control != nullptr) {
        measure_cost(all, one, *control, result);
    }
    return result;
}

}  // namespace mantissa
