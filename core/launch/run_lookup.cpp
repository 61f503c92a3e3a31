#include "launch/run_lookup.h"

#include <algorithm>

#include "base/numbers.h"
#include "launch/job.h"
#include "launch/run_files.h"
#include "record/comparison_record.h"
#include "record/meta_keys.h"
#include "record/run_folder.h"
#include "record/run_reader.h"

namespace mantissa {

namespace fs = std::filesystem;

fs::path job_folder_of(const fs::path& run_folder) {
    std::error_code ignored;
    if (fs::exists(run_folder / "comparison.json", ignored)) return run_folder;
    auto reader = RunReader::open(run_folder);
    if (!reader) return run_folder;
    const auto keys = (*reader)->meta();
    if (!keys) return run_folder;
    const auto id = keys->find(meta::comparison_id);
    if (id == keys->end() || id->second.empty()) return run_folder;
    const fs::path folder =
        comparison_folder(fs::absolute(run_folder, ignored).lexically_normal().parent_path(), id->second);
    return fs::exists(folder, ignored) ? folder : run_folder;
}

bool has_supervisor(const fs::path& folder) {
    return launch_files::is_job_locked(folder) || launch_files::is_job_locked(job_folder_of(folder));
}

std::vector<fs::path> find_running_jobs(const fs::path& runs) {
    std::vector<fs::path> jobs;
    if (const auto comparisons = list_comparisons(runs)) {
        for (const auto& id : *comparisons) jobs.push_back(comparison_folder(runs, id));
    }
    if (const auto folders = list_run_folders(runs)) {
        for (const auto& folder : *folders) jobs.push_back(folder.path);
    }
    // A run of a comparison has no supervisor.lock of its own, so this keeps job folders alone.
    std::erase_if(jobs, [](const fs::path& folder) { return !launch_files::is_job_locked(folder); });
    std::sort(jobs.begin(), jobs.end(),
              [](const fs::path& a, const fs::path& b) { return a.filename() > b.filename(); });
    return jobs;
}

Result<RunOutcome> read_run_outcome(const fs::path& run_folder) {
    auto reader = RunReader::open(run_folder);
    if (!reader) return reader.error();
    const auto state = (*reader)->state();
    if (!state) return state.error();
    RunOutcome outcome{state->state, state->reason, launch_files::exit_code_of(state->state)};
    const auto keys = (*reader)->meta();
    if (keys && is_end_state(state->state) && state->state != RunState::Lost) {
        if (const auto code = keys->find(launch_files::exit_code_key); code != keys->end()) {
            if (const auto number = parse_int(code->second)) outcome.exit_code = static_cast<int>(*number);
        }
    }
    return outcome;
}

int job_exit_code(const fs::path& job_folder, bool strict) {
    const auto job = read_job(job_folder);
    if (!job) return exit_code(job.error().code);
    std::vector<RunOutcome> outcomes;
    for (const auto& run : job->runs) {
        const auto outcome = read_run_outcome(run.folder.path);
        if (!outcome) return exit_code(outcome.error().code);
        outcomes.push_back(*outcome);
    }
    return combined_exit_code(job->kind, outcomes, strict);
}

int combined_exit_code(JobKind kind, const std::vector<RunOutcome>& outcomes, bool strict) {
    if (outcomes.empty()) return exit_code(ErrorCode::Internal);
    if (kind == JobKind::SingleRun) return outcomes.front().exit_code;
    for (const RunState worst : {RunState::Lost, RunState::Failed, RunState::Interrupted}) {
        for (const auto& outcome : outcomes) {
            if (outcome.state == worst) return outcome.exit_code;
        }
    }
    const bool nonfinite = std::any_of(outcomes.begin(), outcomes.end(), [](const RunOutcome& o) {
        return o.state == RunState::StoppedNonfinite;
    });
    return strict && nonfinite ? exit_code(ErrorCode::NonFinite) : 0;
}

}  // namespace mantissa
