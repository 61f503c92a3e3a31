#pragma once
// A linear layer in fp8: activations and weights as e4m3fn in the forward pass, gradients as e5m2 in the backward pass, products by
// at::_scaled_mm with bfloat16 results. The same calls on CPU and CUDA: the first operand row by row, the second column by column.
#include <optional>
#include <tuple>

#include "torch_pch.h"

namespace mantissa {

/// Both sides of a weight must be multiples of this; a batch that isn't is filled up with rows of zeros, which change no sum.
inline constexpr std::int64_t fp8_multiple = 16;

/// `values` times a power of two, in `format` (e4m3fn or e5m2), row by row, and what it has to be multiplied by to be `values` again (float, no
/// dimension). The power is the largest that keeps the largest finite value within the format ("current scaling", one scale per
/// tensor), so scaling is exact, the cast rounds once, and no finite value is cut off. What isn't finite stays so: NaN and Inf don't
/// count for the scale; e4m3fn has no Inf and holds a NaN in its place. Nothing is read back to the host.
[[nodiscard]] std::tuple<at::Tensor, at::Tensor> to_fp8(const at::Tensor& values, at::ScalarType format);

/// input (…, in) · weight (out, in) transposed + bias, as bfloat16. Three products: result, gradient of the input, gradient of the
/// weight. For backward the fp8 copies are kept, no others. Second derivatives are refused: NotBuilt.
[[nodiscard]] at::Tensor fp8_linear(const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias);

}  // namespace mantissa
