#include "numerics/local_error.h"

#include <cmath>
#include <limits>

namespace mantissa {

LocalError local_error(const torch::Tensor& x, const torch::Tensor& y) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const torch::NoGradGuard no_grad;
    const at::DisableRecordFunctionGuard uncounted;
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const torch::Tensor exact = x.detach().to(at::kDouble), difference = y.detach().to(at::kDouble).sub_(exact);
    const double signal = exact.square().sum().item<double>(), noise = difference.square_().sum().item<double>();
    if (noise == 0) return {infinity, 0};
    if (!std::isfinite(noise) || signal == 0) return {-infinity, infinity};
    return {10 * std::log10(signal / noise), std::sqrt(noise / signal)};
}

}  // namespace mantissa
