#pragma once
// "Did you mean": the known names closest to what was written.
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

/// At most `limit` of `known`, nearest first; only those close enough to be a slip of the keyboard or a part
/// of the name.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view written,
                                                     const std::vector<std::string>& known,
                                                     std::size_t limit = 3);
[[nodiscard]] std::string join_names(const std::vector<std::string>& names);  // "a, b, c"

}  // namespace mantissa
