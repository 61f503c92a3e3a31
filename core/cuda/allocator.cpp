// Figures of LibTorch's caching allocator.
#include "torch_pch.h"
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

#include "cuda/functions.h"
#include "cuda/guarded.h"

namespace mantissa::cuda {
namespace {

const c10::CachingAllocator::Stat& total(const c10::CachingAllocator::StatArray& stats) {
    return stats[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
}

}  // namespace

Result<CudaMemory> memory(std::int64_t device) {
    return guarded("asking the GPU's allocator", [device]() -> Result<CudaMemory> {
        const auto index = static_cast<c10::DeviceIndex>(device);
        const c10::cuda::CUDAGuard guard(index);
        const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(index);
        CudaMemory memory{.allocated = total(stats.allocated_bytes).current, .allocated_peak = total(stats.allocated_bytes).peak,
                          .reserved = total(stats.reserved_bytes).current, .reserved_peak = total(stats.reserved_bytes).peak};
        std::size_t free = 0, all = 0;
        C10_CUDA_CHECK(cudaMemGetInfo(&free, &all));
        memory.free = static_cast<std::int64_t>(free);
        memory.total = static_cast<std::int64_t>(all);
        return memory;
    });
}

Result<void> begin_peak(std::int64_t device) {
    return guarded("asking the GPU's allocator", [device]() -> Result<void> {
        c10::cuda::CUDACachingAllocator::resetPeakStats(static_cast<c10::DeviceIndex>(device));
        return {};
    });
}

Result<void> release_cached() {
    return guarded("giving memory back to the GPU's driver", []() -> Result<void> {
        c10::cuda::CUDACachingAllocator::emptyCache();
        return {};
    });
}

}  // namespace mantissa::cuda
