#pragma once
// Scope *worker thread*: the engine runs on a thread of this process, with the same folder, recording and
// control as a worker process, the control socket included. One at a time in a process; comparisons are refused, because a process keeps
// one precision for life (design rule 10).
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "base/result.h"
#include "host/engine_api.h"
#include "launch/hung_run.h"
#include "launch/job.h"
#include "launch/worker.h"

namespace mantissa {

class ThreadControl;

class ThreadRun {
  public:
    /// Takes a prepared single run. `finish` is called on the worker thread after the run's end (judge,
    /// verdicts).
    /// `ranks`: this process's place among those of a launch (scope join). The main one holds the job, the others only train.
    /// `owner`: a window that controls the run by `control()`; others that come by the socket only watch.
    enum class Owner { Program, Window };
    static Result<std::unique_ptr<ThreadRun>> start(
        PreparedJob job, const EngineLoader& loader = {},
        std::function<Result<void>(const std::filesystem::path&)> finish = {}, std::optional<RankPlace> ranks = {},
        Owner owner = Owner::Program);
    ~ThreadRun();  // interrupts and waits
    ThreadRun(const ThreadRun&) = delete;
    ThreadRun& operator=(const ThreadRun&) = delete;

    [[nodiscard]] RunControl& control() { return m_control; }
    [[nodiscard]] const std::filesystem::path& folder() const { return m_job.folder; }
    [[nodiscard]] bool has_ended() const { return m_ended; }
    /// Waits for the end; the exit code of design §5. The end state and its reason stand in the recording.
    int wait();
    /// Only after the end.
    [[nodiscard]] int exit_code() const { return m_exit_code; }
    [[nodiscard]] const std::string& reason() const { return m_reason; }
    /// Posts a stop or an interrupt, and remembers that the end is wanted.
    void end_by(ControlCommand command);
    /// What this program has to do at once, looked at ten times a second: the run was aborted by command, or it was asked to end and has
    /// not moved for too long. Its end state is recorded then, and the program must leave by _Exit: the thread can't be ended. Empty: nothing.
    [[nodiscard]] std::string must_leave();

  private:
    explicit ThreadRun(PreparedJob job);
    PreparedJob m_job;
    RunControl m_control;
    std::atomic<bool> m_ended{false};
    std::atomic<int> m_exit_code{0};
    std::string m_reason;  // the worker thread's, until the end
    HungRun m_hung;
    std::unique_ptr<ThreadControl> m_server;  // of the main process
    std::jthread m_thread;
};

/// Why this plan can't run in scope thread in this process now; empty when it can.
[[nodiscard]] std::string thread_scope_refusal(JobKind kind, Precision mode);

}  // namespace mantissa
