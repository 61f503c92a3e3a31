#include "engine/safe_ops.h"

#include <limits>
#include <optional>

#include "engine/engine_error.h"
#include "engine/probability_losses.h"

namespace mantissa::safe {
namespace {

namespace functional = torch::nn::functional;

/// Autocast off while it lives, where it was on: an op of torch's lists would cast back.
class Fp32 {
  public:
    explicit Fp32(const Tensor& input) {
        if (is_inside_autocast(input.device().type())) m_island.emplace(input.device().type(), at::kFloat, false);
    }

  private:
    std::optional<AutocastScope> m_island;
};

Tensor fp32(const Tensor& input) {
    const bool is_half = input.defined() && (input.scalar_type() == at::kHalf || input.scalar_type() == at::kBFloat16);
    return is_half ? input.to(at::kFloat) : input;
}

template <typename Function>
Tensor in_fp32(const Tensor& input, const Function& function) {
    const Fp32 scope(input);
    return function(fp32(input));
}

template <typename Function>
Tensor in_fp32(const Tensor& output, const Tensor& target, const Function& function) {
    const Fp32 scope(output);
    return function(fp32(output), fp32(target));
}

double least(at::ScalarType type) {
    double least = 0;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, type, "masked_fill",
                                    [&] { least = static_cast<double>(std::numeric_limits<scalar_t>::lowest()); });
    return least;
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& labels) {
    return in_fp32(logits, labels, [](const Tensor& x, const Tensor& t) { return functional::cross_entropy(x, t); });
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& labels) {
    return in_fp32(log_probabilities, [&](const Tensor& x) { return functional::nll_loss(x, labels); });
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& targets) {
    return in_fp32(logits, targets,
                   [](const Tensor& x, const Tensor& t) { return torch::binary_cross_entropy_with_logits(x, t); });
}

Tensor binary_cross_entropy(const Tensor& probabilities, const Tensor& targets) {
    const auto type = probabilities.scalar_type();
    if (is_inside_autocast(probabilities.device().type()) || type == at::kHalf || type == at::kBFloat16) {
        refuse_probability_loss();
    }
    return torch::binary_cross_entropy(probabilities, fp32(targets));
}

Tensor mse_loss(const Tensor& output, const Tensor& target) {
    return in_fp32(output, target, [](const Tensor& x, const Tensor& t) { return torch::mse_loss(x, t); });
}

Tensor l1_loss(const Tensor& output, const Tensor& target) {
    return in_fp32(output, target, [](const Tensor& x, const Tensor& t) { return torch::l1_loss(x, t); });
}

Tensor smooth_l1_loss(const Tensor& output, const Tensor& target) {
    return in_fp32(output, target, [](const Tensor& x, const Tensor& t) { return torch::smooth_l1_loss(x, t); });
}

Tensor huber_loss(const Tensor& output, const Tensor& target) {
    return in_fp32(output, target, [](const Tensor& x, const Tensor& t) { return torch::huber_loss(x, t); });
}

Tensor kl_div(const Tensor& log_probabilities, const Tensor& target) {
    return in_fp32(log_probabilities, target, [](const Tensor& x, const Tensor& t) {
        return functional::kl_div(x, t, functional::KLDivFuncOptions().reduction(torch::kBatchMean));
    });
}

Tensor poisson_nll_loss(const Tensor& log_rate, const Tensor& target) {
    return in_fp32(log_rate, target, [](const Tensor& x, const Tensor& t) { return functional::poisson_nll_loss(x, t); });
}

Tensor sum(const Tensor& input) {
    return in_fp32(input, [](const Tensor& x) { return x.sum(); });
}

Tensor mean(const Tensor& input) {
    return in_fp32(input, [](const Tensor& x) { return x.mean(); });
}

Tensor var(const Tensor& input, std::int64_t dimension) {
    return in_fp32(input, [&](const Tensor& x) { return x.var(at::IntArrayRef(dimension), std::optional<at::Scalar>(1)); });
}

Tensor norm(const Tensor& input) {
    return in_fp32(input, [](const Tensor& x) { return at::linalg_vector_norm(x, 2.0); });
}

Tensor square(const Tensor& input) {
    return in_fp32(input, [](const Tensor& x) { return x * x; });
}

Tensor rms_norm(const Tensor& input, const Tensor& weight, double eps) {
    return in_fp32(input, weight, [&](const Tensor& x, const Tensor& w) {
        const Tensor normed = x * torch::rsqrt((x * x).mean(-1, true) + eps);
        return w.defined() ? normed * w : normed;
    });
}

Tensor layer_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, double eps) {
    return in_fp32(input, [&](const Tensor& x) {
        return torch::layer_norm(x, {x.size(-1)}, fp32(weight), fp32(bias), eps);
    });
}

Tensor logsumexp(const Tensor& input, std::int64_t dimension) {
    return in_fp32(input, [&](const Tensor& x) { return x.logsumexp(dimension); });
}

Tensor log_softmax(const Tensor& input, std::int64_t dimension) {
    return in_fp32(input, [&](const Tensor& x) { return x.log_softmax(dimension); });
}

Tensor log_sigmoid(const Tensor& input) {
    return in_fp32(input, [](const Tensor& x) { return torch::log_sigmoid(x); });
}

Tensor masked_fill(const Tensor& input, const Tensor& masked) {
    return input.masked_fill(masked, least(input.scalar_type()));
}

Tensor masked_softmax(const Tensor& scores, const Tensor& masked, std::int64_t dimension) {
    return in_fp32(scores, [&](const Tensor& x) {
        Tensor excluded = x.detach() == -std::numeric_limits<double>::infinity();
        if (masked.defined()) excluded = excluded.logical_or(masked);
        return masked_fill(x, excluded).softmax(dimension).masked_fill(excluded, 0);
    });
}

Tensor where(const Tensor& condition, const Tensor& input, const std::function<Tensor(const Tensor&)>& function, double other,
             double harmless) {
    const Tensor seen = torch::where(condition, input, torch::full({}, harmless, input.options().requires_grad(false)));
    const Tensor result = function(seen);
    return torch::where(condition, result, torch::full({}, other, result.options().requires_grad(false)));
}

}  // namespace mantissa::safe
