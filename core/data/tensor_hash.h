#pragma once
// SHA-256 over names, dtypes, shapes and bytes of tensors: what "the same initial state" and "the same data"
// mean (design §10).
#include <string>
#include <utility>
#include <vector>

#include "torch_pch.h"

namespace mantissa {

[[nodiscard]] std::string tensor_hash(const std::vector<std::pair<std::string, torch::Tensor>>& named);

}  // namespace mantissa
