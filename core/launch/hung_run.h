#pragma once
// A run that was asked to stop and does not move: it is asked once more by SIGTERM, which also ends what has no step edge any more, and
// killed five seconds later. One that moves is never touched: it ends at its step edge, however long its steps take.
#include <cstdint>
#include <optional>
#include <string>

#include "record/run_folder.h"
#include "record/stall.h"

namespace mantissa {

class HungRun {
  public:
    enum class Act { None, Terminate, Kill };

    void ask_to_end() { m_is_asked = true; }
    /// What is to be done now; looks at the folder four times a second at most. Terminate and Kill are said once.
    Act look(const RunFolder& folder);
    /// "stopped: no progress for 34 s at step 41; …" once it was killed; empty before.
    [[nodiscard]] const std::string& said() const { return m_said; }

    static constexpr std::int64_t killed_after_ns = 5'000'000'000;

  private:
    bool m_is_asked = false;
    std::int64_t m_looked_ns = 0, m_terminated_ns = 0;
    std::string m_said;
};

/// "no progress for 34 s at step 41: rank 1 gives no sign of life"
[[nodiscard]] std::string describe_stall(const Stall& stall);

}  // namespace mantissa
