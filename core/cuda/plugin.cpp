// The table that libmantissa-cuda.so exports.
#include "torch_pch.h"
#include <cuda_runtime_api.h>

#include "cuda/functions.h"

extern "C" __attribute__((visibility("default"))) const mantissa::CudaApi* mantissa_cuda_api() {
    using namespace mantissa;
    static const CudaApi api{cuda_abi,           TORCH_VERSION,        CUDART_VERSION, cuda::memory,
                             cuda::begin_peak,   cuda::release_cached, cuda::add_nccl, cuda::count_values};
    return &api;
}
