#pragma once
// How a place of a model is named everywhere (design §10): module path + "." + op.
#include <string>

namespace mantissa {

/// "gate.mul" for module and op; one of them alone when the other is empty.
[[nodiscard]] inline std::string place_name(const std::string& module, const std::string& op) {
    return module.empty() || op.empty() ? module + op : module + "." + op;
}

}  // namespace mantissa
