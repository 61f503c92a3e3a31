#pragma once
// The time machine: a step of a run again, then the grid of variants, one fresh process at a time, from the run's folder alone.
// RUN/incidents/step_<n>/replay.json is rewritten by rename as each variant begins and ends. What an earlier replay of the step has tried,
// to the same bits, stays in its grid. The caller polls; one thread.
#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/work_folder.h"
#include "launch/replay_process.h"
#include "launch/replay_variants.h"

namespace mantissa {

struct ReplayHooks {
    /// After each rewrite of replay.json.
    std::function<void(const ReplayReport&)> changed;
    /// Once at the end: sets the verdict, and `best` where it knows better. Not called when the step was not reproduced.
    std::function<Result<void>(ReplayReport&)> judge;
    /// Of one process; unset: what the run needed for those steps many times over, and two minutes.
    std::optional<std::chrono::seconds> limit;
};

class ReplayJob {
  public:
    /// Errors: those of find_replay_subject and ReplayVariants; InputOutput when the folder can't be written or another replay works on
    /// this step.
    static Result<std::unique_ptr<ReplayJob>> start(const ReplayOptions& options, ReplayHooks hooks = {});
    ~ReplayJob();  // kills what still computes
    ReplayJob(const ReplayJob&) = delete;
    ReplayJob& operator=(const ReplayJob&) = delete;

    /// Goes on a bit; true when everything has ended. Never waits for a process.
    bool poll();
    /// Kills what computes, keeps what is done; state "stopped". Before the step is reproduced, the earlier replay's report is put back.
    void stop();

    [[nodiscard]] const ReplayReport& report() const { return m_report; }
    [[nodiscard]] const ReplaySubject& subject() const { return m_subject; }
    /// Why the report is failed, with its exit code.
    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

  private:
    ReplayJob(ReplaySubject subject, ReplayHooks hooks);
    Result<void> open(const ReplayOptions& options);
    void begin_next();
    void cant_try(VariantReport& variant, const Error& error);
    Result<void> begin(const ReplayRequest& request);
    void take_unchanged(Result<ReplayAnswer> answer);
    void take_variant(Result<ReplayAnswer> answer);
    void take_curve(const ReplayAnswer& answer);
    void keep_state();
    void take_over_earlier();
    void end(const char* state);
    void fail(const Error& error);
    void save();
    [[nodiscard]] VariantReport* running();
    [[nodiscard]] std::chrono::seconds limit_of(const ReplayRequest& request) const;

    ReplaySubject m_subject;
    ReplayHooks m_hooks;
    std::optional<ReplayVariants> m_variants;
    ReplayReport m_report;
    std::optional<ReplayReport> m_earlier;  // of the same step, reproduced
    std::optional<ReplayProcess> m_process;
    std::optional<Error> m_error;
    WorkFolder m_work;              // requests, answers, the state at the step; removed at the end
    std::filesystem::path m_state;  // at the step; empty: from the seed
    std::string m_first_island;     // that did not hold alone
    std::int64_t m_started_ns = 0;
    int m_lock = -1;
    bool m_has_ended = false;
};

/// Another process works on a replay of this step.
[[nodiscard]] bool is_replay_running(const std::filesystem::path& run, std::int64_t step);

/// The cheapest change that a run can go on with and that held; empty: none.
[[nodiscard]] std::string cheapest_that_holds(const ReplayReport& report);

}  // namespace mantissa
