#include "launch/replay_subject.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/files.h"
#include "base/numbers.h"
#include "launch/incident_states.h"
#include "launch/model_content.h"
#include "launch/run_parent.h"
#include "launch/trusted_files.h"
#include "plan/plan_file.h"
#include "record/meta_keys.h"
#include "record/run_folder.h"
#include "record/run_reader.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

using Keys = std::map<std::string, std::string>;

/// Anything that isn't as it should be, also what only the scaler complained about: that may be looked at.
bool is_unhealthy(const StepRow& row) { return row.nonfinite_loss || row.nonfinite_grads > 0 || row.skipped; }

/// What ends a run by rule 12, or a skip that isn't a search for the scale.
bool is_bad(const StepRow& row) {
    return row.nonfinite_loss || (!row.loss_scale && row.nonfinite_grads > 0) || (row.skipped && row.skip_kind == SkipKind::Fault);
}

Result<std::vector<StepRow>> all_steps(RunReader& reader) {
    std::vector<StepRow> steps;
    while (true) {
        auto rows = reader.read_new();
        if (!rows) return rows.error();
        if (rows->empty()) return steps;
        steps.insert(steps.end(), rows->steps.begin(), rows->steps.end());
    }
}

const StepRow* row_of(const std::vector<StepRow>& steps, std::int64_t step) {
    const auto found = std::lower_bound(steps.begin(), steps.end(), step, [](const StepRow& row, std::int64_t at) { return row.step < at; });
    return found != steps.end() && found->step == step ? &*found : nullptr;
}

Result<SourcedPlan> plan_of(const fs::path& run) {
    const fs::path file = RunFolder{run}.plan();
    const auto text = read_file(file);
    if (!text) return text.error();
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (json.is_object() && json.contains("mantissa_program"))
        return Error{ErrorCode::Usage, run.filename().string() + " was made by a program of its own, which only that program can run again",
                     "a replay needs a run of `mantissa train` or `mantissa compare`"};
    auto plan = read_sourced_plan(*text, file.string());
    if (plan) plan->plan.checkpoint.resume_from.clear();
    return plan;
}

Result<void> check_files(const RunPlan& plan) {
    std::error_code ignored;
    if (!plan.dataset.file.empty() && !fs::exists(plan.dataset.file, ignored))
        return Error{ErrorCode::InputOutput, "the data file of this run, " + plan.dataset.file + ", is not there",
                     "put it back in that place: a step can only be done again with its own samples"};
    if (!plan.model.file.empty() && !fs::exists(plan.model.file, ignored))
        return Error{ErrorCode::InputOutput, "the model file of this run, " + plan.model.file + ", is not there", "put it back in that place"};
    return require_trusted_model(plan);
}

Error healthy(const ReplaySubject& subject) {
    const bool is_running = !RunLock::is_free(RunFolder{subject.run});
    return {ErrorCode::Usage,
            subject.run.filename().string() + (is_running ? " is running and has no non-finite step so far: all " : " has no non-finite step: all ") +
                std::to_string(subject.steps.size()) + " recorded steps are finite",
            "ask \"what if\" of any step: mantissa replay RUN --step N --what-if training.optimizer.learning_rate=1e-4"};
}

Result<void> choose_step(ReplaySubject& subject, std::optional<std::int64_t> asked) {
    const auto incidents = incident_steps(subject.run);
    if (!asked && !incidents.empty()) asked = incidents.front();
    if (!asked) {
        const auto bad = std::find_if(subject.steps.begin(), subject.steps.end(), is_bad);
        if (bad == subject.steps.end()) return healthy(subject);
        asked = bad->step;
    }
    subject.step = *asked;
    const StepRow* row = row_of(subject.steps, *asked);
    const bool is_incident = std::binary_search(incidents.begin(), incidents.end(), *asked);
    if (row == nullptr && !is_incident) {
        if (subject.steps.empty())
            return Error{ErrorCode::Usage, subject.run.filename().string() + " has no recorded step yet", "wait until it has done some"};
        return Error{ErrorCode::Usage, "--step is " + std::to_string(*asked) + ", the run recorded the steps " +
                                           std::to_string(subject.steps.front().step) + " to " + std::to_string(subject.steps.back().step),
                     "choose one of them"};
    }
    subject.is_healthy = !is_incident && row != nullptr && !is_unhealthy(*row);
    if (!is_incident) return {};
    auto incident = read_incident(subject.folder());
    if (!incident) {
        Error error = incident.error();
        error.hint = "the file is damaged: remove it, and the step is replayed from the record alone";
        return error;
    }
    subject.incident = std::move(*incident);
    return {};
}

