#include "judge/report_sections.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "judge/control_spread.h"
#include "judge/html_text.h"
#include "judge/report_words.h"
#include "record/export_steps.h"
#include "record/run_folder.h"

namespace mantissa {

std::string word(const TextCatalogue& texts, std::string_view key, const TextValues& values) {
    const auto text = texts.fill(key, values);
    return text ? *text : std::string(key);
}

std::string or_dash(std::string text) {
    return text.empty() ? "–" : text;
}

namespace {

constexpr std::size_t most_steps_in_page = 20'000;

using html::Cell;

std::string number(const std::optional<double>& value, int significant = 4) {
    if (!value) return "–";
    if (std::isnan(*value)) return "NaN";
    if (std::isinf(*value)) return *value > 0 ? "+Inf" : "-Inf";
    return readable_number(*value, significant);
}

std::string metric_text(const std::string& name, const std::optional<double>& value) {
    return name == "accuracy" && value && std::isfinite(*value) ? readable_percent(*value) : number(value);
}

std::vector<std::string> columns(const TextCatalogue& texts, std::initializer_list<const char*> names) {
    std::vector<std::string> head;
    for (const char* name : names) head.push_back(word(texts, std::string("report.column.") + name));
    return head;
}

Cell mode_cell(Precision mode) {
    return {to_string(mode), std::string("mode ") + to_string(mode)};
}

/// A figure and, for a half run, its ratio to the control.
std::string with_ratio(const std::string& text, double mine, double theirs, bool is_control) {
    if (is_control || mine <= 0 || theirs <= 0) return text;
    return text + " (×" + readable_number(mine / theirs) + ")";
}

const RunSummary* control_of(const ComparisonEvidence& evidence) {
    const auto found = std::find_if(evidence.runs.begin(), evidence.runs.end(),
                                    [](const RunEvidence& run) { return run.summary.mode == Precision::No; });
    return found == evidence.runs.end() ? nullptr : &found->summary;
}

/// Without a `control` to compare with only the figure: so where all modes computed at once.
std::string time_text(const RunSummary& run, const RunSummary* control, const TextCatalogue& texts) {
    if (!run.step_ms_median) return "–";
    const std::string text = readable_number(*run.step_ms_median);
    if (run.mode == Precision::No) return text;
    if (run.support == Support::Emulated)
        return text + " (" + word(texts, "report.column.speed_not_judged") + ")";
    if (control == nullptr || !control->step_ms_median) return text;
    return with_ratio(text, *run.step_ms_median, *control->step_ms_median, false);
}

/// In the order of the rows of runs_html.
std::vector<Cell> run_cells(const RunSummary& run, const RunSummary* control, bool times_shared,
                            const TextCatalogue& texts) {
    const bool bad = run.nonfinite_loss_steps > 0;
    const auto memory = static_cast<double>(run.memory_peak_bytes);
    const auto control_memory = control == nullptr ? 0.0 : static_cast<double>(control->memory_peak_bytes);
    std::string state = word(texts, std::string("report.state.") + to_string(run.state));
    if (!run.state_reason.empty()) state += " (" + run.state_reason + ")";
    std::string support = word(texts, std::string("report.support.") + to_string(run.support));
    if (!run.support_reason.empty()) support += " (" + run.support_reason + ")";
    return {{to_string(run.requested), ""},
            {to_string(run.effective), run.effective == run.requested ? "" : "bad_cell"},
            {support, ""},
            {state, ""},
            {readable_count(run.steps), ""},
            {readable_count(run.applied_steps), ""},
            {readable_count(run.skipped_probing), ""},
            {readable_count(run.skipped_fault), run.skipped_fault > 0 ? "bad_cell" : ""},
            {readable_count(run.nonfinite_loss_steps), bad ? "bad_cell" : ""},
            {run.first_nonfinite_step ? readable_count(*run.first_nonfinite_step) : "–", ""},
            {number(run.final_loss), ""},
            {run.final_scale ? readable_scale(*run.final_scale) : "–", ""},
            {metric_text(run.metric_name, run.metric), ""},
            {metric_text(run.metric_name, run.best_metric), ""},
            {time_text(run, times_shared ? nullptr : control, texts), ""},
            {run.memory_peak_bytes > 0
                 ? with_ratio(readable_bytes(static_cast<std::uint64_t>(run.memory_peak_bytes)), memory,
                              control_memory, run.mode == Precision::No)
                 : "–",
             ""},
            {run.run_dir.string(), "quiet"}};
}

std::string share(std::int64_t part, std::int64_t whole) {
    if (whole <= 0) return "–";
    return readable_percent(static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::string decision_html(const ComparisonRecord& record, const TextCatalogue& texts) {
    if (!record.decision) return html::text_element("p", word(texts, "report.decision.pending"));
    const Decision& decision = *record.decision;
    std::string html = html::text_element("p", decision.text, "decision");
    const std::string confidence = word(texts, "report.confidence." + decision.confidence);
    html += html::text_element("p", word(texts, "report.decision.confidence", {{"confidence", confidence}}),
                               "quiet");
    html += html::text_element("h3", word(texts, "report.decision.reasons")) + html::list(decision.reasons);
    return html + html::text_element("h3", word(texts, "report.decision.change")) +
           html::list(decision.would_change_it);
}

std::string verdicts_html(const std::vector<Verdict>& verdicts, const TextCatalogue& texts) {
    if (verdicts.empty()) return html::text_element("p", word(texts, "report.no_verdicts"));
    std::string html;
    for (const Verdict& verdict : verdicts) {
        const std::string severity = word(texts, "report.severity." + verdict.severity);
        std::string card = html::text_element("span", severity, "badge " + verdict.severity) + " " +
                           html::text_element("code", verdict.code);
        if (!verdict.mode.empty())
            card += " " + html::text_element("span", verdict.mode, "mode " + verdict.mode);
        card += html::text_element("p", verdict.text);
        if (!verdict.evidence.empty()) card += html::list(verdict.evidence);
        html += html::element("article", card, verdict.severity) + "\n";
    }
    return html;
}

std::string runs_html(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    // Runs side by side as columns: there are at most four, and a figure is read across them.
    const auto names = columns(
        texts, {"mode", "requested", "effective", "support", "state", "steps", "applied", "probing", "faults",
                "nonfinite", "first_nonfinite", "loss", "scale", "metric", "best", "time", "memory", "run"});
    std::vector<std::string> head{names.front()}, classes{""};
    std::vector<std::vector<Cell>> rows(names.size() - 1);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back({names[i + 1], "quiet"});
    for (const RunEvidence& run : evidence.runs) {
        head.push_back(to_string(run.summary.mode));
        classes.push_back("mode " + head.back());
        const auto cells = run_cells(run.summary, control_of(evidence), evidence.order == "at-once", texts);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(cells.at(i));
    }
    const std::vector<std::string> bands = band_lines(evidence, texts);
    return html::table(head, rows, classes) + (bands.empty() ? std::string() : html::list(bands));
}

std::string fairness_html(const ComparisonRecord& record, const ComparisonEvidence& evidence,
                          const TextCatalogue& texts) {
    if (evidence.runs.size() < 2) return {};
    const char* answer = !record.fairness.known ? "unknown" : record.fairness.fair ? "yes" : "no";
    std::string html = html::text_element("p", word(texts, std::string("report.fair.") + answer),
                                          record.fairness.fair ? "" : "bad_cell");
    if (!record.fairness.differences.empty()) html += html::list(record.fairness.differences);
    return html;
}

std::string trials_html(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    std::vector<TrialReport> trials = evidence.trials;
    if (trials.empty()) {
        for (const RunEvidence& run : evidence.runs) {
            if (run.trial) trials.push_back(*run.trial);
        }
    }
    if (trials.empty()) return {};
    std::vector<std::vector<Cell>> rows;
    for (const TrialReport& trial : trials) {
        const std::string runs = trial.runs
                                     ? word(texts, "report.trial.yes")
                                     : word(texts, "report.trial.refused", {{"reason", trial.refusal}});
        const auto bits = trial.headroom_bits;
        rows.push_back(
            {mode_cell(trial.mode),
             {runs, trial.runs ? "" : "bad_cell"},
             {trial.runs ? readable_number(trial.step_ms) : "–", "n"},
             {trial.runs ? readable_bytes(
                               static_cast<std::uint64_t>(std::max<std::int64_t>(0, trial.memory_peak_bytes)))
                         : "–",
              "n"},
             {trial.runs ? readable_count(trial.op_kinds_half) + " / " + readable_count(trial.op_kinds) : "–",
              "n"},
             {share(trial.multiply_adds_half, trial.multiply_adds), "n"},
             {bits ? word(texts, "report.trial.bits", {{"bits", number(bits, 3)}}) : "–",
              bits && !(*bits >= 0) ? "n bad_cell" : "n"},
             {or_dash(trial.headroom_module), ""}});
    }
    return html::table(
        columns(texts, {"mode", "runs", "time", "memory", "half_ops", "half_madds", "headroom", "where"}),
        rows);
}

std::string steps_html(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    std::string html;
    for (const RunEvidence& run : evidence.runs) {
        const auto& steps = run.rows.steps;
        TextValues values{{"mode", to_string(run.summary.mode)},
                          {"count", readable_count(static_cast<std::int64_t>(steps.size()))}};
        if (steps.size() > most_steps_in_page) {
            values["path"] = RunFolder{run.summary.run_dir}.database().string();
            html += html::text_element("p", word(texts, "report.steps.too_many", values));
            continue;
        }
        std::string csv = step_csv_header() + "\n";
        for (const StepRow& row : steps) csv += step_csv_line(row) + "\n";
        html +=
            html::element("details", html::text_element("summary", word(texts, "report.steps.open", values)) +
                                         html::text_element("pre", csv));
    }
    return html;
}

}  // namespace mantissa
