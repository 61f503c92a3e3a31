#include "results.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "base/paths.h"
#include "judge/control_spread.h"
#include "judge/evidence.h"
#include "judge/judge.h"
#include "judge/replay_command.h"
#include "judge/texts.h"
#include "output.h"
#include "record/replay_report.h"
#include "resume_lines.h"
#include "table.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

/// Labels are those of the HTML report, so that both speak the same words.
class Labels {
  public:
    explicit Labels(const std::string& language) {
        if (auto catalogue = text_catalogue(language)) m_catalogue = *catalogue;
    }
    [[nodiscard]] std::string operator()(const std::string& key, const TextValues& values = {}) const {
        if (m_catalogue == nullptr) return key;
        auto text = m_catalogue->fill("report." + key, values);
        return text ? *text : key;
    }

  private:
    const TextCatalogue* m_catalogue = nullptr;
};

std::string ratio_text(double value, double control) {
    if (!(control > 0) || !(value > 0)) return "";
    return " (×" + readable_number(value / control, 3) + ")";
}

std::string optional_number(const std::optional<double>& value, int significant = 4) {
    return value ? readable_number(*value, significant) : "–";
}

std::string memory_text(const RunSummary& run, const RunSummary* control) {
    if (run.memory_peak_bytes <= 0) return "–";
    const std::string size = readable_bytes(static_cast<std::uint64_t>(run.memory_peak_bytes));
    if (control == nullptr || control == &run) return size;
    return size + ratio_text(static_cast<double>(run.memory_peak_bytes),
                             static_cast<double>(control->memory_peak_bytes));
}

std::string time_text(const RunSummary& run, const RunSummary* control, const Labels& label) {
    if (!run.step_ms_median) return "–";
    const std::string time = readable_number(*run.step_ms_median, 3);
    if (run.support == Support::Emulated)
        return time + " (" + label("column.speed_not_judged") + ")";  // design rule 6
    if (control == nullptr || control == &run || !control->step_ms_median) return time;
    return time + ratio_text(*run.step_ms_median, *control->step_ms_median);
}

std::string mode_text(const RunSummary& run) {
    std::string text = to_string(run.mode);
    if (run.effective != run.requested) text += std::string(" → ") + to_string(run.effective);
    return text;
}

void print_verdicts(const std::vector<Verdict>& verdicts, const Labels& label) {
    if (verdicts.empty()) return;
    print("");
    for (const Verdict& verdict : verdicts) {
        print(label("severity." + verdict.severity) + "  " +
              (verdict.mode.empty() ? "" : verdict.mode + "  ") + verdict.code);
        print_wrapped(verdict.text, 4);
    }
}

void print_decision(const Decision& decision, const Labels& label) {
    print("");
    const std::string confidence =
        label("decision.confidence", {{"confidence", label("confidence." + decision.confidence)}});
    print_wrapped(label("section.decision") + ": " + decision.text, 0);
    print(confidence);
    const auto list = [](const std::string& title, const std::vector<std::string>& entries) {
        if (!entries.empty()) print(title + ":");
        for (const std::string& entry : entries) print_wrapped(entry, 4, "  - ");
    };
    list(label("decision.reasons"), decision.reasons);
    list(label("decision.change"), decision.would_change_it);
}

void print_fairness(const ComparisonRecord& comparison, const Labels& label) {
    const Fairness& fairness = comparison.fairness;
    print(label(!fairness.known ? "fair.unknown" : fairness.fair ? "fair.yes" : "fair.no"));
    for (const std::string& difference : fairness.differences) print("  - " + difference);
    if (!comparison.order_reason.empty()) print(comparison.order + ": " + comparison.order_reason);
}

