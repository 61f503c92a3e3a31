#include "launch/run_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/files.h"
#include "plan/plan_file.h"
#include "record/run_reader.h"
#include "record/run_recorder.h"

namespace mantissa::launch_files {

Result<void> make_reserve(const RunFolder& folder) {
    const auto file = folder.path / reserve_file;
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    const int failed = descriptor < 0 ? errno : ::posix_fallocate(descriptor, 0, reserve_bytes);
    if (descriptor >= 0) ::close(descriptor);
    if (failed == 0) return {};
    return Error{ErrorCode::InputOutput,
                 "no space for a run in " + folder.path.string() + ": " + std::strerror(failed),
                 "free some space, or choose another runs folder with --runs-dir or MANTISSA_RUNS_DIR"};
}

void free_reserve(const RunFolder& folder) {
    std::error_code ignored;
    std::filesystem::remove(folder.path / reserve_file, ignored);
}

namespace {

Result<void> try_to_write_state(const RunFolder& folder, RunState state, const std::string& reason,
                                std::optional<int> exit_code) {
    auto recorder = RunRecorder::open(folder.path);
    if (!recorder) return recorder.error();
    (*recorder)->state(state, reason);
    if (exit_code) (*recorder)->meta(exit_code_key, std::to_string(*exit_code));
    return (*recorder)->flush();
}

}  // namespace

Result<void> write_state(const RunFolder& folder, RunState state, const std::string& reason,
                         std::optional<int> exit_code) {
    if (auto written = try_to_write_state(folder, state, reason, exit_code)) return written;
    free_reserve(folder);
    return try_to_write_state(folder, state, reason, exit_code);
}

Result<RunPlan> read_run_plan(const std::filesystem::path& plan_file) {
    auto sourced = read_plan_file(plan_file);
    if (!sourced) return sourced.error();
    return sourced->plan;
}

Recorded read_recorded(const RunFolder& folder) {
    Recorded result;
    auto reader = RunReader::open(folder.path);
    if (!reader) return result;
    // A follower hands out steps in portions; states come with the first one.
    while (true) {
        auto rows = (*reader)->read_new();
        if (!rows || rows->empty()) return result;
        if (!rows->steps.empty()) result.steps = rows->steps.back().step + 1;
        if (!rows->states.empty()) result.last_state = rows->states.back();
    }
}

Result<int> lock_job(const std::filesystem::path& job_folder) {
    const auto file = job_folder / supervisor_lock;
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) {
        return Error{ErrorCode::InputOutput,
                     "can't write in " + job_folder.string() + ": " + std::strerror(errno),
                     "choose another runs folder with --runs-dir or MANTISSA_RUNS_DIR"};
    }
    // A reader that asks (is_job_locked) holds the lock for some microseconds: that isn't another supervisor.
    for (int attempt = 0; attempt < 50; ++attempt) {
        if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
    ::close(descriptor);
    return Error{ErrorCode::InputOutput, "a supervisor already works on " + job_folder.string(),
                 "follow it in the window, or with `mantissa runs`"};
}

bool is_job_locked(const std::filesystem::path& job_folder) {
    const int descriptor = ::open((job_folder / supervisor_lock).c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    // A shared lock asks without keeping others out for longer than this call.
    const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0;
    ::close(descriptor);
    return locked;
}

int exit_code_of(RunState state) {
    switch (state) {
        case RunState::StoppedNonfinite:
            return exit_code(ErrorCode::NonFinite);
        case RunState::Interrupted:
            return exit_code(ErrorCode::Interrupted);
        case RunState::Lost:
            return exit_code(ErrorCode::WorkerLost);
        case RunState::Failed:
            return exit_code(ErrorCode::Internal);
        case RunState::Queued:
        case RunState::Trial:
        case RunState::Running:
        case RunState::Paused:
        case RunState::Finished:
        case RunState::Stopped:
            return 0;
    }
    return exit_code(ErrorCode::Internal);
}

}  // namespace mantissa::launch_files
