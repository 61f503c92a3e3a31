#include "judge/live_headline.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/numbers.h"
#include "judge/case.h"
#include "judge/overflow.h"
#include "judge/texts.h"

namespace mantissa {
namespace {

struct StateSentence {
    std::string key;
    TextValues values;
    std::string severity;
    int weight = 0;  // the heaviest is said
};

std::string filled(const TextCatalogue& texts, const StateSentence& sentence) {
    const auto text = texts.fill(sentence.key, sentence.values);
    return text ? *text : describe(text.error());
}

bool goes_on(const LiveRunState& run) {
    return !is_end_state(run.state) && run.state != RunState::Queued;
}

TextValues base_values(const LiveRunState& run) {
    return {{"mode", to_string(run.mode)},
            {"steps", readable_count(run.steps)},
            {"planned", readable_count(run.planned_steps)},
            {"faults", readable_count(run.skipped_fault)},
            {"probing", readable_count(run.skipped_probing)},
            {"reason", run.state_reason}};
}

StateSentence stall_sentence(const LiveRunState& run, const TextCatalogue& texts) {
    const Stall& stall = *run.stall;
    const StateSentence where = stall.last_step ? StateSentence{"headlines.at_step", {{"step", readable_count(*stall.last_step)}}, "", 0}
                                                : StateSentence{"headlines.before_first_step", {}, "", 0};
    const std::string ending = stall.has_pulse ? "" : stall.rank ? "_rank" : "_silent";
    TextValues values{{"mode", to_string(run.mode)}, {"seconds", readable_count(stall.seconds)}, {"where", filled(texts, where)}};
    if (stall.rank) values["rank"] = std::to_string(*stall.rank);
    return {"headlines.no_progress" + ending, values, "warning", 88};
}

StateSentence state_sentence(const LiveRunState& run, const TextCatalogue& texts) {
    if (run.stall) return stall_sentence(run, texts);
    TextValues values = base_values(run);
    const bool named = !run.where.empty();
    if (named) values["where"] = run.where;
    values["limit"] = readable_number(largest_finite(run.mode), 5);
    const bool has_limit = named && run.mode != Precision::No;
    if (run.first_nonfinite_step) {
        values["step"] = readable_count(*run.first_nonfinite_step);
        const std::string ending = has_limit ? "_where" : "";
        if (run.state == RunState::StoppedNonfinite)
            return {"headlines.stopped_nonfinite" + ending, values, "error", 90};
        if (run.state == RunState::Paused)
            return {"headlines.paused_nonfinite" + ending, values, "error", 85};
        if (run.state != RunState::Lost && run.state != RunState::Failed)
            return {"headlines.nonfinite" + ending, values, "error", 80};
    }
    switch (run.state) {
        case RunState::Lost:
            return {run.state_reason.empty() ? "headlines.lost" : "headlines.lost_reason", values, "error",
                    100};
        case RunState::Failed:
            return {run.state_reason.empty() ? "headlines.failed" : "headlines.failed_reason", values,
                    "error", 95};
        case RunState::StoppedNonfinite:
            return {"headlines.stopped_nonfinite_unknown", values, "error", 90};
        case RunState::Interrupted:
            return {"headlines.interrupted", values, "warning", 60};
        case RunState::Stopped:
            return {"headlines.stopped", values, "note", 50};
        case RunState::Paused:
            return {"headlines.paused", values, "note", 40};
        case RunState::Queued:
        case RunState::Trial:
        case RunState::Running:
        case RunState::Finished:
            break;
    }
    if (run.skipped_fault > 0) return {"headlines.faults", values, "warning", 70};
    return {"", values, "ok", 0};
}

/// "no, fp16 and bf16" in the words of the language.
std::string joined_modes(const std::vector<LiveRunState>& runs, const TextCatalogue& texts,
                         bool (*wanted)(const LiveRunState&), std::size_t& count) {
    std::vector<std::string> names;
    for (const LiveRunState& run : runs) {
        if (wanted(run)) names.emplace_back(to_string(run.mode));
    }
    count = names.size();
    std::string list;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0)
            list += filled(
                texts, {i + 1 == names.size() ? "headlines.list.and" : "headlines.list.comma", {}, "", 0});
        list += names[i];
    }
    return list;
}

StateSentence repeating_sentence(const Repeating& repeating) {
    return {"headlines.repeating", {{"at", readable_count(repeating.at)}, {"planned", readable_count(repeating.planned)}}, "", 0};
}