std::string runs_table(const JobResult& result, const Labels& label) {
    const auto& runs = result.runs;
    using Align = Table::Align;
    Table table;
    for (const char* title : {"column.mode", "column.support", "column.state"})
        table.add_column(label(title));
    table.add_column(label("column.applied") + "/" + label("column.steps"), Align::Right);
    for (const char* title : {"column.probing", "column.faults", "column.first_nonfinite", "column.loss",
                              "column.metric", "column.time", "column.memory"})
        table.add_column(label(title), Align::Right);
    const auto control = std::find_if(runs.begin(), runs.end(),
                                      [](const RunSummary& run) { return run.mode == Precision::No; });
    const RunSummary* reference = control == runs.end() ? nullptr : &*control;
    const bool times_shared = result.comparison && result.comparison->order == "at-once";  // never a ratio
    for (const RunSummary& run : runs)
        table.add_row({mode_text(run), label(std::string("support.") + to_string(run.support)),
                       label(std::string("state.") + to_string(run.state)),
                       std::to_string(run.applied_steps) + "/" + std::to_string(run.steps),
                       std::to_string(run.skipped_probing), std::to_string(run.skipped_fault),
                       run.first_nonfinite_step ? std::to_string(*run.first_nonfinite_step) : "–",
                       optional_number(run.final_loss), metric_text(run),
                       time_text(run, times_shared ? nullptr : reference, label),
                       memory_text(run, reference)});
    return table.text();
}

/// A run that met a bad step: the command that finds where it was born.
void print_replay_hints(const std::vector<RunSummary>& runs, const Labels& label) {
    for (const RunSummary& run : runs) {
        const auto incidents = incident_steps(run.run_dir);
        if (incidents.empty() && !run.first_nonfinite_step) continue;
        const std::int64_t step = incidents.empty() ? *run.first_nonfinite_step : incidents.front();
        print(label("find", {{"mode", to_string(run.mode)}, {"step", std::to_string(step)}}) + " " + replay_command(run.run_dir, step));
    }
}

Json verdicts_json(const std::vector<Verdict>& verdicts) {
    Json list = Json::array();
    for (const Verdict& verdict : verdicts) list.push_back(mantissa::to_json(verdict));
    return list;
}

void add_replicas(const std::filesystem::path& folder, const ComparisonRecord& record, JobResult& result) {
    const auto replicas = read_replica_runs(folder);
    if (!replicas || replicas->empty()) return;
    for (const ReplicaRun& one : *replicas) {
        if (auto summary = summarize_run(one.run_dir)) result.replicas.emplace_back(one.replica, std::move(*summary));
    }
    const auto evidence = load_comparison_evidence(record);
    const auto texts = text_catalogue(result.language);
    if (evidence && texts) result.bands = band_lines(*evidence, **texts);
}

}  // namespace

std::string metric_text(const RunSummary& run) {
    if (!run.metric) return "–";
    return run.metric_name == "accuracy" ? readable_percent(*run.metric)
                                         : run.metric_name + " " + readable_number(*run.metric, 4);
}

Result<JobResult> load_result(const std::filesystem::path& job_folder, const std::string& language) {
    JobResult result;
    result.language = language;
    std::error_code ignored;
    result.folder = std::filesystem::absolute(job_folder, ignored).lexically_normal();
    if (std::filesystem::exists(job_folder / "report.html", ignored))
        result.report = result.folder / "report.html";
    if (!std::filesystem::exists(job_folder / "comparison.json", ignored)) {
        auto judged = judge_run(job_folder, language);
        if (!judged) return judged.error();
        result.runs.push_back(std::move(judged->summary));
        result.verdicts = std::move(judged->verdicts);
        return result;
    }
    // A comparison whose every run died before its first record can't be judged, but its record is still
    // there.
    auto record = judge_comparison(job_folder, language);
    if (!record) record = read_comparison(job_folder);
    if (!record) return record.error();
    for (const auto& folder : record->run_dirs) {
        auto summary = summarize_run(folder);
        if (summary)
            result.runs.push_back(std::move(*summary));
        else
            result.unreadable.emplace_back(folder, summary.error());
    }
    if (result.runs.empty() && !result.unreadable.empty()) return result.unreadable.front().second;
    if (result.runs.empty())
        return Error{ErrorCode::InputOutput, (job_folder / "comparison.json").string() + " names no runs",
                     "restore it from a copy, or delete it"};
    add_replicas(job_folder, *record, result);
    result.verdicts = record->verdicts;
    result.comparison = std::move(*record);
    return result;
}

