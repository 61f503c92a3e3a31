#include "checkpoint/state_bundle.h"

#include <algorithm>
#include <stdexcept>

namespace mantissa {

const torch::Tensor* StateBundle::tensor(const std::string& name) const {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const auto& one) { return one.first == name; });
    return found == tensors.end() ? nullptr : &found->second;
}

void StateBundle::refuse_missing(const std::string& name, bool is_of_another_type) {
    throw std::runtime_error("the saved state " + std::string(is_of_another_type ? "has another type of value for \"" : "lacks \"") +
                             name + "\"");
}

}  // namespace mantissa
