#pragma once
// The memory rule of a comparison's order (design §5). Internal to core/launch.
#include <cstdint>
#include <string>

namespace mantissa {

/// Memory that this process may use: of the machine, or of its control group where that is less. 0 = not
/// known.
[[nodiscard]] std::int64_t machine_memory_bytes();

/// A sentence when all modes together pass 80 % of the device; else empty. An unknown device (0) gives no
/// reason.
[[nodiscard]] std::string reason_for_one_by_one(std::int64_t needed_bytes, std::int64_t device_bytes);

}  // namespace mantissa
