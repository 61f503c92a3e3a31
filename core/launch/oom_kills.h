#pragma once
// SIGKILL has no sender, but the kernel counts whom it ended for lack of memory.
#include <cstdint>
#include <optional>
#include <string>

namespace mantissa {

/// `oom_kill` of a text like /proc/vmstat; empty where the kernel doesn't count.
[[nodiscard]] std::optional<std::int64_t> oom_kills_in(const std::string& vmstat);
[[nodiscard]] std::optional<std::int64_t> oom_kills();
/// What is added to "killed by SIGKILL"; empty when nothing was counted in between.
[[nodiscard]] std::string told_oom(std::optional<std::int64_t> before, std::optional<std::int64_t> after);

}  // namespace mantissa
