#include "numerics/tensor_reading.h"

#include <cmath>
#include <limits>

#include "numerics/dtype_names.h"

namespace mantissa {
namespace {

using torch::Tensor;

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_readable(const Tensor& tensor) {
    return tensor.defined() && tensor.layout() == at::kStrided && !tensor.is_quantized() && !tensor.is_complex() && !tensor.is_meta();
}

// What holds every value of the type and has kernels for all that is asked.
at::ScalarType wide_type(at::ScalarType type) {
    const bool is_small = type == at::kFloat || type == at::kHalf || type == at::kBFloat16 || c10::isFloat8Type(type);
    return is_small ? at::kFloat : at::kDouble;
}

template <typename Stored, typename Wide>
void count(const Tensor& tensor, TensorReading& reading) {
    const auto* values = tensor.const_data_ptr<Stored>();
    const std::int64_t elements = tensor.numel();
    Wide largest = 0, smallest = std::numeric_limits<Wide>::infinity();
    for (std::int64_t i = 0; i < elements; ++i) {
        const auto value = static_cast<Wide>(values[i]);
        const Wide magnitude = std::fabs(value);
        if (magnitude <= std::numeric_limits<Wide>::max()) {
            reading.negative += value < 0;
            reading.positive += value > 0;
            reading.zero += value == 0;
            largest = std::max(largest, magnitude);
            if (magnitude > 0) smallest = std::min(smallest, magnitude);
        } else {
            reading.nan += std::isnan(value);
            reading.neg_inf += value < 0;
            reading.pos_inf += value > 0;
        }
    }
    reading.largest = static_cast<double>(largest);
    reading.smallest_nonzero = std::isinf(smallest) ? 0.0 : static_cast<double>(smallest);
}

void count_on_host(const Tensor& tensor, TensorReading& reading) {
    const Tensor values = tensor.contiguous();
    switch (values.scalar_type()) {
        case at::kFloat:
            return count<float, float>(values, reading);
        case at::kHalf:
            return count<at::Half, float>(values, reading);
        case at::kBFloat16:
            return count<at::BFloat16, float>(values, reading);
        case at::kDouble:
            return count<double, double>(values, reading);
        case at::kLong:
            return count<std::int64_t, double>(values, reading);
        case at::kBool:
            return count<bool, float>(values, reading);
        default:
            return wide_type(values.scalar_type()) == at::kFloat ? count<float, float>(values.to(at::kFloat), reading)
                                                                 : count<double, double>(values.to(at::kDouble), reading);
    }
}

void count_on_device(const Tensor& tensor, TensorReading& reading) {
    const Tensor values = tensor.to(wide_type(tensor.scalar_type()));
    const Tensor magnitude = values.abs(), is_finite = at::isfinite(values);
    const auto number = [](const Tensor& one) { return one.to(at::kDouble); };
    const Tensor seen = at::stack({number((is_finite & (values < 0)).sum()), number((values == 0).sum()),
                                   number((is_finite & (values > 0)).sum()), number((values == -infinity).sum()),
                                   number((values == infinity).sum()), number(values.isnan().sum()),
                                   number(at::where(is_finite, magnitude, at::zeros_like(magnitude)).max()),
                                   number(at::where(is_finite & (values != 0), magnitude, at::full_like(magnitude, infinity)).min())})
                            .cpu();
    const auto* figure = seen.const_data_ptr<double>();
    std::int64_t* counts[] = {&reading.negative, &reading.zero,    &reading.positive,
                              &reading.neg_inf,  &reading.pos_inf, &reading.nan};
    for (std::int64_t* one : counts) *one = static_cast<std::int64_t>(*figure++);
    reading.largest = figure[0];
    reading.smallest_nonzero = std::isinf(figure[1]) ? 0.0 : figure[1];
}

}  // namespace

TensorReading read_tensor(const Tensor& tensor) {
    TensorReading reading;
    if (!tensor.defined()) return reading;
    reading.dtype = dtype_name(tensor.scalar_type());
    reading.shape = tensor.sizes().vec();
    if (!is_readable(tensor) || tensor.numel() == 0) return reading;
    const Unseen unseen;
    const Tensor plain = tensor.detach().resolve_neg();
    if (plain.device().is_cpu()) {
        count_on_host(plain, reading);
    } else {
        count_on_device(plain, reading);
    }
    return reading;
}

Level level_of(const TensorReading& reading) {
    if (reading.nan > 0) return Level::NaN;
    return reading.neg_inf + reading.pos_inf > 0 ? Level::Inf : Level::Finite;
}

double worst_of(const TensorReading& reading) {
    switch (level_of(reading)) {
        case Level::NaN:
            return std::numeric_limits<double>::quiet_NaN();
        case Level::Inf:
            return infinity;
        case Level::Finite:
            break;
    }
    return reading.largest;
}

double smallest_of(const TensorReading& reading) {
    if (reading.elements() == 0) return std::numeric_limits<double>::quiet_NaN();
    return reading.zero > 0 ? 0.0 : reading.smallest_nonzero;
}

std::optional<std::int64_t> first_bad_row(const Tensor& tensor) {
    if (!is_readable(tensor) || tensor.dim() == 0 || tensor.numel() == 0) return std::nullopt;
    const Unseen unseen;
    const Tensor rows = tensor.detach().to(wide_type(tensor.scalar_type())).reshape({tensor.size(0), -1});
    for (const Tensor& bad : {rows.isnan().any(1), rows.isinf().any(1)}) {
        if (bad.any().item<bool>()) return bad.to(at::kByte).argmax().item<std::int64_t>();
    }
    return std::nullopt;
}

}  // namespace mantissa
