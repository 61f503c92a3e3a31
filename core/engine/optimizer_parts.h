#pragma once
// What the makers of optimizers share: checks of groups. For core/engine's optimizer_*.cpp alone.
#include <string>
#include <vector>

#include "engine/optimizer.h"

namespace mantissa {

/// Throws "sgd: momentum is -1" with what is allowed.
void require(bool holds, const std::string& optimizer, const char* field, double value, const char* allowed);
/// A parameter in two groups would be updated twice: an error. Twice in one is a tied weight of a module: taken once, as Python's
/// parameters() gives it.
void take_each_once(const char* optimizer, const std::vector<std::vector<torch::Tensor>*>& groups);
[[noreturn]] void refuse_two_implementations(const char* optimizer, std::size_t group);
[[noreturn]] void refuse_no_groups(const char* optimizer);

/// Options of each group by `check(options, name)`, where the name tells the group when there are several.
template <typename Group, typename Check>
void check_groups(const char* optimizer, std::vector<Group>& groups, Check check) {
    if (groups.empty()) {
        refuse_no_groups(optimizer);
    }
    std::vector<std::vector<torch::Tensor>*> parameters;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::string place = groups.size() == 1 ? "" : ", group " + std::to_string(i);
        check(groups[i].options, optimizer + place);
        if constexpr (requires { groups[i].options.implementation; }) {
            if (groups[i].options.implementation != groups[0].options.implementation) {
                refuse_two_implementations(optimizer, i);
            }
        }
        parameters.push_back(&groups[i].parameters);
    }
    take_each_once(optimizer, parameters);
}

}  // namespace mantissa
