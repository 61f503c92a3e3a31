#pragma once
// The operations that people get wrong in half precision, in a form that isn't: reductions, norms and losses compute in fp32 outside
// autocast whatever the dtype of their input, and return fp32; masks use what the dtype can hold. With fp32 input outside autocast
// they are torch's own operations, bit for bit.
#include <cstdint>
#include <functional>

#include "engine/autocast_scope.h"

namespace mantissa::safe {

using torch::Tensor;

// --- Losses (mean over what torch's take the mean over; `labels` are class numbers).
[[nodiscard]] Tensor cross_entropy(const Tensor& logits, const Tensor& labels);
[[nodiscard]] Tensor nll_loss(const Tensor& log_probabilities, const Tensor& labels);
[[nodiscard]] Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& targets);
/// Throws EngineError inside autocast, on every device, and for half probabilities: a sigmoid in half is 0 or 1 long before
/// its logit is large, and the loss of a wrong answer stays at 100. Take the form with logits.
[[nodiscard]] Tensor binary_cross_entropy(const Tensor& probabilities, const Tensor& targets);
[[nodiscard]] Tensor mse_loss(const Tensor& output, const Tensor& target);
[[nodiscard]] Tensor l1_loss(const Tensor& output, const Tensor& target);
[[nodiscard]] Tensor smooth_l1_loss(const Tensor& output, const Tensor& target);
[[nodiscard]] Tensor huber_loss(const Tensor& output, const Tensor& target);
[[nodiscard]] Tensor kl_div(const Tensor& log_probabilities, const Tensor& target);  // batchmean
[[nodiscard]] Tensor poisson_nll_loss(const Tensor& log_rate, const Tensor& target);

// --- Reductions and norms.
[[nodiscard]] Tensor sum(const Tensor& input);
[[nodiscard]] Tensor mean(const Tensor& input);
[[nodiscard]] Tensor var(const Tensor& input, std::int64_t dimension = -1);  // unbiased
[[nodiscard]] Tensor norm(const Tensor& input);                              // 2-norm of all elements
[[nodiscard]] Tensor square(const Tensor& input);
/// x / sqrt(mean(x²) + eps) over the last dimension, times `weight` where it is defined.
[[nodiscard]] Tensor rms_norm(const Tensor& input, const Tensor& weight = {}, double eps = 1e-6);
[[nodiscard]] Tensor layer_norm(const Tensor& input, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
[[nodiscard]] Tensor logsumexp(const Tensor& input, std::int64_t dimension = -1);
[[nodiscard]] Tensor log_softmax(const Tensor& input, std::int64_t dimension = -1);
/// log(sigmoid(x)) without the sigmoid that rounds to 0.
[[nodiscard]] Tensor log_sigmoid(const Tensor& input);

// --- Masks. `masked` is true where a value doesn't count.
/// Fills with the least finite number of the input's dtype: what stands for minus infinity without making 0 · Inf later.
[[nodiscard]] Tensor masked_fill(const Tensor& input, const Tensor& masked);
/// Softmax over what isn't masked; scores of -Inf are masked too. A row with nothing left is zero and has a zero gradient.
[[nodiscard]] Tensor masked_softmax(const Tensor& scores, const Tensor& masked = {}, std::int64_t dimension = -1);
/// function(input) where `condition` holds, `other` elsewhere. The function never sees the rest of the input (it sees `harmless`
/// there), so that its gradient is 0 there, and not 0 · Inf.
[[nodiscard]] Tensor where(const Tensor& condition, const Tensor& input, const std::function<Tensor(const Tensor&)>& function,
                           double other = 0, double harmless = 1);

}  // namespace mantissa::safe
