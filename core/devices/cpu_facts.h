#pragma once
#include <string>
#include <string_view>

#include "devices/device_facts.h"

namespace mantissa {

/// From the texts of /proc/cpuinfo and /proc/meminfo; `held_back_by` as read_cpu_facts finds it.
[[nodiscard]] DeviceFacts parse_cpu_facts(std::string_view cpuinfo, std::string_view meminfo,
                                          std::string held_back_by);
/// This machine. ATEN_CPU_CAPABILITY and ONEDNN_MAX_CPU_ISA below AVX512 hold half instructions back, and are
/// named.
[[nodiscard]] DeviceFacts read_cpu_facts();

}  // namespace mantissa
