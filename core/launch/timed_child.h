#pragma once
// A child process with a time limit that its owner polls. It ends with its owner: nothing computes on for nobody.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "launch/child_process.h"

namespace mantissa {

class TimedChild {
  public:
    /// How it ended. Without a wait status somebody else has reaped it.
    struct End {
        std::optional<int> wait_status;
        bool is_timed_out = false;
    };

    TimedChild() = default;  // none
    static Result<TimedChild> start(const SpawnRequest& request, std::chrono::seconds limit);
    TimedChild(TimedChild&& other) noexcept;
    TimedChild& operator=(TimedChild&& other) noexcept;
    ~TimedChild();  // kills and reaps what still runs

    /// Once, when it has ended; past its limit it is killed first. Never blocks.
    std::optional<End> poll();
    [[nodiscard]] double seconds() const;  // since the start
    /// Why there is nothing to read from it: "`what` did not end within 120 s and was killed".
    [[nodiscard]] std::string sentence(const std::string& what, const End& end) const;

  private:
    pid_t m_pid = -1;
    std::chrono::seconds m_limit{};
    std::int64_t m_started_ns = 0;
    bool m_is_timed_out = false;
};

}  // namespace mantissa
