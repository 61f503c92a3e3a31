#pragma once
// What watching a run costs: the training thread's CPU time of a run over that of the same run without any watch.
#include <array>
#include <string>

#include "base/precision.h"

namespace mantissa::bench {

struct WatchKind {
    const char* name;
    int level;         // -1: nothing is watched
    bool keep_states;
    double limit;      // 0: as measured
};
inline constexpr std::array<WatchKind, 6> watch_kinds{{{"none", -1, false, 0},
                                                       {"level-0", 0, false, 1.01},
                                                       {"level-1", 1, false, 1.03},
                                                       {"level-2", 2, false, 0},
                                                       {"kept-states", -1, true, 1.01},
                                                       {"as-planned", 1, true, 0}}};

/// Prints {kind: {ratio, interval95, ...}}: medians of interleaved pairs of digits-cnn.
int run_watch_costs(Precision mode, int pairs);
/// Prints the largest resident set of one run with that kind, in bytes.
int run_watch_memory(Precision mode, const std::string& kind);

}  // namespace mantissa::bench