StateSentence calm_sentence(const std::vector<LiveRunState>& runs, const TextCatalogue& texts) {
    const auto all_in = [&](RunState state) {
        return std::all_of(runs.begin(), runs.end(),
                           [&](const LiveRunState& run) { return run.state == state; });
    };
    std::size_t count = 0;
    TextValues values{{"modes", joined_modes(
                                    runs, texts, [](const LiveRunState&) { return true; }, count)}};
    values["count"] = std::to_string(count);
    if (all_in(RunState::Finished)) return {"headlines.finished", values, "ok", 0};
    if (all_in(RunState::Queued)) return {"headlines.queued", values, "ok", 0};
    if (std::any_of(runs.begin(), runs.end(),
                    [](const LiveRunState& run) { return run.state == RunState::Trial; })) {
        return {"headlines.trial", values, "ok", 0};
    }
    std::int64_t steps = 0, planned = 0, probing = 0;
    for (const LiveRunState& run : runs) {
        planned = std::max(planned, run.planned_steps);
        probing += run.skipped_probing;
        steps = &run == &runs.front() ? run.steps : std::min(steps, run.steps);
    }
    values["steps"] = readable_count(steps);
    values["planned"] = readable_count(planned);
    values["probing"] = readable_count(probing);
    return {probing > 0 ? "headlines.training_probing" : "headlines.training", values, "ok", 0};
}

/// Several paused runs are one state of affairs, not several things to look at.
StateSentence paused_sentence(const std::vector<LiveRunState>& runs, const TextCatalogue& texts) {
    const auto paused = [](const LiveRunState& run) { return run.state == RunState::Paused; };
    std::size_t count = 0;
    TextValues values{{"modes", joined_modes(runs, texts, paused, count)}};
    std::int64_t steps = std::numeric_limits<std::int64_t>::max(), planned = 0;
    for (const LiveRunState& run : runs) {
        if (paused(run)) {
            steps = std::min(steps, run.steps);
            planned = std::max(planned, run.planned_steps);
        }
    }
    values["count"] = std::to_string(count);
    values["steps"] = readable_count(steps);
    values["planned"] = readable_count(planned);
    return {"headlines.paused_several", values, "note", 40};
}

}  // namespace

LiveRunState live_run_state(const RunSummary& summary, const std::vector<IncidentRow>& incidents) {
    LiveRunState state{summary.mode,
                       summary.state,
                       summary.state_reason,
                       summary.steps,
                       summary.planned_steps,
                       summary.first_nonfinite_step,
                       summary.skipped_probing,
                       summary.skipped_fault,
                       {},
                       {}};
    if (const IncidentRow* found = format_overflow(incidents))
        state.where = place_name(found->module, found->op);
    return state;
}

LiveHeadline live_headline(const std::vector<LiveRunState>& runs, std::string_view language,
                           const std::optional<Repeating>& repeating) {
    const auto texts = text_catalogue(language);
    if (!texts) return {describe(texts.error()), "error"};
    if (runs.empty()) return {filled(**texts, {"headlines.nothing", {}, "ok", 0}), "ok"};
    StateSentence worst;
    std::size_t others = 0;
    for (const LiveRunState& run : runs) {
        const StateSentence sentence = state_sentence(run, **texts);
        if (sentence.weight > 0 && worst.weight > 0) ++others;
        if (sentence.weight > worst.weight) worst = sentence;
    }
    if (worst.weight == 0) worst = calm_sentence(runs, **texts);
    if (worst.key == "headlines.paused" && others > 0) {
        worst = paused_sentence(runs, **texts);  // the least of the sentences, so the others are paused too
        others = 0;
    }
    LiveHeadline headline{filled(**texts, worst), worst.severity};
    const std::string gap = (*texts)->language() == "zh" ? "" : " ";
    if (repeating) headline.text += gap + filled(**texts, repeating_sentence(*repeating));
    if (worst.weight == 0) return headline;
    if (others > 0)
        headline.text +=
            gap + filled(**texts, {"headlines.others", {{"count", std::to_string(others)}}, "", 0});
    std::size_t count = 0;
    // A run with a bad value that goes on (mark) is what the first sentence is about.
    std::vector<LiveRunState> fine;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(fine),
                 [&](const LiveRunState& run) { return goes_on(run) && state_sentence(run, **texts).weight == 0; });
    const std::string going = joined_modes(fine, **texts, [](const LiveRunState&) { return true; }, count);
    if (count > 0) {
        headline.text +=
            gap +
            filled(**texts, {"headlines.go_on", {{"modes", going}, {"count", std::to_string(count)}}, "", 0});
    }
    return headline;
}

}  // namespace mantissa
