#pragma once
#include "torch_pch.h"

namespace mantissa {

/// The names that recordings carry: float32 float16 bfloat16 float64 int64 bool …
[[nodiscard]] const char* dtype_name(at::ScalarType type);
[[nodiscard]] bool is_half(at::ScalarType type);  // float16, bfloat16, float8

}  // namespace mantissa
