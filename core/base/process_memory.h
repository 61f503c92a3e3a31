#pragma once
#include <cstdint>

namespace mantissa {

/// Resident set of this process in bytes, from /proc/self/statm; 0 where there is none. A read costs some microseconds.
[[nodiscard]] std::int64_t resident_bytes();

}  // namespace mantissa
