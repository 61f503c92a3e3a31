#pragma once
#include <cstdint>
#include <string>

namespace mantissa {

/// Nanoseconds since the Unix epoch (wall clock): the time that recordings carry.
[[nodiscard]] std::int64_t now_ns();
/// Monotonic nanoseconds, for durations only.
[[nodiscard]] std::int64_t monotonic_ns();
/// "20261130-134955" in local time: sorts by name, safe in file names.
[[nodiscard]] std::string file_time_stamp(std::int64_t time_ns);
/// "2026-11-30 13:49:55" in local time.
[[nodiscard]] std::string readable_time(std::int64_t time_ns);

}  // namespace mantissa
