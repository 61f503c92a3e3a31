#pragma once
// What this machine can do: facts of every device, and a real forward and backward in each supported mode.
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"
#include "devices/device_facts.h"
#include "record/reports.h"
#include "torch_pch.h"

namespace mantissa {

struct DeviceList {
    std::vector<DeviceFacts> devices;  // the CPU first
    std::vector<std::string> notes;    // "no NVIDIA driver: …"
    bool cuda_is_loaded = false;       // GPUs can be computed on
};

[[nodiscard]] DeviceList find_devices();
[[nodiscard]] ProbeReport probe_devices();

/// Device and precision of a run, settled before it starts; `device` is what is handed to the Accelerator.
struct DeviceChoice {
    DeviceFacts device;
    PrecisionChoice precision;
};

/// Who wants a device: one process, or one of several on this machine, of which each takes a GPU of its own.
struct DeviceWish {
    std::string device = "auto";  // auto cpu cuda cuda:N
    std::int64_t processes = 1, local_rank = 0;
};

/// "auto" is the first GPU that can be computed on, else the CPU. Refuses with UnsupportedDevice,
/// UnsupportedPrecision or NotBuilt, each with the reason and the choices; never takes another mode than
/// asked for (rule 6).
Result<DeviceChoice> choose_device(const DeviceList& list, const std::string& device, Precision mode,
                                   bool allow_emulated);
/// Of several processes every GPU that takes part is asked: the weakest decides for all, and is named (rule 5). "auto" takes GPUs only
/// when there is one for each process.
Result<DeviceChoice> choose_device_of_several(const DeviceList& list, const DeviceWish& wish, Precision mode, bool allow_emulated);

}  // namespace mantissa
