#pragma once
// One trial (design rule 5) in a throw-away process that the caller polls: used by the supervisor before a
// job and by the window's Set up page. A trial that crashes, hangs or refuses still gives a TrialReport, with
// `runs` false and the reason.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/precision.h"
#include "base/result.h"
#include "record/reports.h"

namespace mantissa {

struct TrialOutcome {
    TrialReport report;
    int exit_code = 0;                     // 0 it runs, 3 unsupported, else what went wrong
    std::int64_t device_memory_bytes = 0;  // of the device that was tried; 0 = not known
};

class TrialProcess {
  public:
    /// `plan_file` in the form of plan.json; `threads` as in the plan's launch.threads. The process's own
    /// words go to `log_file` (appended).
    static Result<TrialProcess> start(const std::filesystem::path& plan_file, Precision mode,
                                      std::int64_t threads, const std::filesystem::path& log_file,
                                      std::chrono::seconds limit);
    TrialProcess(TrialProcess&& other) noexcept;
    TrialProcess& operator=(TrialProcess&& other) noexcept;
    ~TrialProcess();  // kills a trial that still runs

    /// The outcome once it has ended, or once the time limit killed it. Never blocks.
    std::optional<TrialOutcome> poll();
    [[nodiscard]] Precision mode() const { return m_mode; }

  private:
    TrialProcess() = default;
    TrialOutcome read_outcome(int wait_status) const;

    pid_t m_pid = -1;
    Precision m_mode = Precision::No;
    std::filesystem::path m_out_file;
    std::chrono::seconds m_limit{};
    std::int64_t m_started_ns = 0;
    bool m_timed_out = false;
};

}  // namespace mantissa
