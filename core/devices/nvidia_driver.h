#pragma once
// NVIDIA's driver, asked directly (libcuda.so.1): it answers without LibTorch's CUDA part, which is 500 MB to
// load.
#include <string>
#include <vector>

#include "devices/device_facts.h"

namespace mantissa {

struct DriverAnswer {
    bool is_there = false;
    std::string note;  // a sentence for people: "no NVIDIA driver: …"
    std::vector<DeviceFacts> devices;
};

[[nodiscard]] DriverAnswer ask_nvidia_driver();

/// Loads LibTorch's CUDA part beside libtorch_cpu; call it only when a driver is there. Empty on success,
/// else why not.
[[nodiscard]] std::string load_torch_cuda();

}  // namespace mantissa
