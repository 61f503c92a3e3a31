#include "numerics/op_names.h"

#include <algorithm>
#include <cctype>

namespace mantissa {

std::string bare_op_name(std::string_view name) {
    if (const auto colon = name.rfind("::"); colon != std::string_view::npos) name.remove_prefix(colon + 2);
    name = name.substr(0, name.find('.'));
    while (!name.empty() && name.front() == '_') name.remove_prefix(1);
    while (!name.empty() && name.back() == '_') name.remove_suffix(1);
    return std::string(name);
}

std::string op_of_node(std::string_view node) {
    if (const auto colon = node.rfind("::"); colon != std::string_view::npos) node.remove_prefix(colon + 2);
    const auto end = node.find("Backward");
    if (end == std::string_view::npos) return "";
    std::string name(node.substr(0, end));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

bool only_allocates(std::string_view op) {
    return op.starts_with("empty") || op.starts_with("new_empty") || op == "resize" || op == "set";
}

bool keeps_values(std::string_view op) { return op == "to" || op == "contiguous" || op == "clone" || op == "reshape"; }

}  // namespace mantissa
