#pragma once
// What a model file is: a layer list is JSON, told by its first character or by its name; anything else is a TorchScript program.
#include "plan/run_plan.h"

namespace mantissa {

[[nodiscard]] bool is_layer_list(const ModelPlan& model);
/// A program of somebody else's: wants trust and a process of its own.
[[nodiscard]] bool is_program(const ModelPlan& model);

}  // namespace mantissa
