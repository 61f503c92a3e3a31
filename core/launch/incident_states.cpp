#include "launch/incident_states.h"

#include <algorithm>
#include <iterator>
#include <system_error>

#include "base/clock.h"
#include "base/files.h"
#include "launch/replay_job.h"
#include "record/replay_report.h"
#include "record/run_folder.h"

namespace mantissa {
namespace fs = std::filesystem;
namespace {

void sort_newest_first(CheckpointList& list) {
    std::sort(list.checkpoints.begin(), list.checkpoints.end(),
              [](const auto& a, const auto& b) { return std::pair(a.step, a.path) > std::pair(b.step, b.path); });
    std::sort(list.damaged.begin(), list.damaged.end());
}

void append(CheckpointList& list, CheckpointList more) {
    std::move(more.checkpoints.begin(), more.checkpoints.end(), std::back_inserter(list.checkpoints));
    std::move(more.damaged.begin(), more.damaged.end(), std::back_inserter(list.damaged));
}

std::vector<fs::path> folders_in(const fs::path& folder, const std::string& prefix) {
    std::vector<fs::path> found;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        std::error_code ignored;
        if (entry->path().filename().string().starts_with(prefix) && entry->is_directory(ignored)) found.push_back(entry->path());
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::int64_t bytes_in(const fs::path& folder) {
    std::int64_t bytes = 0;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
        std::error_code ignored;
        if (entry->is_regular_file(ignored)) bytes += static_cast<std::int64_t>(entry->file_size(ignored));
    }
    return bytes;
}

std::int64_t step_of(const fs::path& incident) {
    const std::string name = incident.filename().string();
    return std::atoll(name.c_str() + std::string_view("step_").size());
}

/// The report says from now on why there are none.
Result<void> tell_report(const fs::path& incident) {
    std::error_code ignored;
    if (!fs::exists(incident / "incident.json", ignored)) return {};
    auto report = read_incident(incident);
    if (!report) return {};  // damaged already: nothing in it can be kept true
    report->states.clear();
    report->state_bytes = 0;
    report->no_states = "they were deleted on " + readable_time(now_ns());
    return write_incident(incident, *report);
}

}  // namespace

CheckpointList states_in(const fs::path& incident_folder) {
    CheckpointList list;
    for (const fs::path& folder : folders_in(incident_folder, "state_")) {
        auto info = read_checkpoint_info(folder);
        if (info)
            list.checkpoints.push_back(std::move(*info));
        else
            list.damaged.push_back(info.error().message);
    }
    sort_newest_first(list);
    return list;
}

CheckpointList incident_states(const fs::path& run) {
    CheckpointList list;
    for (const fs::path& incident : folders_in(RunFolder{run}.incidents(), "step_")) append(list, states_in(incident));
    sort_newest_first(list);
    return list;
}

CheckpointList kept_states(const fs::path& run) {
    CheckpointList list = incident_states(run);
    append(list, list_checkpoints(run));
    sort_newest_first(list);
    return list;
}

Result<fs::path> keep_state_in(const fs::path& incident_folder, const fs::path& made) {
    const std::string name = made.filename().string();
    const fs::path part = incident_folder / ("." + name), target = incident_folder / name;
    if (auto there = make_folders(incident_folder); !there) return there.error();
    std::error_code failed;
    fs::remove_all(part, failed);
    failed.clear();
    fs::copy(made, part, fs::copy_options::recursive, failed);
    std::error_code ignored;
    if (!read_checkpoint_info(target)) fs::remove_all(target, ignored);  // damaged: nobody can start from it
    if (!failed) fs::rename(part, target, failed);
    if (!failed) return target;
    const Error error{ErrorCode::InputOutput, "the state " + name + " can't be kept in " + incident_folder.string() + ": " + failed.message(), ""};
    fs::remove_all(part, failed);
    return error;
}

Result<DeletedStates> delete_incident_states(const fs::path& run) {
    if (!RunLock::is_free(RunFolder{run}))
        return Error{ErrorCode::InputOutput, run.filename().string() + " is running: what it keeps can't be deleted now", "wait for its end"};
    DeletedStates deleted;
    for (const fs::path& incident : folders_in(RunFolder{run}.incidents(), "step_")) {
        const auto states = folders_in(incident, "state_");
        if (states.empty()) continue;
        if (is_replay_running(run, step_of(incident)))
            return Error{ErrorCode::InputOutput, "a replay works on step " + std::to_string(step_of(incident)) + " of " + run.filename().string(),
                         "wait for its end"};
        for (const fs::path& state : states) {
            const std::int64_t bytes = bytes_in(state);
            std::error_code failed;
            fs::remove_all(state, failed);
            if (failed) return Error{ErrorCode::InputOutput, state.string() + " can't be deleted: " + failed.message(), ""};
            deleted.bytes += bytes;
            ++deleted.states;
        }
        if (auto told = tell_report(incident); !told) return told.error();
    }
    return deleted;
}

}  // namespace mantissa
