#pragma once
// Reads one tensor for a birth: the six counts, the largest and the smallest magnitude. One pass on a CPU, one host read elsewhere.
// For steps that are looked at op by op, not for training.
#include <cstdint>
#include <optional>

#include "record/replay_report.h"
#include "torch_pch.h"

namespace mantissa {

/// How bad a tensor is: it holds nothing worse than this.
enum class Level { Finite, Inf, NaN };

/// Name is left empty. Complex, sparse and quantized tensors give shape and dtype alone.
[[nodiscard]] TensorReading read_tensor(const torch::Tensor& tensor);
[[nodiscard]] Level level_of(const TensorReading& reading);
/// NaN or Inf when the tensor holds one, else the largest magnitude.
[[nodiscard]] double worst_of(const TensorReading& reading);
/// Smallest magnitude, zero included; NaN for an empty tensor.
[[nodiscard]] double smallest_of(const TensorReading& reading);

/// Along the first dimension, where the first NaN lies, or the first Inf when there is no NaN; empty: all finite.
[[nodiscard]] std::optional<std::int64_t> first_bad_row(const torch::Tensor& tensor);

/// Reading tensors inside a callback: unseen, without a graph, without casts.
struct Unseen {
    const torch::NoGradGuard no_grad;
    const at::DisableRecordFunctionGuard no_record;
    const c10::impl::ExcludeDispatchKeyGuard no_autocast{c10::autocast_dispatch_keyset};
};

}  // namespace mantissa
