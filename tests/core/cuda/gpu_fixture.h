#pragma once
// Cases that need a GPU: without one each says why, and is skipped.
#include <gtest/gtest.h>

#include "devices/cuda_plugin.h"
#include "devices/probe.h"
#include "numerics/device_counter.h"

namespace mantissa {

/// The driver is asked once; a case that goes on has a GPU, LibTorch's CUDA part and the plugin.
inline const DeviceList& this_machine() {
    static const DeviceList machine = find_devices();
    return machine;
}
inline std::string why_no_gpu() {
    std::string why = "NOT TRIED, no GPU can be used here";
    for (const std::string& note : this_machine().notes) why += ": " + note;
    return why;
}

#define MANTISSA_NEEDS_GPU() \
    if (!this_machine().cuda_is_loaded) GTEST_SKIP() << why_no_gpu()

}  // namespace mantissa
