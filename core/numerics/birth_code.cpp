#include "numerics/birth_code.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "numerics/op_names.h"

namespace mantissa {
namespace {

bool is_one_of(std::string_view op, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [op](const char* name) { return op == name; });
}

bool is_logarithm(std::string_view op) {
    return is_one_of(op, {"log", "log2", "log10", "log1p", "logit", "xlogy", "special_xlogy", "binary_cross_entropy"});
}
bool is_root(std::string_view op) {
    return is_one_of(op, {"sqrt", "rsqrt", "pow", "linalg_vector_norm", "norm", "dist", "cdist", "euclidean_dist", "std", "hypot"});
}
bool is_softmax(std::string_view op) {
    return is_one_of(op, {"softmax", "log_softmax", "safe_softmax", "cross_entropy_loss", "logsumexp", "scaled_dot_product_attention"});
}
bool is_quotient(std::string_view op) {
    return is_one_of(op, {"div", "true_divide", "foreach_div", "addcdiv", "foreach_addcdiv", "reciprocal"});
}
bool is_normalization(std::string_view op) {
    return is_one_of(op, {"batch_norm", "native_batch_norm", "cudnn_batch_norm", "layer_norm", "native_layer_norm", "group_norm",
                          "native_group_norm", "instance_norm", "var", "std", "var_mean", "std_mean", "rms_norm"});
}
// The mean of nothing: an empty choice, or labels that are all to be left out.
bool is_mean(std::string_view op) {
    return is_one_of(op, {"mean", "nanmean", "nll_loss", "nll_loss_nd", "nll_loss_forward", "cross_entropy_loss", "mse_loss", "l1_loss",
                          "smooth_l1_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"});
}
// Sums, differences and products meet Inf and give NaN: ∞ − ∞ and 0 · ∞.
bool is_arithmetic(std::string_view op) {
    return is_product(op) || is_normalization(op) ||
           is_one_of(op, {"sub", "add", "rsub", "mul", "sum", "mean", "cumsum", "addcmul", "lerp", "prod", "foreach_add", "foreach_mul"});
}

const TensorReading* last_of(const OpReading& op) { return op.operands.empty() ? nullptr : &op.operands.back(); }

bool holds_zero(const TensorReading* reading) { return reading != nullptr && reading->zero > 0; }
bool holds_zero_or_less(const TensorReading* reading) { return reading != nullptr && reading->zero + reading->negative > 0; }
bool any_holds_zero(const OpReading& op) {
    return std::any_of(op.operands.begin(), op.operands.end(), [](const TensorReading& one) { return holds_zero(&one); });
}
bool has_empty_operand(const OpReading& op) {
    return std::any_of(op.operands.begin(), op.operands.end(), [](const TensorReading& one) { return one.elements() == 0; });
}
bool has_scalar_zero(const OpReading& op) { return std::count(op.scalars.begin(), op.scalars.end(), 0.0) > 0; }
bool has_infinite_scalar(const OpReading& op) {
    return std::any_of(op.scalars.begin(), op.scalars.end(), [](double scalar) { return std::isinf(scalar); });
}

bool is_adam_eps(const OpReading& op) {
    if (op.phase != "update") return false;
    constexpr std::size_t square_averages = 3;  // parameter, gradient, average, square average
    if (op.kernel.rfind("fused_adam", 0) == 0)
        return op.operands.size() > square_averages && holds_zero(&op.operands[square_averages]);
    return is_quotient(op.kernel) && holds_zero(last_of(op));
}

bool is_root_at_zero(const BirthFacts& facts) {
    const OpReading& op = facts.op;
    if (!is_root(op.op)) return false;
    if (op.phase != "backward") {
        if (op.op == "rsqrt") return holds_zero_or_less(last_of(op));
        const bool is_fraction = op.op == "sqrt" || (op.op == "pow" && !op.scalars.empty() && op.scalars[0] != std::floor(op.scalars[0]));
        return is_fraction && facts.after == Level::NaN && !op.operands.empty() && op.operands[0].negative > 0;
    }
    if (facts.forward == nullptr) return any_holds_zero(op);
    const OpReading& forward = *facts.forward;
    // The derivative of a whole power from 1 up is finite at zero.
    if (op.op == "pow" && !forward.scalars.empty() && forward.scalars[0] >= 1) return false;
    return holds_zero(&forward.result) || any_holds_zero(forward);
}

bool is_masked_row(const BirthFacts& facts) {
    if (facts.after != Level::NaN || facts.before != Level::Inf || !is_softmax(facts.op.op)) return false;
    // Only −Inf: a row of nothing else. With +Inf in it, it is ∞ − ∞.
    return std::all_of(facts.op.operands.begin(), facts.op.operands.end(), [](const TensorReading& one) { return one.pos_inf == 0; });
}

bool squares_overflow(const OpReading& op) {
    return std::any_of(op.operands.begin(), op.operands.end(), [](const TensorReading& one) {
        return one.largest > std::sqrt(static_cast<double>(std::numeric_limits<float>::max()));
    });
}

// NaN of finite operands.
std::string code_of_new_nan(const OpReading& op) {
    if (is_quotient(op.kernel) && (holds_zero(last_of(op)) || has_scalar_zero(op))) return "zero_over_zero";
    if (is_normalization(op.op)) return squares_overflow(op) ? "activation_overflow" : "zero_over_zero";
    if (is_mean(op.op) && (has_empty_operand(op) || op.op != "mean")) return "zero_over_zero";
    if (has_infinite_scalar(op) && is_arithmetic(op.kernel)) return "inf_minus_inf";
    // Sums within one product that left fp16 on both sides.
    if (op.result.dtype == "float16" && is_product(op.op)) return "activation_overflow";
    return "unknown";
}

// Inf of finite operands.
std::string code_of_new_inf(const BirthFacts& facts) {
    const OpReading& op = facts.op;
    if (is_quotient(op.kernel) && (holds_zero(last_of(op)) || has_scalar_zero(op))) return "zero_over_zero";
    const bool is_half = op.result.dtype == "float16" || op.result.dtype == "bfloat16";
    if (op.phase == "backward" && facts.loss_scale > 1 && op.result.dtype == "float16") return "scale_probing";
    return op.phase == "loss" && is_half ? "loss_in_half" : "activation_overflow";
}

std::string code_of(const BirthFacts& facts) {
    const OpReading& op = facts.op;
    const bool is_nan = facts.after == Level::NaN;
    if (is_adam_eps(op)) return "adam_eps";
    if (is_logarithm(op.op) && (op.phase == "backward" ? is_quotient(op.kernel) || is_nan : holds_zero_or_less(last_of(op))))
        return "log_of_zero";
    if (is_root_at_zero(facts)) return "root_at_zero";
    if (is_masked_row(facts)) return "masked_row";
    if (!is_nan) return code_of_new_inf(facts);
    if (facts.before == Level::Finite) return code_of_new_nan(op);
    return is_arithmetic(op.kernel) || is_arithmetic(op.op) || is_softmax(op.op) || is_quotient(op.kernel) ? "inf_minus_inf" : "unknown";
}

}  // namespace

std::string birth_code(const BirthFacts& facts) {
    if (facts.inner != nullptr && facts.op.phase != "backward") {
        // A composite says little by its own name: what ran within it says more.
        Level before = Level::Finite;
        for (const TensorReading& operand : facts.inner->operands) before = std::max(before, level_of(operand));
        const std::string code = code_of({*facts.inner, nullptr, nullptr, before, level_of(facts.inner->result), facts.loss_scale});
        if (code != "unknown") return code;
    }
    return code_of(facts);
}

bool is_statistic(const std::string& buffer) { return buffer.ends_with("running_mean") || buffer.ends_with("running_var"); }

std::string leaf_code(const std::string& phase, const std::string& name) {
    if (phase == "data") return "bad_input";
    if (phase == "parameter") return "weights_poisoned";
    return phase == "buffer" && is_statistic(name) ? "batchnorm_poisoned" : "unknown";
}

}  // namespace mantissa
