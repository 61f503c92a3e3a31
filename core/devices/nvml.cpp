#include "devices/nvml.h"

#include <dlfcn.h>

#include <array>

namespace mantissa {
namespace {

constexpr unsigned core_sensor = 0, multiprocessor_clock = 1;

template <typename... Arguments>
void load(void* library, const char* name, std::function<int(Arguments...)>& call) {
    if (void* const symbol = dlsym(library, name)) call = reinterpret_cast<int (*)(Arguments...)>(symbol);
}

/// A number that the call writes, in units of 1 / `parts`.
template <typename Call, typename... Arguments>
std::optional<double> number(const Call& call, double parts, Arguments... arguments) {
    unsigned value = 0;
    if (!call || call(arguments..., &value) != 0) return std::nullopt;
    return static_cast<double>(value) / parts;
}

std::string driver_version(const NvmlCalls& nvml) {
    std::array<char, 96> text{};
    if (!nvml.driver_version || nvml.driver_version(text.data(), static_cast<unsigned>(text.size()) - 1) != 0) return "";
    return text.data();
}

}  // namespace

std::optional<NvmlCalls> open_nvml() {
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return std::nullopt;
    NvmlCalls calls;
    load(library, "nvmlInit_v2", calls.init);
    load(library, "nvmlSystemGetDriverVersion", calls.driver_version);
    load(library, "nvmlDeviceGetHandleByUUID", calls.device_of);
    load(library, "nvmlDeviceGetMemoryInfo", calls.memory);
    load(library, "nvmlDeviceGetUtilizationRates", calls.utilization);
    load(library, "nvmlDeviceGetTemperature", calls.temperature);
    load(library, "nvmlDeviceGetPowerUsage", calls.power);
    load(library, "nvmlDeviceGetEnforcedPowerLimit", calls.power_limit);
    load(library, "nvmlDeviceGetClockInfo", calls.clock);
    if (!calls.init || calls.init() != 0) return std::nullopt;
    return calls;
}

std::vector<DeviceFigure> gpu_figures(const std::optional<NvmlCalls>& nvml, const std::string& uuid) {
    std::vector<DeviceFigure> figures{{"driver", "", {}, ""},          {"memory_used", "", {}, "bytes"}, {"busy", "", {}, "%"},
                                      {"temperature", "", {}, "°C"},  {"power", "", {}, "W"},          {"power_limit", "", {}, "W"},
                                      {"clock", "", {}, "MHz"}};
    if (!nvml) return figures;
    figures[0].text = driver_version(*nvml);
    NvmlDevice device = nullptr;
    if (uuid.empty() || !nvml->device_of || nvml->device_of(uuid.c_str(), &device) != 0) return figures;
    if (NvmlMemory memory; nvml->memory && nvml->memory(device, &memory) == 0) figures[1].value = static_cast<double>(memory.used);
    if (NvmlUtilization use; nvml->utilization && nvml->utilization(device, &use) == 0) figures[2].value = use.gpu;
    figures[3].value = number(nvml->temperature, 1, device, core_sensor);
    figures[4].value = number(nvml->power, 1000, device);
    figures[5].value = number(nvml->power_limit, 1000, device);
    figures[6].value = number(nvml->clock, 1, device, multiprocessor_clock);
    return figures;
}

}  // namespace mantissa
