#include "numerics/op_names.h"

#include <algorithm>
#include <cctype>
#include <set>

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

bool is_product(std::string_view op) {
    static const std::set<std::string_view> names{
        "mm", "bmm", "addmm", "baddbmm", "addbmm", "addmv", "mv", "dot", "vdot", "linear", "matmul", "einsum", "bilinear", "scaled_mm",
        "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution", "convolution_overrideable",
        "mkldnn_convolution", "cudnn_convolution", "slow_conv2d_forward", "thnn_conv2d", "convolution_backward", "mkldnn_linear"};
    return names.contains(op);
}

bool keeps_values(std::string_view op) { return op == "to" || op == "contiguous" || op == "clone" || op == "reshape"; }

bool is_exchange(std::string_view op) {
    return op.starts_with("allreduce") || op.starts_with("allgather") || op.starts_with("alltoall") || op.starts_with("reduce_scatter") ||
           op == "broadcast";
}

}  // namespace mantissa
