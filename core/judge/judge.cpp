#include "judge/judge.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "judge/decision.h"
#include "judge/fairness.h"
#include "judge/texts.h"
#include "judge/verdict_rules.h"
#include "record/json_fields.h"
#include "record/replica.h"
#include "record/run_folder.h"

namespace mantissa {

namespace {

/// The runs that a run is judged beside: those of its comparison, as long as that is there, else itself
/// alone.
ComparisonEvidence companions_of(RunEvidence run) {
    ComparisonEvidence evidence;
    const std::filesystem::path runs = std::filesystem::absolute(run.summary.run_dir).parent_path();
    if (!run.summary.comparison_id.empty()) {
        const auto record = read_comparison(comparison_folder(runs, run.summary.comparison_id));
        auto all = record ? load_comparison_evidence(*record) : Result<ComparisonEvidence>(record.error());
        const auto is_it = [&](const RunEvidence& other) { return other.summary.mode == run.summary.mode; };
        if (all && std::any_of(all->runs.begin(), all->runs.end(), is_it)) return std::move(all).value();
    }
    evidence.modes = {run.summary.mode};
    evidence.runs.push_back(std::move(run));
    return evidence;
}

}  // namespace

Result<JudgedRun> judge_run(const std::filesystem::path& run_folder, std::string_view language) {
    const auto texts = text_catalogue(language);
    if (!texts) return texts.error();
    auto run = load_run_evidence(run_folder);
    if (!run) return run.error();
    const RunSummary summary = run->summary;
    // It repeats the control to show its spread; nothing is said of it alone.
    if (const auto replica = read_replica(run_folder); replica && replica->is_replica()) return JudgedRun{summary, {}};
    const ComparisonEvidence evidence = companions_of(std::move(run).value());
    std::vector<Finding> findings = apply_rules(Case(evidence));
    std::erase_if(findings, [&](const Finding& finding) {
        return !finding.mode.empty() && finding.mode != to_string(summary.mode);
    });
    return JudgedRun{summary, fill_findings(findings, **texts)};
}

Result<ComparisonRecord> judge_comparison(const std::filesystem::path& comparison_folder,
                                          std::string_view language) {
    auto record = read_comparison(comparison_folder);
    if (!record) return record.error();
    const auto evidence = load_comparison_evidence(*record);
    if (!evidence) return evidence.error();
    return judge_evidence(std::move(record).value(), *evidence, language);
}

Result<ComparisonRecord> judge_evidence(ComparisonRecord record, const ComparisonEvidence& evidence,
                                        std::string_view language) {
    const auto texts = text_catalogue(language);
    if (!texts) return texts.error();
    const Case all(evidence);
    record.fairness = fill_fairness(compare_environments(evidence.runs, evidence.order), **texts);
    record.verdicts = fill_findings(apply_rules(all), **texts);
    record.decision.reset();
    if (const auto draft = decide(all, record.fairness)) {
        auto decision = fill_decision(*draft, **texts);
        if (!decision) return decision.error();
        record.decision = std::move(decision).value();
    }
    return record;
}

Result<void> write_verdicts(const std::filesystem::path& run_folder, const std::vector<Verdict>& verdicts) {
    auto list = nlohmann::json::array();
    for (const Verdict& verdict : verdicts) list.push_back(to_json(verdict));
    return write_file_atomically(RunFolder{run_folder}.verdicts(),
                                 record_json::dump(nlohmann::json{{"version", 1}, {"verdicts", list}}));
}

Result<std::vector<Verdict>> read_verdicts(const std::filesystem::path& run_folder) {
    const auto path = RunFolder{run_folder}.verdicts();
    const auto content = read_file(path);
    if (!content) return content.error();
    const auto json = nlohmann::json::parse(*content, nullptr, false);
    if (!json.is_object() || !json.contains("verdicts") || !json.at("verdicts").is_array()) {
        return Error{ErrorCode::InputOutput, path.string() + " holds no list of verdicts", {}};
    }
    std::vector<Verdict> verdicts;
    for (const auto& entry : json.at("verdicts")) {
        auto verdict = verdict_from_json(entry);
        if (!verdict) return verdict.error();
        verdicts.push_back(std::move(verdict).value());
    }
    return verdicts;
}

}  // namespace mantissa
