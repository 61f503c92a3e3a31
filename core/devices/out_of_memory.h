#pragma once
// A GPU whose memory is full, in words: what was asked for, what there is, what this process had at most, and three ways out.
#include <optional>
#include <string>

#include "base/result.h"
#include "devices/cuda_api.h"

namespace mantissa {

/// `text` is what LibTorch's allocator throws; `memory` of that GPU, where it is known.
[[nodiscard]] Error explain_out_of_memory(const std::string& text, const std::optional<CudaMemory>& memory);
/// Of the current GPU of this process; empty without the plugin.
[[nodiscard]] std::optional<CudaMemory> peak_of_gpu();

}  // namespace mantissa
