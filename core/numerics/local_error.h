#pragma once
// How far a tensor of the run's mode lies from the same one in fp32.
#include "torch_pch.h"

namespace mantissa {

struct LocalError {
    double sqnr_db = 0;         // 10·log10(Σ x² / Σ (x − y)²); +Inf: no difference; −Inf: y holds Inf or NaN, or x is all 0 and y isn't
    double relative_error = 0;  // ‖x − y‖ / ‖x‖
};

/// x: in fp32, y: in the mode, of one shape; sums in fp64, without autograd and autocast.
[[nodiscard]] LocalError local_error(const torch::Tensor& x, const torch::Tensor& y);

}  // namespace mantissa
