#include "engine/op_kinds.h"

#include <algorithm>
#include <array>

namespace mantissa {
namespace {

template <std::size_t count>
bool is_one_of(std::string_view op, const std::array<std::string_view, count>& names) {
    return std::find(names.begin(), names.end(), op) != names.end();
}

}  // namespace

bool overwrites(std::string_view op) {
    static constexpr std::array<std::string_view, 13> names{
        "copy",   "fill",      "zero",        "normal", "uniform",    "random",       "bernoulli",
        "cauchy", "geometric", "exponential", "log_normal", "foreach_copy", "foreach_zero"};
    return is_one_of(op, names);
}

bool changes_no_value(std::string_view op) {
    static constexpr std::array<std::string_view, 4> names{"resize", "set", "detach", "requires_grad"};
    return is_one_of(op, names);
}

}  // namespace mantissa
