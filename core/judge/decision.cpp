#include "judge/decision.h"

#include <algorithm>

#include "base/numbers.h"
#include "judge/decision_gates.h"
#include "judge/metric_ruler.h"
#include "judge/overflow.h"

namespace mantissa {
namespace {

constexpr double worth_it = 0.95;  // a ratio above that is no gain worth another precision
constexpr double costs_more = 1.05;

std::vector<Precision> half_modes(const Case& all) {
    std::vector<Precision> modes;
    for (const Precision mode : all.evidence().modes) {
        if (mode != Precision::No) modes.push_back(mode);
    }
    for (const RunCase& one : all.runs()) {
        if (one.is_half() && std::find(modes.begin(), modes.end(), one.mode()) == modes.end())
            modes.push_back(one.mode());
    }
    return modes;
}

DecisionDraft not_decidable(std::string code, std::vector<Sentence> reasons, const char* change) {
    DecisionDraft draft;
    draft.code = std::move(code);
    draft.reasons = std::move(reasons);
    draft.would_change_it.push_back({std::string("decisions.change.") + change, {}});
    return draft;
}

std::vector<Sentence> all_reasons(const std::vector<GateResult>& results) {
    std::vector<Sentence> reasons;
    for (const GateResult& result : results)
        reasons.insert(reasons.end(), result.reasons.begin(), result.reasons.end());
    return reasons;
}

/// What forbids a decision before any mode is looked at: an unfair comparison, a control that is missing, bad
/// or incomplete.
std::optional<DecisionDraft> obstacle(const Case& all, const Fairness& fairness,
                                      const std::vector<Sentence>& reasons) {
    if (fairness.known && !fairness.fair) return not_decidable("unfair", reasons, "fair");
    const RunCase* control = all.control();
    if (control == nullptr) return not_decidable("no_control", reasons, "control");
    // As learning_rate looks at it: a control that had grown when another run broke is no ruler, wherever it ends.
    const ControlHealth then = all.control_health_at_failure();
    const ControlHealth health = then.grown() ? then : all.control_health_until({});
    if (!control->figures.in_trouble() && !health.grown() && control->finished()) return {};
    if (control->figures.in_trouble()) {
        DecisionDraft draft = not_decidable("control_nonfinite", reasons, "mend_control");
        draft.values["step"] = readable_count(*control->figures.trouble_step());
        return draft;
    }
    if (health.grown()) {
        DecisionDraft draft = not_decidable("control_grown", reasons, "learning_rate");
        draft.values["growth"] = readable_number(health.loss_growth.value_or(1.0));
        draft.values["norm"] = readable_number(health.norm_growth.value_or(1.0));
        return draft;
    }
    DecisionDraft draft = not_decidable("control_unfinished", reasons, "finish_control");
    draft.values["steps"] = readable_count(control->figures.attempts);
    draft.values["state"] = to_string(control->run.summary.state);
    return draft;
}

/// A time that wasn't judged is forgiven only where all modes shared the machine; after too few steps nothing
/// is known.
bool gains(const GateResult& result, bool times_shared) {
    if (result.emulated || (!result.time_ratio && !times_shared)) return false;
    const double time = result.time_ratio.value_or(1.0), memory = result.memory_ratio.value_or(1.0);
    return (time <= worth_it && memory <= costs_more) || (memory <= worth_it && time <= costs_more);
}

/// Cheaper first; within 5 % bf16 goes first, since it needs no loss scale.
bool better(const GateResult& a, const GateResult& b) {
    const double ta = a.time_ratio.value_or(1.0), tb = b.time_ratio.value_or(1.0);
    if (ta < tb * worth_it || tb < ta * worth_it) return ta < tb;
    if ((a.mode == Precision::Bf16) != (b.mode == Precision::Bf16)) return a.mode == Precision::Bf16;
    return a.memory_ratio.value_or(1.0) < b.memory_ratio.value_or(1.0);
}

std::string names(const std::vector<GateResult>& results) {
    std::vector<Precision> modes;
    for (const GateResult& result : results) modes.push_back(result.mode);
    return mode_list(modes);
}

/// "bf16 ×1.48 / ×1.03": time and memory to the control.
std::string costs(const std::vector<GateResult>& results) {
    const auto ratio = [](const std::optional<double>& value) {
        return value ? "×" + readable_number(*value) : std::string("–");
    };
    std::string text;
    for (const GateResult& result : results) {
        text += (text.empty() ? "" : ", ") + std::string(to_string(result.mode)) + " " +
                ratio(result.time_ratio) + " / " + ratio(result.memory_ratio);
    }
    return text;
}

bool is_timed(const std::vector<GateResult>& native) {
    return std::any_of(native.begin(), native.end(),
                       [](const GateResult& one) { return one.time_ratio.has_value(); });
}

void describe_no_gain(const Case& all, const std::vector<GateResult>& passed, DecisionDraft& draft) {
    std::vector<GateResult> emulated, native;
    for (const GateResult& one : passed) (one.emulated ? emulated : native).push_back(one);
    std::vector<GateResult> better;
    std::copy_if(passed.begin(), passed.end(), std::back_inserter(better),
                 [](const GateResult& one) { return one.better; });
    draft.code = !better.empty()     ? "keep_no_better"
                 : native.empty()    ? "keep_no_emulated"
                 : !is_timed(native) ? "keep_no_untimed"
                 : emulated.empty()  ? "keep_no_no_gain"
                                     : "keep_no_mixed";
    if (!better.empty()) draft.values["better"] = names(better);
    draft.values["passed"] = names(passed);
    draft.values["count"] = std::to_string(passed.size());
    draft.values["device"] = all.control()->run.summary.device;
    draft.values["costs"] = costs(native);
    draft.values["native"] = names(native);
    draft.values["native_count"] = std::to_string(native.size());
    draft.values["emulated"] = names(emulated);
    draft.values["emulated_count"] = std::to_string(emulated.size());
    // Where both are native, bf16 is the one that needs no loss scale.
    const bool has_bf16 = std::any_of(emulated.begin(), emulated.end(),
                                      [](const GateResult& one) { return one.mode == Precision::Bf16; });
    if (!emulated.empty()) draft.values["best"] = has_bf16 ? "bf16" : to_string(emulated.front().mode);
}

DecisionDraft choose(const Case& all, std::vector<GateResult> passed, const std::vector<GateResult>& failed) {
    DecisionDraft draft;
    draft.mode = Precision::No;
    const auto metric = all.control()->run.summary.metric;
    const std::string& metric_name = all.control()->run.summary.metric_name;
    std::stable_sort(passed.begin(), passed.end(), better);
    std::vector<GateResult> gaining;
    std::copy_if(passed.begin(), passed.end(), std::back_inserter(gaining),
                 [&](const GateResult& one) { return gains(one, all.times_shared()); });
    draft.values["control"] = metric ? metric_words(metric_name, *metric) : "-";
    if (passed.empty()) {
        draft.code = "keep_no_all_failed";
        draft.values["failed"] = names(failed);
    } else if (!gaining.empty()) {
        const GateResult& best = gaining.front();
        draft.mode = best.mode;
        draft.code = best.time_ratio ? "take" : "take_for_memory";
        draft.values["best"] = to_string(best.mode);
        const auto own = all.run(best.mode)->run.summary.metric;
        draft.values["metric"] = own ? metric_words(metric_name, *own) : "-";
        if (best.time_ratio) draft.values["time"] = "×" + readable_number(*best.time_ratio);
        draft.values["memory"] = best.memory_ratio ? "×" + readable_number(*best.memory_ratio) : "–";
    } else {
        describe_no_gain(all, passed, draft);
    }
    if (!failed.empty() && !passed.empty()) {
        const bool only_worse = std::all_of(failed.begin(), failed.end(), [](const GateResult& one) {
            return one.failed_at == Gate::Metric;
        });
        draft.code += only_worse ? "_some_worse" : "_some_failed";
        draft.values["failed"] = names(failed);
        draft.values["failed_count"] = std::to_string(failed.size());
    }
    return draft;
}

void add_what_would_change(const Case& all, const Fairness& fairness, const std::vector<GateResult>& results,
                           DecisionDraft& draft) {
    constexpr std::int64_t enough_repetitions = 3;
    const std::int64_t repetitions = all.spread() ? all.spread()->runs - 1 : 0;
    if (repetitions < enough_repetitions) draft.would_change_it.push_back({"decisions.change.repetitions", {}});
    draft.confidence = repetitions >= enough_repetitions ? "high" : repetitions > 0 ? "medium" : "low";
    std::vector<Precision> emulated;
    for (const GateResult& result : results) {
        if (result.emulated && result.failed_at == Gate::Passed) emulated.push_back(result.mode);
    }
    if (!emulated.empty())
        draft.would_change_it.push_back({"decisions.change.native", {{"modes", mode_list(emulated)}}});
    for (const GateResult& result : results) {
        const RunCase* one = all.run(result.mode);
        if (result.failed_at != Gate::Range || one == nullptr) continue;
        const IncidentRow* incident = format_overflow(one->run.rows.incidents);
        std::string module = incident != nullptr ? incident->module : std::string();
        if (module.empty() && one->run.trial && one->run.trial->headroom_bits &&
            !(*one->run.trial->headroom_bits >= 0)) {
            module = one->run.trial->headroom_module;
        }
        if (module.empty()) continue;
        draft.would_change_it.push_back(
            {"decisions.change.island", {{"mode", to_string(result.mode)}, {"module", module}}});
    }
    for (const GateResult& result : results) {
        const RunCase* one = all.run(result.mode);
        if (result.failed_at == Gate::Range && one != nullptr && one->figures.applied == 0 &&
            !one->figures.in_trouble() && one->figures.faults == 0)
            draft.would_change_it.push_back(
                {"decisions.change.lower_scale", {{"mode", to_string(result.mode)}}});
    }
    if (!all.times_shared() && all.control() != nullptr && !enough_for_time(*all.control(), *all.control()))
        draft.would_change_it.push_back({"decisions.change.more_steps", {}});
    if (all.times_shared()) draft.would_change_it.push_back({"decisions.change.turns", {}});
    if (!fairness.known) draft.would_change_it.push_back({"decisions.change.fairness_unknown", {}});
}

bool all_ended(const Case& all) {
    return !all.runs().empty() && std::all_of(all.runs().begin(), all.runs().end(), [](const RunCase& one) {
        return is_end_state(one.run.summary.state);
    });
}

}  // namespace

std::optional<DecisionDraft> decide(const Case& all, const Fairness& fairness) {
    const auto modes = half_modes(all);
    if (modes.empty() || !all_ended(all)) return {};
    std::vector<GateResult> results, passed, failed;
    for (const Precision mode : modes) results.push_back(pass_gates(all, mode));
    for (const GateResult& result : results)
        (result.failed_at == Gate::Passed ? passed : failed).push_back(result);

    const auto reasons = all_reasons(results);
    if (auto blocked = obstacle(all, fairness, reasons)) return blocked;
    const auto unfinished =
        std::find_if(passed.begin(), passed.end(), [](const GateResult& one) { return !one.finished; });
    if (unfinished != passed.end()) {
        DecisionDraft draft = not_decidable("unfinished", reasons, "finish");
        draft.values["mode"] = to_string(unfinished->mode);
        return draft;
    }
    if (std::any_of(passed.begin(), passed.end(), [](const GateResult& one) { return !one.metric_known; })) {
        const bool data = all.control()->run.summary.validation_samples > 0 &&
                          all.control()->run.summary.metric.has_value();
        return not_decidable(data ? "no_ruler" : "no_validation", reasons,
                             data ? "repetitions" : "validation");
    }
    DecisionDraft draft = choose(all, passed, failed);
    draft.reasons = reasons;
    add_what_would_change(all, fairness, results, draft);
    return draft;
}

Result<Decision> fill_decision(const DecisionDraft& draft, const TextCatalogue& texts) {
    const auto text = texts.fill("decisions." + draft.code, draft.values);
    if (!text) return text.error();
    return Decision{draft.mode,
                    "decision_" + draft.code,
                    draft.values,
                    *text,
                    fill_facts(draft.reasons, texts),
                    draft.confidence,
                    fill_facts(draft.would_change_it, texts)};
}

}  // namespace mantissa
