#pragma once
// What an op does to its destination, by its name without namespace, overload and underscores.
#include <string_view>

namespace mantissa {

/// Fills its destination and computes nothing from what was in it: copy_, fill_, normal_ …
[[nodiscard]] bool overwrites(std::string_view op);
/// Changes where a tensor's values lie, or what is recorded of it, and no value: resize_, set_, detach_ …
[[nodiscard]] bool changes_no_value(std::string_view op);

}  // namespace mantissa
