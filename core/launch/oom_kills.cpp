#include "launch/oom_kills.h"

#include <sstream>

#include "base/files.h"
#include "base/numbers.h"

namespace mantissa {

std::optional<std::int64_t> oom_kills_in(const std::string& vmstat) {
    std::istringstream lines(vmstat);
    std::string name, value;
    while (lines >> name >> value) {
        if (name == "oom_kill") return parse_int(value);
    }
    return std::nullopt;
}

std::optional<std::int64_t> oom_kills() {
    const auto text = read_file("/proc/vmstat");
    return text ? oom_kills_in(*text) : std::nullopt;
}

std::string told_oom(std::optional<std::int64_t> before, std::optional<std::int64_t> after) {
    if (!before || !after || *after <= *before) return {};
    const std::int64_t kills = *after - *before;
    return " (meanwhile the kernel ended " + std::to_string(kills) + (kills == 1 ? " process" : " processes") +
           " for lack of memory, probably this one: a smaller batch or fewer processes need less)";
}

}  // namespace mantissa
