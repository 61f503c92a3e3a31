#include "engine/gradients.h"

#include <array>
#include <cmath>

namespace mantissa {
namespace {

// Eight running sums keep the additions independent, so that the compiler can use vector registers without reordering one sum.
__attribute__((target_clones("avx2", "default"))) double squares(const float* values, std::int64_t count) {
    std::array<double, 8> sums{};
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (std::int64_t lane = 0; lane < 8; ++lane) {
            const double value = values[i + lane];
            sums[static_cast<std::size_t>(lane)] += value * value;
        }
    }
    double rest = 0;
    for (; i < count; ++i) {
        rest += static_cast<double>(values[i]) * values[i];
    }
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7])) + rest;
}

bool is_plain_fp32(const torch::Tensor& tensor) {
    return tensor.device().is_cpu() && tensor.scalar_type() == at::kFloat &&
           tensor.is_non_overlapping_and_dense() && tensor.layout() == at::kStrided;
}

}  // namespace

double sum_of_squares(const std::vector<torch::Tensor>& gradients) {
    const torch::NoGradGuard no_grad;
    double sum = 0;
    for (const auto& gradient : gradients) {
        if (is_plain_fp32(gradient)) {
            sum += squares(gradient.const_data_ptr<float>(), gradient.numel());
        } else {
            sum += gradient.to(at::kDouble).square().sum().item<double>();
        }
    }
    return sum;
}

std::int64_t count_nonfinite(const std::vector<torch::Tensor>& gradients) {
    const torch::NoGradGuard no_grad;
    std::int64_t count = 0;
    for (const auto& gradient : gradients) {
        count += gradient.numel() - at::isfinite(gradient).sum().item<std::int64_t>();
    }
    return count;
}

double clip_norm(const std::vector<torch::Tensor>& gradients, double max_norm) {
    const torch::NoGradGuard no_grad;
    if (gradients.empty()) {
        return 0;
    }
    const torch::Tensor total = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2.0)), 2.0);
    // Python's `max_norm / tensor` is reciprocal, then product.
    const torch::Tensor coefficient = (total + 1e-6).reciprocal().mul(max_norm).clamp_max(1.0);
    at::_foreach_mul_(gradients, coefficient);
    return total.item<double>();
}

void clip_value(const std::vector<torch::Tensor>& gradients, double limit) {
    const torch::NoGradGuard no_grad;
    if (!gradients.empty()) {
        at::_foreach_clamp_min_(gradients, -limit);
        at::_foreach_clamp_max_(gradients, limit);
    }
}

}  // namespace mantissa
