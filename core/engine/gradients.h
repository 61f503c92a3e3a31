#pragma once
// What is asked of gradients at the end of a window: how large, finite or not, clipped.
#include <cstdint>
#include <vector>

#include "torch_pch.h"

namespace mantissa {

/// Sum of squares, accumulated in fp64: finite exactly when every element is. One pass, no tensor made.
[[nodiscard]] double sum_of_squares(const std::vector<torch::Tensor>& gradients);
[[nodiscard]] std::int64_t count_nonfinite(const std::vector<torch::Tensor>& gradients);

/// torch.nn.utils.clip_grad_norm_ of Python 2.11 in the same operations (norm type 2); returns the norm before clipping.
double clip_norm(const std::vector<torch::Tensor>& gradients, double max_norm);
/// torch.nn.utils.clip_grad_value_.
void clip_value(const std::vector<torch::Tensor>& gradients, double limit);

}  // namespace mantissa
