#pragma once
// Optimizers and schedulers by the names and arguments of torch.optim.
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "engine/optimizer.h"
#include "engine/scheduler.h"

namespace mantissa::golden {

[[nodiscard]] Optimizer make_optimizer(const nlohmann::json& description, std::vector<torch::Tensor> parameters);
[[nodiscard]] Scheduler make_scheduler(const nlohmann::json& description, const Optimizer& optimizer);

}  // namespace mantissa::golden
