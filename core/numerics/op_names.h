#pragma once
#include <string>
#include <string_view>

namespace mantissa {

/// "softmax" of "aten::_softmax.out" or "softmax_".
[[nodiscard]] std::string bare_op_name(std::string_view name);
/// "LogBackward0" → "log"; empty for a node that is no derivative of an op.
[[nodiscard]] std::string op_of_node(std::string_view node);
/// Makes room and no values.
[[nodiscard]] bool only_allocates(std::string_view op);
/// A matrix product or a convolution; without attention, whose softmax is no product.
[[nodiscard]] bool is_product(std::string_view op);
/// The same values elsewhere or in another dtype.
[[nodiscard]] bool keeps_values(std::string_view op);
/// Hands values between processes (c10d): what is bad after it may have come from another one.
[[nodiscard]] bool is_exchange(std::string_view op);

}  // namespace mantissa
