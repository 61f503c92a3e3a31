#pragma once
// The supervisor is the same `mantissa` program in a session of its own. It tries every mode in a throw-away
// process, starts one fresh worker process per mode, reaps them, writes the end states of those that died,
// and goes on when the window or the terminal that started it is gone. End of standard input never stops it;
// SIGTERM stops and SIGINT interrupts all its runs.
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/result.h"
#include "launch/job.h"

namespace mantissa {

/// A supervisor that this process started. Dropping the handle leaves the supervisor running.
class SupervisorHandle {
  public:
    SupervisorHandle(pid_t pid, std::filesystem::path folder) : m_pid(pid), m_folder(std::move(folder)) {}
    [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
    [[nodiscard]] pid_t pid() const { return m_pid; }
    /// Exit code once it has ended (128 + signal when it was killed). Never blocks.
    std::optional<int> poll();
    /// Waits for the end.
    int wait();

  private:
    pid_t m_pid;
    std::filesystem::path m_folder;
    std::optional<int> m_exit_code;
};

/// Starts `mantissa supervise <job folder>` and returns when it listens (so that connecting works at once) or
/// with its error.
Result<SupervisorHandle> start_supervisor(PreparedJob job);

struct SupervisorHooks {
    /// Called once in the supervisor when all runs have ended, with the job folder: judge, verdicts, report.
    /// The folder's comparison.json is complete but for fairness, verdicts and decision.
    std::function<Result<void>(const std::filesystem::path& job_folder)> finish;
    std::chrono::seconds trial_limit{120};  // a trial that takes longer is killed and recorded as hanging
};

/// Body of the hidden verb `mantissa supervise JOB_FOLDER`; returns the exit code of the whole job (see
/// job_exit_code).
int supervise(const std::filesystem::path& job_folder, const SupervisorHooks& hooks);

/// The `mantissa` program that supervisor, workers and trials are made of: MANTISSA_PROGRAM, else `mantissa`
/// beside the running program.
[[nodiscard]] std::filesystem::path mantissa_program();

}  // namespace mantissa