void print_result(const JobResult& result) {
    const Labels label(result.language);
    std::string table = runs_table(result, label);
    table.pop_back();
    print(table);
    for (const RunSummary& run : result.runs)
        for (const std::string& line : resume_lines(run, result.language)) print(line);
    for (const RunSummary& run : result.runs)
        if (!run.state_reason.empty()) print(std::string(to_string(run.mode)) + ": " + run.state_reason);
    for (const RunSummary& run : result.runs)
        if (!run.checkpoint_error.empty())
            print(std::string(to_string(run.mode)) + ": the last checkpoint could not be saved: " + run.checkpoint_error);
    for (const auto& [folder, error] : result.unreadable) fail(error);
    if (result.comparison) print_fairness(*result.comparison, label);
    for (const std::string& line : result.bands) print_wrapped(line, 0);
    print_verdicts(result.verdicts, label);
    if (result.comparison && result.comparison->decision) print_decision(*result.comparison->decision, label);
    print_replay_hints(result.runs, label);
    print("");
    print(label(result.comparison ? "title.comparison" : "title.run",
                {{"name", result.runs.empty() ? "" : result.runs.front().name},
                 {"mode", result.runs.empty() ? "" : to_string(result.runs.front().mode)}}) +
          ": " + result.folder.string());
    if (!result.report.empty()) print("HTML: " + result.report.string());
}

nlohmann::json to_json(const JobResult& result) {
    const Json report = result.report.empty() ? Json(nullptr) : Json(result.report.string());
    if (!result.comparison) {
        Json run = mantissa::to_json(result.runs.front());
        run["verdicts"] = verdicts_json(result.verdicts);
        run["report"] = report;
        return run;
    }
    const ComparisonRecord& comparison = *result.comparison;
    Json replicas = Json::array();
    for (const auto& [replica, summary] : result.replicas) {
        Json run = mantissa::to_json(summary);
        run["role"] = to_string(replica.role);
        run["number"] = replica.number;
        replicas.push_back(std::move(run));
    }
    Json runs = Json::array(), unreadable = Json::array(), trials = Json::array(), modes = Json::array();
    for (const RunSummary& run : result.runs) runs.push_back(mantissa::to_json(run));
    for (const auto& [folder, error] : result.unreadable)
        unreadable.push_back({{"run_dir", folder.string()}, {"error", describe(error)}});
    for (const TrialReport& trial : comparison.trials) trials.push_back(mantissa::to_json(trial));
    for (const Precision mode : comparison.modes) modes.push_back(to_string(mode));
    return {{"comparison_id", comparison.id},
            {"name", comparison.name},
            {"state", comparison.state},
            {"repeating", comparison.repeating ? Json{{"at", comparison.repeating->at}, {"planned", comparison.repeating->planned}} : Json(nullptr)},
            {"fair", comparison.fairness.known ? Json(comparison.fairness.fair) : Json(nullptr)},
            {"unfair_because", comparison.fairness.differences},
            {"order", comparison.order},
            {"order_reason", comparison.order_reason},
            {"modes", modes},
            {"trials", trials},
            {"runs", runs},
            {"replicas", replicas},
            {"bands", result.bands},
            {"unreadable_runs", unreadable},
            {"verdicts", verdicts_json(result.verdicts)},
            {"decision", comparison.decision ? mantissa::to_json(*comparison.decision) : Json(nullptr)},
            {"folder", result.folder.string()},
            {"report", report}};
}

}  // namespace mantissa::cli
