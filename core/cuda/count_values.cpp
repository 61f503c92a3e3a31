// The statistics kernel on a tensor.
#include "torch_pch.h"
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "cuda/functions.h"
#include "cuda/value_counts.h"
#include "numerics/packed_layout.h"

namespace mantissa::cuda {

at::Tensor count_values(const at::Tensor& values) {
    TORCH_CHECK(values.is_cuda() && values.scalar_type() == at::kFloat && values.is_contiguous(),
                "counting wants contiguous float32 values on a GPU");
    const c10::cuda::CUDAGuard guard(values.device());
    const auto stream = c10::cuda::getCurrentCUDAStream(values.device().index());
    const at::Tensor counts = at::zeros({packed_layout::counts_end}, values.options().dtype(at::kLong));
    const auto bytes = static_cast<std::int64_t>(value_counts::bytes_per_block()) * value_counts::blocks_for(values.numel());
    const at::Tensor parts = at::empty({bytes}, values.options().dtype(at::kByte));
    at::Tensor row = at::empty({packed_layout::figures + packed_layout::counts_end}, values.options().dtype(at::kDouble));
    // The allocator hands memory on within a stream, so what is freed here is not used before the kernels have run.
    const int error = value_counts::count(values.const_data_ptr<float>(), values.numel(),
                                          static_cast<unsigned long long*>(counts.mutable_data_ptr()), parts.mutable_data_ptr(),
                                          row.mutable_data_ptr<double>(), stream.stream());
    C10_CUDA_CHECK(static_cast<cudaError_t>(error));
    return row;
}

}  // namespace mantissa::cuda
