// A plugin of another build of Mantissa.
#include "devices/cuda_api.h"

extern "C" __attribute__((visibility("default"))) const mantissa::CudaApi* mantissa_cuda_api() {
    static const mantissa::CudaApi api{"mantissa-cuda-0", "2.11.0", 0, nullptr, nullptr, nullptr, nullptr, nullptr};
    return &api;
}
