#pragma once
// What in a TorchScript module will surprise somebody who trains it in mixed precision or on another device, each with its place in the
// author's source and a remedy. Found in the graphs, without running them.
#include <string>
#include <vector>

#include "engine/script_model.h"

namespace mantissa {

/// One sentence each, "net.py, line 9: …"; each only once. A device that tracing baked in, a new tensor that names no device, a cast to
/// half precision, and dropout or batch norm that were traced in eval mode.
[[nodiscard]] std::vector<std::string> script_findings(const torch::jit::Module& module);

}  // namespace mantissa
