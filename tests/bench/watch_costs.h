#pragma once
// What watching a run of digits-cnn costs: the training thread's CPU time of a run over that of the same run without any watch, and of
// level 3, which a replay uses for one step, a step's time over that of a plain step of a replay. Each in one mode, one thread.
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/precision.h"

namespace mantissa::bench {

struct WatchKind {
    const char* name;
    const char* over;  // the kind that it is compared with
    int level;         // -1: nothing is watched
    bool keep_states;
    bool alarms;
    double limit;      // 0: as measured
};
inline constexpr std::array<WatchKind, 8> watch_kinds{{{"none", "", -1, false, false, 0},
                                                       {"level-0", "none", 0, false, false, 1.01},
                                                       {"level-1", "none", 1, false, false, 1.03},
                                                       {"level-2", "none", 2, false, false, 0},
                                                       {"kept-states", "none", -1, true, false, 1.01},
                                                       {"default", "none", 1, true, true, 0},
                                                       {"plain-step", "", 0, false, false, 0},
                                                       {"level-3", "plain-step", 3, false, false, 0}}};
[[nodiscard]] const WatchKind* find_watch_kind(const std::string& name);
[[nodiscard]] std::string watch_kind_names();  // those with a cost

/// Prints {kind: {ratio, interval95, ...}}: medians of interleaved pairs; of one kind, or of all where `only` is empty.
int run_watch_ratios(Precision mode, int pairs, const std::string& only);
/// Prints the largest resident set of one run with that kind, in bytes.
int run_watch_memory(Precision mode, const WatchKind& kind);

}  // namespace mantissa::bench
