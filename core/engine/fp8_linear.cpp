#include "engine/fp8_linear.h"

#include "engine/engine_error.h"

namespace mantissa {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// On a CPU _scaled_mm multiplies what it made fp32 again: autocast would do that in half.
using NoAutocast = c10::impl::ExcludeDispatchKeyGuard;

constexpr at::ScalarType forward_format = at::kFloat8_e4m3fn, gradient_format = at::kFloat8_e5m2;

// 448 and 57344: both formats end at 0.875 · 2^end.
int end_exponent(at::ScalarType format) { return format == gradient_format ? 16 : 9; }

// 2^exponent from its bits: exact on every device, and no copy to the host.
Tensor power_of_two(const Tensor& exponent) { return at::bitwise_left_shift(exponent + 127, 23).view(at::kFloat); }

std::tuple<Tensor, Tensor> scaled_cast(const Tensor& given, at::ScalarType format) {
    // The table of ops and a birth name the cast as one operation.
    const at::DisableRecordFunctionGuard one_operation;
    const at::NoGradGuard no_grad;
    const Tensor values = given.scalar_type() == at::kHalf ? given.to(at::kFloat) : given;
    const Tensor largest = values.abs().nan_to_num(0.0, 0.0, 0.0).amax().to(at::kFloat);
    const auto [fraction, exponent] = at::frexp(largest);  // fraction · 2^exponent, fraction in [0.5, 1); 0 is 0 · 2^0
    // The powers of both signs are normal numbers.
    const Tensor shift = (end_exponent(format) - exponent - fraction.gt(0.875).to(at::kInt)).clamp(-126, 126);
    return {(values * power_of_two(shift)).to(format).contiguous(), power_of_two(-shift)};
}

// An operator of its own, so that watches see what goes in and what comes out.
const c10::OperatorHandle& cast_operator() {
    static torch::Library library(torch::Library::FRAGMENT, "mantissa", std::nullopt, __FILE__, __LINE__);
    static const c10::OperatorHandle handle = [] {
        library.def("to_fp8(Tensor values, ScalarType format) -> (Tensor, Tensor)", torch::CppFunction(&scaled_cast));
        return c10::Dispatcher::singleton().findSchemaOrThrow("mantissa::to_fp8", "");
    }();
    return handle;
}

Tensor product(const Tensor& left, const Tensor& right, const Tensor& left_scale, const Tensor& right_scale,
               const std::optional<Tensor>& bias = std::nullopt) {
    return at::_scaled_mm(left, right, left_scale, right_scale, bias, std::nullopt, at::kBFloat16);
}

Tensor column_by_column(const Tensor& matrix) { return matrix.t().contiguous().t(); }

Tensor rows_of(const Tensor& tensor) {
    const Tensor rows = tensor.reshape({-1, tensor.size(-1)});
    const std::int64_t missing = (fp8_multiple - rows.size(0) % fp8_multiple) % fp8_multiple;
    return missing == 0 ? rows : at::constant_pad_nd(rows, {0, 0, 0, missing}, 0);
}

// No view for autograd: what a layer gives may be written in place, as relu_ does.
Tensor in_shape(const Tensor& rows, std::vector<std::int64_t> shape, std::int64_t columns) {
    shape.back() = columns;
    return at::_unsafe_view(rows.narrow(0, 0, c10::multiply_integers(shape) / columns), shape);
}

struct Fp8Linear : torch::autograd::Function<Fp8Linear> {
    static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
        const auto [values, values_scale] = to_fp8(rows_of(input), forward_format);
        const auto [weights, weights_scale] = to_fp8(weight, forward_format);
        // Each product of the backward pass needs the other operand only.
        const bool for_input = input.requires_grad(), for_weight = weight.requires_grad();
        context->save_for_backward({for_weight ? values : Tensor(), for_weight ? values_scale : Tensor(), for_input ? weights : Tensor(),
                                    for_input ? weights_scale : Tensor()});
        context->saved_data["shape"] = input.sizes().vec();
        context->saved_data["has_bias"] = bias.has_value();
        const auto shift = bias ? std::optional(bias->to(at::kBFloat16)) : std::nullopt;
        return in_shape(product(values, weights.t(), values_scale, weights_scale, shift), input.sizes().vec(), weight.size(0));
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        if (torch::GradMode::is_enabled()) {
            throw EngineError({ErrorCode::NotBuilt, "a second derivative through a linear layer in fp8 was asked for (create_graph)",
                               "train in bf16, fp16 or no, or make the layer an fp32 island"});
        }
        const NoAutocast no_autocast(c10::autocast_dispatch_keyset);
        const variable_list saved = context->get_saved_variables();
        const Tensor &values = saved[0], &values_scale = saved[1], &weights = saved[2], &weights_scale = saved[3];
        const Tensor rows = rows_of(gradients[0]);
        const auto [gradient, gradient_scale] = to_fp8(rows, gradient_format);
        Tensor of_input, of_weight, of_bias;
        if (context->needs_input_grad(0)) {
            const Tensor all = product(gradient, column_by_column(weights), gradient_scale, weights_scale);
            of_input = in_shape(all, context->saved_data["shape"].toIntVector(), weights.size(1));
        }
        if (context->needs_input_grad(1)) {
            of_weight = product(gradient.t().contiguous(), column_by_column(values), gradient_scale, values_scale);
        }
        if (context->saved_data["has_bias"].toBool() && context->needs_input_grad(2)) {
            of_bias = rows.sum(0, /*keepdim=*/false, at::kFloat);
        }
        return {of_input, of_weight, of_bias};
    }
};

}  // namespace

std::tuple<Tensor, Tensor> to_fp8(const Tensor& values, at::ScalarType format) {
    static const auto cast = cast_operator().typed<std::tuple<Tensor, Tensor>(const Tensor&, at::ScalarType)>();
    return cast.call(values, format);
}

Tensor fp8_linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
    const NoAutocast no_autocast(c10::autocast_dispatch_keyset);
    const bool has_bias = bias && bias->defined();
    return Fp8Linear::apply(input, weight, has_bias ? bias : std::nullopt);
}

}  // namespace mantissa