void add_states(ReplaySubject& subject, const Keys& keys) {
    CheckpointList list = kept_states(subject.run);
    if (const auto from = keys.find(meta::resumed_checkpoint); from != keys.end())
        if (auto beginning = read_checkpoint_info(from->second)) list.checkpoints.push_back(std::move(*beginning));
    std::erase_if(list.checkpoints, [&](const CheckpointInfo& one) { return one.step > subject.step; });
    std::stable_sort(list.checkpoints.begin(), list.checkpoints.end(), [](const auto& a, const auto& b) { return a.step > b.step; });
    subject.states = std::move(list.checkpoints);
    subject.passed_over = std::move(list.damaged);
}

void add_control(ReplaySubject& subject) {
    subject.control_run = find_control(subject.run);
    if (subject.control_run.empty()) return;
    if (subject.control_run == subject.run) {
        subject.control_finite = subject.is_healthy;
        return;
    }
    auto reader = RunReader::open(subject.control_run);
    if (!reader) return;
    const auto steps = all_steps(**reader);
    if (!steps) return;
    if (const StepRow* row = row_of(*steps, subject.step)) subject.control_finite = !is_unhealthy(*row);
}

}  // namespace

const CheckpointInfo* ReplaySubject::state_at_or_before(std::int64_t at) const {
    const auto found = std::find_if(states.begin(), states.end(), [at](const CheckpointInfo& one) { return one.step <= at; });
    return found == states.end() ? nullptr : &*found;
}

const CheckpointInfo* ReplaySubject::state_at(std::int64_t at) const {
    const CheckpointInfo* found = state_at_or_before(at);
    return found != nullptr && found->step == at ? found : nullptr;
}

double ReplaySubject::recorded_seconds(std::int64_t from, std::int64_t to) const {
    double seconds = 0;
    for (const StepRow& row : steps)
        if (row.step >= from && row.step <= to) seconds += static_cast<double>(row.step_ns + row.data_ns) * 1e-9;
    return seconds;
}

Result<ReplaySubject> find_replay_subject(const fs::path& run, std::optional<std::int64_t> step) {
    ReplaySubject subject;
    std::error_code failed;
    subject.run = fs::absolute(run, failed).lexically_normal();
    if (!subject.run.has_filename()) subject.run = subject.run.parent_path();
    auto plan = plan_of(subject.run);
    if (!plan) return plan.error();
    subject.plan = std::move(*plan);
    auto reader = RunReader::open(subject.run);
    if (!reader) return reader.error();
    auto steps = all_steps(**reader);
    if (!steps) return steps.error();
    subject.steps = std::move(*steps);
    const auto keys = (*reader)->meta();
    if (!keys) return keys.error();
    if (const auto began = keys->find(meta::resumed_step); began != keys->end()) subject.first_step = parse_int(began->second).value_or(0);
    if (auto chosen = choose_step(subject, step); !chosen) return chosen.error();
    if (auto there = check_files(subject.plan.plan); !there) return there.error();
    if (auto same = require_same_model(subject.run, subject.plan.plan.model); !same) return same.error();
    add_states(subject, *keys);
    if (subject.first_step > 0 && subject.states.empty())
        return Error{ErrorCode::InputOutput,
                     "no state at or before step " + std::to_string(subject.step) + " is kept, and the checkpoint that this run went on from is gone: " +
                         (keys->contains(meta::resumed_checkpoint) ? keys->at(meta::resumed_checkpoint) : std::string("not recorded")),
                     "put it back in that place"};
    add_control(subject);
    return subject;
}

}  // namespace mantissa
