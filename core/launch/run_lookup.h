#pragma once
// Who works on a folder? For a new window or `mantissa runs list`: everything follows from locks that the
// kernel frees.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/job.h"
#include "record/rows.h"

namespace mantissa {

/// A supervisor (or a thread-scope window) is alive for this job folder, or for the job that this run folder
/// belongs to.
[[nodiscard]] bool has_supervisor(const std::filesystem::path& folder);

/// The job folder of a run folder: the comparison's folder, or the run folder itself.
[[nodiscard]] std::filesystem::path job_folder_of(const std::filesystem::path& run_folder);

/// Job folders below `runs` that a supervisor works on now, newest first: what a new window offers to follow.
[[nodiscard]] std::vector<std::filesystem::path> find_running_jobs(const std::filesystem::path& runs);

/// How one run ended (or stands now), from its folder alone.
struct RunOutcome {
    RunState state = RunState::Queued;
    std::string reason;
    int exit_code = 0;  // 0 finished or stopped, 4 non-finite, 5 lost, 130 interrupted, else of its error
};
Result<RunOutcome> read_run_outcome(const std::filesystem::path& run_folder);

/// Exit code of a whole job: a single run's own; of a comparison the first of lost (5), failed (its code),
/// interrupted (130), and with `strict` also stopped by a non-finite value (4); else 0.
[[nodiscard]] int job_exit_code(const std::filesystem::path& job_folder, bool strict = false);
[[nodiscard]] int combined_exit_code(JobKind kind, const std::vector<RunOutcome>& outcomes,
                                     bool strict = false);

}  // namespace mantissa
