#include "launch/run_parent.h"

#include <algorithm>
#include <map>

#include "base/numbers.h"
#include "launch/run_lookup.h"
#include "plan/plan_file.h"
#include "record/meta_keys.h"
#include "record/run_reader.h"
#include "record/run_recorder.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

constexpr const char* control_purpose = "control";

std::map<std::string, std::string> keys_of(const fs::path& run) {
    auto reader = RunReader::open(run);
    if (!reader) return {};
    auto keys = (*reader)->meta();
    return keys ? std::move(*keys) : std::map<std::string, std::string>{};
}

std::string value_of(const std::map<std::string, std::string>& keys, const char* key) {
    const auto found = keys.find(key);
    return found == keys.end() ? "" : found->second;
}

fs::path settled(const fs::path& run) {
    std::error_code ignored;
    fs::path place = fs::absolute(run, ignored).lexically_normal();
    return place.has_filename() ? place : place.parent_path();
}

fs::path control_in_comparison(const fs::path& run) {
    const fs::path job = job_folder_of(run);
    if (job == run) return {};
    const auto comparison = read_job(job);
    if (!comparison) return {};
    for (const JobRun& one : comparison->runs)
        if (one.mode == Precision::No) return one.folder.path;
    return {};
}

/// Folders of controls end with their mode, or with a number behind it: others need not be opened.
bool may_be_control(const std::string& name) {
    const auto at = name.rfind("-no");
    return at != std::string::npos && name.find_first_not_of("-0123456789", at + 3) == std::string::npos;
}

/// A control is younger than its run. A name without a time, given by a person, tells nothing.
bool is_older(const std::string& name, const std::string& than) {
    constexpr std::size_t stamp = 15;  // 20261201-001328
    const auto has_time = [](const std::string& text) { return text.size() > stamp && text.find_first_not_of("-0123456789") >= stamp; };
    return has_time(name) && has_time(than) && name.substr(0, stamp) < than.substr(0, stamp);
}

}  // namespace

Result<void> record_parent(const PreparedJob& job, const RunParent& parent) {
    for (const JobRun& run : job.runs) {
        auto recorder = RunRecorder::open(run.folder.path);
        if (!recorder) return recorder.error();
        (*recorder)->meta(meta::parent_run, parent.run.string());
        (*recorder)->meta(meta::parent_purpose, parent.purpose);
        if (parent.purpose != control_purpose) {
            (*recorder)->meta(meta::parent_step, std::to_string(parent.step));
            (*recorder)->meta(meta::parent_change, parent.change);
        }
        if (auto flushed = (*recorder)->flush(); !flushed) return flushed;
    }
    return {};
}

std::optional<RunParent> read_parent(const fs::path& run) {
    const auto keys = keys_of(run);
    if (!keys.contains(meta::parent_run)) return std::nullopt;
    return RunParent{value_of(keys, meta::parent_run), value_of(keys, meta::parent_purpose),
                     parse_int(value_of(keys, meta::parent_step)).value_or(0), value_of(keys, meta::parent_change)};
}

fs::path find_control(const fs::path& given) {
    const fs::path run = settled(given);
    if (value_of(keys_of(run), meta::mode) == to_string(Precision::No)) return run;
    if (const fs::path control = control_in_comparison(run); !control.empty()) return control;
    const auto folders = list_run_folders(run.parent_path());
    if (!folders) return {};
    for (const RunFolder& folder : *folders) {
        const std::string name = folder.path.filename().string();
        if (!may_be_control(name) || is_older(name, run.filename().string())) continue;
        const auto parent = read_parent(folder.path);
        // Names, since the folder of both may have been moved.
        if (parent && parent->purpose == control_purpose && parent->run.filename() == run.filename()) return folder.path;
    }
    return {};
}

Result<PreparedJob> prepare_control_run(const fs::path& given) {
    const fs::path run = settled(given);
    auto plan = read_plan_file(RunFolder{run}.plan());
    if (!plan) return plan.error();
    if (plan->plan.mixed_precision == Precision::No)
        return Error{ErrorCode::Usage, run.filename().string() + " is in mode no: it is a control itself", ""};
    plan->plan.mixed_precision = Precision::No;
    plan->plan.modes.clear();
    plan->plan.launch.scope = LaunchScope::Process;  // a mode is fixed for the life of a process
    plan->origins["mixed_precision"] = {ValueSource::Edit, "control of " + run.filename().string(), to_string(Precision::No), {}};
    auto job = prepare_job(JobKind::SingleRun, *plan, run.parent_path());
    if (!job) return job.error();
    if (auto recorded = record_parent(*job, {run, control_purpose, 0, ""}); !recorded) return recorded.error();
    return job;
}

}  // namespace mantissa
