#pragma once
// Scope *worker thread*: the engine runs on a thread of this process, with the same folder, recording and
// control as a worker process. One at a time in a process; comparisons are refused, because a process keeps
// one precision for life (design rule 10).
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "base/result.h"
#include "host/engine_api.h"
#include "launch/job.h"
#include "launch/worker.h"

namespace mantissa {

class ThreadRun {
  public:
    /// Takes a prepared single run. `finish` is called on the worker thread after the run's end (judge,
    /// verdicts).
    /// `ranks`: this process's place among those of a launch (scope join). The main one holds the job, the others only train.
    static Result<std::unique_ptr<ThreadRun>> start(
        PreparedJob job, const EngineLoader& loader = {},
        std::function<Result<void>(const std::filesystem::path&)> finish = {}, std::optional<RankPlace> ranks = {});
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

  private:
    explicit ThreadRun(PreparedJob job) : m_job(std::move(job)) {}
    PreparedJob m_job;
    RunControl m_control;
    std::atomic<bool> m_ended{false};
    std::atomic<int> m_exit_code{0};
    std::jthread m_thread;
};

/// Why this plan can't run in scope thread in this process now; empty when it can.
[[nodiscard]] std::string thread_scope_refusal(JobKind kind, Precision mode);

}  // namespace mantissa
