#pragma once
// What a GPU is doing now, by NVIDIA's management library (libnvidia-ml.so.1), opened at run time. The library counts GPUs its own way
// (CUDA_VISIBLE_DEVICES changes the driver's), so a GPU is found by its UUID. What isn't known is empty and shown as "n/a", never 0.
#include <functional>
#include <optional>
#include <string>

#include "record/reports.h"

namespace mantissa {

using NvmlDevice = void*;
struct NvmlMemory {
    unsigned long long total = 0, free = 0, used = 0;
};
struct NvmlUtilization {
    unsigned gpu = 0, memory = 0;
};

/// The entries that are used; each returns the library's status, 0 is success. One that the library lacks is empty.
struct NvmlCalls {
    std::function<int()> init;
    std::function<int(char* text, unsigned size)> driver_version;
    std::function<int(const char* uuid, NvmlDevice* device)> device_of;
    std::function<int(NvmlDevice, NvmlMemory*)> memory;
    std::function<int(NvmlDevice, NvmlUtilization*)> utilization;
    std::function<int(NvmlDevice, unsigned sensor, unsigned* degrees)> temperature;
    std::function<int(NvmlDevice, unsigned* milliwatts)> power;
    std::function<int(NvmlDevice, unsigned* milliwatts)> power_limit;
    std::function<int(NvmlDevice, unsigned clock, unsigned* megahertz)> clock;
};

/// Empty: the library isn't there, or can't be started.
[[nodiscard]] std::optional<NvmlCalls> open_nvml();

/// driver, memory used, busy, temperature, power, power limit, clock: always these, in this order.
[[nodiscard]] std::vector<DeviceFigure> gpu_figures(const std::optional<NvmlCalls>& nvml, const std::string& uuid);

}  // namespace mantissa
