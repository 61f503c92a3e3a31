#pragma once
// One trial (design rule 5) in a throw-away process that the caller polls: used by the supervisor before a
// job and by the window's Set up page. A trial that crashes, hangs or refuses still gives a TrialReport, with
// `runs` false and the reason.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/precision.h"
#include "base/result.h"
#include "base/work_folder.h"
#include "launch/timed_child.h"
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

    /// The outcome once it has ended, or once the time limit killed it. Never blocks.
    std::optional<TrialOutcome> poll();
    [[nodiscard]] Precision mode() const { return m_mode; }

  private:
    TrialProcess() = default;
    [[nodiscard]] TrialOutcome read_outcome(const TimedChild::End& end) const;

    Precision m_mode = Precision::No;
    WorkFolder m_folder;  // of the answer
    TimedChild m_child;   // before its folder goes, the child does
};

}  // namespace mantissa
