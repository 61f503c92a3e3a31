#pragma once
// The plugin's functions, as devices/cuda_api.h describes them. Whoever includes this has LibTorch's declarations.
#include "devices/cuda_api.h"

namespace mantissa::cuda {

[[nodiscard]] Result<CudaMemory> memory(std::int64_t device);
[[nodiscard]] Result<void> begin_peak(std::int64_t device);
[[nodiscard]] Result<void> release_cached();
[[nodiscard]] Result<void> add_nccl(const NcclPlace& place);
[[nodiscard]] at::Tensor count_values(const at::Tensor& values);

}  // namespace mantissa::cuda
