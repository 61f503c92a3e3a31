#pragma once
// What libmantissa-cuda.so offers (core/cuda), seen from the engine's side. The plugin links LibTorch's CUDA part, so it is loaded only when
// a driver is there: one binary serves machines with and without a GPU. It exports
//   extern "C" const mantissa::CudaApi* mantissa_cuda_api();
// Both sides are built together: `abi` must equal `cuda_abi`, else the plugin is refused with both texts. Whoever includes this has
// LibTorch's declarations.
#include <cstdint>

#include "base/result.h"

namespace at {
class Tensor;
}
namespace c10d {
class ProcessGroup;
class Store;
}  // namespace c10d

namespace mantissa {

inline constexpr const char* cuda_abi = "mantissa-cuda-1";

/// Bytes of LibTorch's caching allocator on one GPU, and of the whole GPU as its driver counts them.
struct CudaMemory {
    std::int64_t allocated = 0, allocated_peak = 0;  // in blocks that tensors hold (multiples of 512 bytes)
    std::int64_t reserved = 0, reserved_peak = 0;    // taken from the driver, blocks and what lies free between them
    std::int64_t free = 0, total = 0;                // of the GPU, other programs' memory included
};

struct NcclPlace {
    c10d::ProcessGroup& group;  // gets NCCL for its CUDA tensors
    c10d::Store& store;         // where its processes have met
    std::int64_t rank = 0, size = 1;
    std::int64_t device = 0;    // of this process
    std::int64_t timeout_ms = 60'000;
};

/// Every function is called by the thread that trains. Results, not exceptions; count_values throws what torch throws.
struct CudaApi {
    const char* abi;
    const char* torch_version;
    int cuda_version;  // of the compiler: 13000
    Result<CudaMemory> (*memory)(std::int64_t device);
    /// allocated_peak and reserved_peak begin anew.
    Result<void> (*begin_peak)(std::int64_t device);
    /// Gives what the allocator keeps back to the driver: after an out-of-memory there is room for another attempt.
    Result<void> (*release_cached)();
    Result<void> (*add_nccl)(const NcclPlace& place);
    /// A one-dimensional contiguous float32 tensor on a GPU -> numerics/packed_layout.h's row on the same GPU. Nothing is waited for.
    at::Tensor (*count_values)(const at::Tensor& values);
};

}  // namespace mantissa
