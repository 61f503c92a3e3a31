#include "judge/evidence.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/numbers.h"
#include "record/replica.h"
#include "record/run_folder.h"

namespace mantissa {
namespace {

nlohmann::json at_path(const nlohmann::json& root, std::initializer_list<const char*> path) {
    const nlohmann::json* node = &root;
    for (const char* name : path) {
        if (!node->is_object() || !node->contains(name)) return nullptr;
        node = &node->at(name);
    }
    return *node;
}

std::string text_of(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
}

std::string source_of(const nlohmann::json& sources, const std::string& field) {
    if (!sources.is_object() || !sources.contains(field)) return {};
    const auto& entry = sources.at(field);
    if (!entry.is_object()) return text_of(entry);
    const std::string source = text_of(at_path(entry, {"source"})),
                      detail = text_of(at_path(entry, {"detail"}));
    return detail.empty() ? source : source + " " + detail;
}

std::string read_if_there(const std::filesystem::path& path) {
    const auto content = read_file(path);
    return content ? *content : std::string();
}

std::optional<TrialReport> read_trial(const std::filesystem::path& path) {
    const auto json = nlohmann::json::parse(read_if_there(path), nullptr, false);
    if (!json.is_object()) return {};
    const auto trial = trial_report_from_json(json);
    return trial ? std::optional(*trial) : std::nullopt;
}

template <typename Row>
void append(std::vector<Row>& all, std::vector<Row>& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Gradients of the last step that recorded them, with their histograms.
void add_gradients(RunReader& reader, std::optional<std::int64_t> step, RunRows& rows) {
    if (!step) return;
    if (auto gradients = reader.tensor_stats(TensorRole::Gradient, {}, *step, *step)) append(rows.tensor_stats, *gradients);
}

Result<RunRows> read_all_rows(const std::filesystem::path& run_folder, bool with_gradients) {
    auto reader = RunReader::open(run_folder);
    if (!reader) return reader.error();
    RunRows all;
    std::optional<std::int64_t> last_gradients;
    while (true) {
        auto part = (*reader)->read_new();
        if (!part) return part.error();
        if (part->empty()) {
            if (with_gradients) add_gradients(**reader, last_gradients, all);
            return all;
        }
        append(all.steps, part->steps);
        append(all.micro_batches, part->micro_batches);
        append(all.evaluations, part->evaluations);
        append(all.memory, part->memory);
        append(all.op_dtypes, part->op_dtypes);
        append(all.incidents, part->incidents);
        append(all.alarms, part->alarms);
        for (const TensorStatRow& row : part->tensor_stats) {
            if (row.role == TensorRole::Gradient) last_gradients = row.step;
        }
        std::erase_if(part->tensor_stats, [](const TensorStatRow& row) { return row.role != TensorRole::Output; });
        append(all.tensor_stats, part->tensor_stats);
        append(all.states, part->states);
    }
}

}  // namespace

PlanFacts plan_facts(const std::string& plan_json) {
    PlanFacts facts;
    const auto file = nlohmann::json::parse(plan_json, nullptr, false);
    if (!file.is_object()) return facts;
    const auto inner = at_path(file, {"plan"});
    const auto& plan = inner.is_object() ? inner : file;
    facts.learning_rate = number_from_json(at_path(plan, {"training", "optimizer", "learning_rate"}));
    facts.loss_scale_initial = number_from_json(at_path(plan, {"loss_scale", "initial"}));
    facts.loss_scale_floor = number_from_json(at_path(plan, {"loss_scale", "floor"}));
    facts.batch_norm_on_skip = text_of(at_path(plan, {"batch_norm_on_skip"}));
    facts.on_nonfinite = text_of(at_path(plan, {"on_nonfinite"}));
    facts.mode_source = source_of(at_path(file, {"sources"}), "mixed_precision");
    return facts;
}

Result<RunEvidence> load_run_evidence(const std::filesystem::path& run_folder) {
    RunEvidence evidence;
    auto summary = summarize_run(run_folder);
    if (!summary) return summary.error();
    evidence.summary = std::move(summary).value();
    const RunFolder folder{run_folder};
    // A run that never came to its recording (refused, killed at once) has a summary all the same.
    const bool is_control = evidence.summary.mode == Precision::No;
    if (auto rows = read_all_rows(run_folder, is_control)) evidence.rows = std::move(rows).value();
    evidence.plan_json = read_if_there(folder.plan());
    evidence.plan = plan_facts(evidence.plan_json);
    evidence.environment_json = read_if_there(folder.environment());
    evidence.trial = read_trial(folder.trial());
    return evidence;
}

Result<ComparisonEvidence> load_comparison_evidence(const ComparisonRecord& record) {
    ComparisonEvidence evidence;
    evidence.modes = record.modes;
    evidence.trials = record.trials;
    evidence.order = record.order;
    std::optional<Error> first_problem;
    for (const auto& folder : record.run_dirs) {
        auto run = load_run_evidence(folder);
        if (!run) {
            if (!first_problem) first_problem = run.error();
            continue;
        }
        const auto trial =
            std::find_if(record.trials.begin(), record.trials.end(),
                         [&](const TrialReport& one) { return one.mode == run->summary.mode; });
        if (!run->trial && trial != record.trials.end()) run->trial = *trial;
        evidence.runs.push_back(std::move(run).value());
    }
    if (evidence.runs.empty() && first_problem) return *first_problem;
    if (record.run_dirs.empty()) return evidence;
    const auto replicas = read_replica_runs(comparison_folder(record.run_dirs.front().parent_path(), record.id));
    if (!replicas) return evidence;  // a record of values alone
    for (const ReplicaRun& one : *replicas) {
        auto run = load_run_evidence(one.run_dir);
        if (!run) continue;
        (one.replica.role == ReplicaRole::Rounding ? evidence.rounding : evidence.repetitions).push_back(std::move(run).value());
    }
    return evidence;
}

}  // namespace mantissa
