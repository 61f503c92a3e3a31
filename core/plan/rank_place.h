#pragma once
// Where one process stands among those that train one run together, and where they all meet.
#include <cstdint>
#include <string>

namespace mantissa {

struct RankPlace {
    std::int64_t rank = 0, size = 1;
    std::int64_t local_rank = 0;  // on this machine
    std::string store_file = {};  // not empty: all are on this machine, and meet in this file
    std::string host = {};        // else: where process 0, or the launcher, listens
    std::uint16_t port = 0;
    bool is_host_elsewhere = false;  // the launcher keeps the meeting point; else process 0 does
    std::string prefix = {};         // tells a restarted group from the one before it
    /// A call that waits longer for another process is an error. Also the time for all to come.
    std::int64_t timeout_ms = 60'000;
    /// A backward may leave parameters out, other ones on each process. Costs a walk through the graph per backward.
    bool finds_unused_parameters = true;

    bool operator==(const RankPlace&) const = default;
};

}  // namespace mantissa
