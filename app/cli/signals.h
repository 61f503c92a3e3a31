#pragma once
// Ctrl-C and SIGTERM as counters that the follower looks at; poll() wakes up because handlers don't restart
// it. SIGUSR1, by which Slurm says that the time is nearly over (--signal=USR1@60), counts as SIGTERM.
#include <signal.h>

namespace mantissa::cli {

struct SignalCounts {
    int interrupts = 0, terminations = 0;
};

void catch_signals();
/// The closed terminal counts as SIGTERM too: for a run in this very process, which would die unsaved.
/// (nohup's wish stays: an ignored SIGHUP is ignored.)
void catch_hangup();
[[nodiscard]] SignalCounts signal_counts();

/// While it lives, the closed terminal counts as SIGTERM: for work that leaves nothing behind when it is stopped in order.
class HangupCaught {
  public:
    HangupCaught();
    ~HangupCaught();
    HangupCaught(const HangupCaught&) = delete;
    HangupCaught& operator=(const HangupCaught&) = delete;

  private:
    struct sigaction m_before {};
};

}  // namespace mantissa::cli
