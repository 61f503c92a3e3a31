#include "record/comparison_record.h"

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files.h"
#include "base/numbers.h"
#include "record/json_fields.h"
#include "record/run_folder.h"

namespace mantissa {

namespace record_json {
TrialReport trial_from(Fields& fields);  // reports.cpp
}

namespace {

using record_json::Fields;
namespace fs = std::filesystem;

constexpr std::int64_t file_version = 1;

fs::path file_of(const fs::path& folder) {
    return folder / "comparison.json";
}

Verdict verdict_from(Fields& fields) {
    Verdict verdict;
    fields.read("code", verdict.code);
    fields.read("severity", verdict.severity);
    fields.read("mode", verdict.mode);
    fields.read("values", verdict.values);
    fields.read("evidence", verdict.evidence);
    fields.read("text", verdict.text);
    return verdict;
}

Decision decision_from(Fields& fields) {
    Decision decision;
    fields.read("mode", decision.mode);
    fields.read("code", decision.code);
    fields.read("values", decision.values);
    fields.read("text", decision.text);
    fields.read("reasons", decision.reasons);
    fields.read("confidence", decision.confidence);
    fields.read("would_change_it", decision.would_change_it);
    return decision;
}

void read_modes(Fields& fields, std::vector<Precision>& modes) {
    std::vector<std::string> names;
    fields.read("modes", names);
    for (const std::string& name : names) {
        const auto mode = parse_precision(name);
        if (!mode) return fields.fail("modes", "a list of no fp16 bf16 fp8");
        modes.push_back(*mode);
    }
}

nlohmann::json plan_to_json(const std::string& text) {
    if (text.empty()) return nullptr;
    auto plan = nlohmann::json::parse(text, nullptr, false);
    return plan.is_discarded() ? nlohmann::json(text) : plan;
}

/// A runs folder that was moved or copied as a whole (a sample, last year's disk) still finds its runs:
/// beside comparisons/.
fs::path found_run(const fs::path& run, const fs::path& comparison) {
    std::error_code failure;
    if (fs::exists(run, failure)) return run;
    const fs::path beside = fs::weakly_canonical(comparison / ".." / "..", failure) / run.filename();
    return fs::exists(beside, failure) ? beside : run;
}

nlohmann::json repeating_to_json(const std::optional<Repeating>& repeating) {
    if (!repeating) return nullptr;
    return {{"at", repeating->at}, {"planned", repeating->planned}};
}

nlohmann::json record_to_json(const ComparisonRecord& record) {
    auto modes = nlohmann::json::array(), trials = nlohmann::json::array(), runs = nlohmann::json::array(),
         verdicts = nlohmann::json::array();
    for (const Precision mode : record.modes) modes.push_back(to_string(mode));
    for (const TrialReport& trial : record.trials) trials.push_back(to_json(trial));
    for (const fs::path& run : record.run_dirs) runs.push_back(run.string());
    for (const Verdict& verdict : record.verdicts) verdicts.push_back(to_json(verdict));
    return {
        {"version", file_version},
        {"comparison_id", record.id},
        {"name", record.name},
        {"started_ns", record.started_ns},
        {"ended_ns", record.ended_ns},
        {"state", record.state},
        {"repeating", repeating_to_json(record.repeating)},
        {"order", record.order},
        {"order_reason", record.order_reason},
        {"plan", plan_to_json(record.plan_json)},
        {"modes", std::move(modes)},
        {"trials", std::move(trials)},
        {"run_dirs", std::move(runs)},
        {"fairness",
         {{"known", record.fairness.known},
          {"fair", record.fairness.fair},
          {"differences", record.fairness.differences}}},
        {"verdicts", std::move(verdicts)},
        {"decision", record.decision ? to_json(*record.decision) : nlohmann::json(nullptr)},
    };
}

}  // namespace

bool has_ended(const ComparisonRecord& record) {
    return record.state != "trial" && record.state != "running" && record.state != "repeating";
}

std::string state_text(const ComparisonRecord& record) {
    if (record.state != "repeating" || !record.repeating) return record.state;
    return record.state + " " + std::to_string(record.repeating->at) + " of " + std::to_string(record.repeating->planned);
}

nlohmann::json to_json(const Verdict& verdict) {
    return {{"code", verdict.code},     {"severity", verdict.severity}, {"mode", verdict.mode},
            {"values", verdict.values}, {"evidence", verdict.evidence}, {"text", verdict.text}};
}

nlohmann::json to_json(const Decision& decision) {
    return {{"mode", decision.mode ? nlohmann::json(to_string(*decision.mode)) : nlohmann::json(nullptr)},
            {"code", decision.code},
            {"values", decision.values},
            {"text", decision.text},
            {"reasons", decision.reasons},
            {"confidence", decision.confidence},
            {"would_change_it", decision.would_change_it}};
}

Result<Verdict> verdict_from_json(const nlohmann::json& json) {
    Fields fields(json, "verdict");
    Verdict verdict = verdict_from(fields);
    if (auto result = fields.result(); !result) return result.error();
    return verdict;
}

Result<Decision> decision_from_json(const nlohmann::json& json) {
    Fields fields(json, "decision");
    Decision decision = decision_from(fields);
    if (auto result = fields.result(); !result) return result.error();
    return decision;
}

fs::path comparison_folder(const fs::path& runs, const std::string& id) {
    return runs / "comparisons" / id;
}

Result<std::string> create_comparison_folder(const fs::path& runs, const std::string& name) {
    auto folder =
        create_unique_folder(runs / "comparisons", file_time_stamp(now_ns()) + "-" + folder_name_part(name));
    if (!folder) return folder.error();
    return folder->filename().string();
}

Result<ComparisonRecord> read_comparison(const fs::path& folder) {
    const fs::path file = file_of(folder);
    const auto text = read_file(file);
    if (!text) return text.error();
    const auto json = record_json::parse(*text, file.string());
    if (!json) return json.error();
    ComparisonRecord record;
    Fields fields(*json, file.string());
    fields.read("comparison_id", record.id);
    fields.read("name", record.name);
    fields.read("started_ns", record.started_ns);
    fields.read("ended_ns", record.ended_ns);
    fields.read("state", record.state);
    fields.read_object("repeating", [&](Fields& repeating) {
        record.repeating.emplace();
        repeating.read("at", record.repeating->at);
        repeating.read("planned", record.repeating->planned);
    });
    fields.read("order", record.order);
    fields.read("order_reason", record.order_reason);
    if (const auto* plan = fields.find("plan"))
        record.plan_json = plan->is_string() ? plan->get<std::string>() : plan->dump();
    read_modes(fields, record.modes);
    fields.read_objects("trials",
                        [&](Fields& trial) { record.trials.push_back(record_json::trial_from(trial)); });
    std::vector<std::string> runs;
    fields.read("run_dirs", runs);
    for (const std::string& run : runs) record.run_dirs.push_back(found_run(run, folder));
    fields.read_object("fairness", [&](Fields& fairness) {
        fairness.read("known", record.fairness.known);
        fairness.read("fair", record.fairness.fair);
        fairness.read("differences", record.fairness.differences);
    });
    fields.read_objects("verdicts",
                        [&](Fields& verdict) { record.verdicts.push_back(verdict_from(verdict)); });
    fields.read_object("decision", [&](Fields& decision) { record.decision = decision_from(decision); });
    if (auto result = fields.result(); !result) return result.error();
    return record;
}

Result<void> write_comparison(const fs::path& folder, const ComparisonRecord& record) {
    nlohmann::json json = record_to_json(record);
    // What a newer version has added stays in the file; a damaged file is simply replaced.
    if (const auto before = read_file(file_of(folder))) {
        const auto known = nlohmann::json::parse(*before, nullptr, false);
        if (known.is_object()) {
            for (const auto& [key, value] : known.items()) {
                if (!json.contains(key)) json[key] = value;
            }
        }
    }
    return write_file_atomically(file_of(folder), record_json::dump(json));
}

}  // namespace mantissa
