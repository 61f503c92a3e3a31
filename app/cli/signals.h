#pragma once
// Ctrl-C and SIGTERM as counters that the follower looks at; poll() wakes up because handlers don't restart
// it.
namespace mantissa::cli {

struct SignalCounts {
    int interrupts = 0, terminations = 0;
};

void catch_signals();
[[nodiscard]] SignalCounts signal_counts();

}  // namespace mantissa::cli
