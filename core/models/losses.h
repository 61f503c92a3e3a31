#pragma once
// Losses under the ids of the catalogue. Mean over the batch; `output` has shape batch × classes, `labels`
// holds class numbers.
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "torch_pch.h"

namespace mantissa {

using LossFunction = std::function<torch::Tensor(const torch::Tensor& output, const torch::Tensor& labels)>;

[[nodiscard]] std::vector<std::string> registered_losses();
Result<LossFunction> find_loss(const std::string& id);

}  // namespace mantissa
