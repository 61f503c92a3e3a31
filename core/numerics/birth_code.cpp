#include "numerics/birth_code.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {
namespace {

// fp8 has no max, and nothing sparse or quantized is looked into.
bool is_readable(const torch::Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() == 0 || tensor.layout() != at::kStrided) return false;
    const auto type = tensor.scalar_type();
    return type == at::kFloat || type == at::kDouble || type == at::kHalf || type == at::kBFloat16;
}

bool is_one_of(const std::string& op, std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), op) != names.end();
}

bool is_logarithm(const std::string& op) { return is_one_of(op, {"log", "log2", "log10", "log1p", "logit", "xlogy"}); }
bool is_root(const std::string& op) {
    return is_one_of(op, {"sqrt", "rsqrt", "pow", "linalg_vector_norm", "norm", "dist", "cdist", "std", "hypot"});
}
bool is_softmax(const std::string& op) { return is_one_of(op, {"softmax", "log_softmax", "safe_softmax"}); }
bool is_difference(const std::string& op) {
    return is_one_of(op, {"sub", "add", "rsub", "sum", "mean", "logsumexp", "addmm", "linear", "mm", "matmul", "batch_norm",
                          "layer_norm", "native_layer_norm", "native_batch_norm", "var", "std", "cumsum"});
}

}  // namespace

Level level_of(const torch::Tensor& tensor) {
    if (!is_readable(tensor)) return Level::Finite;
    const double largest = largest_magnitude_of(tensor);
    return std::isnan(largest) ? Level::NaN : std::isinf(largest) ? Level::Inf : Level::Finite;
}

double largest_magnitude_of(const torch::Tensor& tensor) {
    // max propagates NaN.
    return is_readable(tensor) ? tensor.detach().abs().max().item().toDouble() : 0.0;
}

double smallest_magnitude_of(const torch::Tensor& tensor) {
    return is_readable(tensor) ? tensor.detach().abs().min().item().toDouble() : std::numeric_limits<double>::quiet_NaN();
}

std::string birth_code(const Birth& birth, Level before, Level after) {
    const bool is_backward = birth.phase == "backward", is_nan = after == Level::NaN;
    if (birth.phase == "update" && birth.smallest_operand == 0 && is_one_of(birth.kernel, {"addcdiv", "div"})) return "adam_eps";
    if (birth.phase == "update" && birth.kernel.rfind("fused_adam", 0) == 0) return "adam_eps";
    if (is_logarithm(birth.op) && (is_backward || birth.smallest_operand == 0)) return "log_of_zero";
    if (is_backward && is_root(birth.op)) return "root_at_zero";
    if (is_softmax(birth.op) && is_nan && before == Level::Inf) return "masked_row";
    if (is_nan && before == Level::Finite && birth.kernel == "div") return "zero_over_zero";
    if (is_nan && before == Level::Inf && is_difference(birth.kernel)) return "inf_minus_inf";
    if (!is_nan && before == Level::Finite && birth.smallest_operand != 0) return "activation_overflow";
    if (!is_nan && before == Level::Finite && !is_one_of(birth.kernel, {"div", "reciprocal", "rsqrt"})) return "activation_overflow";
    return "unknown";
}

}  // namespace mantissa
