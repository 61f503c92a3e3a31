#pragma once
// NVIDIA's driver, asked directly (libcuda.so.1): it answers without LibTorch's CUDA part, which is 500 MB to
// load. The calls are values, so that a driver that is missing, too old or hanging can be tried without one.
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "devices/device_facts.h"

namespace mantissa {

/// The few entries of the driver API that are needed. Each returns the driver's status; 0 is success.
struct DriverCalls {
    std::function<int(unsigned flags)> init;
    std::function<int(int* version)> version;  // 13000 for CUDA 13.0
    std::function<int(int* count)> count;
    std::function<int(char* name, int size, int device)> name;
    std::function<int(std::size_t* bytes, int device)> memory;
    std::function<int(int* value, int attribute, int device)> attribute;
    std::function<int(unsigned char* sixteen_bytes, int device)> uuid;
};

struct DriverLibrary {
    bool is_there = false;             // libcuda.so.1 could be opened
    std::string missing_call;          // not empty: it lacks this one
    std::optional<DriverCalls> calls;  // empty: one of the above
};

struct DriverAnswer {
    bool is_there = false;  // and has a GPU, and speaks a CUDA that LibTorch understands
    std::string note;       // a sentence for people: "no NVIDIA driver: …"
    int cuda_version = 0;   // 13000; 0: not known
    std::vector<DeviceFacts> devices;
};

/// The oldest driver that LibTorch's CUDA 13.0 can use speaks CUDA 13.0 (NVIDIA's driver 580).
inline constexpr int needed_cuda_version = 13000;

[[nodiscard]] DriverLibrary open_driver_library();
/// A driver may hang in its first call, for good: it is asked in a thread of its own, which is left behind after `limit`.
[[nodiscard]] DriverAnswer ask_driver(const DriverLibrary& library, std::chrono::milliseconds limit);
/// This machine's; asked once in a process.
[[nodiscard]] const DriverAnswer& ask_nvidia_driver();

/// Loads LibTorch's CUDA part beside libtorch_cpu; call it only when a driver is there. Empty on success,
/// else why not.
[[nodiscard]] std::string load_torch_cuda();

}  // namespace mantissa
