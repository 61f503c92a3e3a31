#pragma once
// One run under a supervisor: queued, tried, its worker process, its end. The supervisor's one thread only.
// Internal to core/launch.
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "launch/control_client.h"
#include "launch/hung_run.h"
#include "launch/job.h"
#include "launch/run_watch.h"
#include "launch/worker_group.h"
#include "plan/run_plan.h"

namespace mantissa {

class ManagedRun {
  public:
    ManagedRun(JobRun run, RunClaim claim) : m_run(std::move(run)), m_claim(std::move(claim)), m_watch(m_run.folder) {}

    [[nodiscard]] const JobRun& run() const { return m_run; }
    /// "no repetition 1" for a replica.
    [[nodiscard]] std::string mode() const {
        return to_string(m_run.mode) + (is_replica() ? " " + m_run.replica.label() : std::string());
    }
    [[nodiscard]] bool is_replica() const { return m_run.replica.is_replica(); }
    [[nodiscard]] bool has_ended() const { return m_phase == Phase::Ended; }
    [[nodiscard]] bool is_queued() const { return m_phase == Phase::Queued; }
    [[nodiscard]] bool is_running() const { return m_phase == Phase::Running; }
    [[nodiscard]] RunState end_state() const { return m_end_state; }
    [[nodiscard]] int exit_code() const { return m_exit_code; }
    [[nodiscard]] RunStatus status();

    /// Starts the worker process, or one per rank. `comparison_folder`: take turns there as number `slot`. An error has ended
    /// the run as failed.
    Result<void> start(const RunPlan& plan, const std::filesystem::path& comparison_folder, std::size_t slot);
    /// True when its workers have ended: writes the end state if they could not. Also keeps the time limits of ranks.
    bool look_for_end();
    /// Ends a run whose worker was never started.
    void end_unstarted(RunState state, const std::string& reason, int exit_code);
    /// A command of the control protocol; what was done, or why not.
    Result<std::string> command(const std::string& name);
    void mark_trial();

  private:
    enum class Phase { Queued, Running, Ended };

    Result<std::string> command_before_start(const std::string& name);
    void end(RunState state, const std::string& reason, int exit_code, bool is_written);
    void workers_ended(const WorkerGroup::End& ended, bool has_ranks);
    void lost_by_signal(const WorkerGroup::End& ended, bool has_ranks, const std::string& at);
    void end_if_hung();

    JobRun m_run;
    RunClaim m_claim;
    Phase m_phase = Phase::Queued;
    WorkerGroup m_workers;
    bool m_aborted = false;
    std::string m_first_commands;
    RunState m_end_state = RunState::Queued;
    std::string m_end_reason;
    int m_exit_code = 0;
    RunWatch m_watch;  // for `status`
    HungRun m_hung;
    std::optional<std::int64_t> m_oom_kills_before;
};

}  // namespace mantissa
