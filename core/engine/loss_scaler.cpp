#include "engine/loss_scaler.h"

#include <array>
#include <typeinfo>

#include "engine/engine_error.h"

namespace mantissa {
namespace {

struct ScaledLoss : torch::autograd::Function<ScaledLoss> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& loss, const torch::Tensor& scale) {
        context->saved_data["scale"] = scale.clone();  // the scale's own tensor changes with the next update
        return loss * scale;
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& gradients) {
        return {gradients.at(0) * context->saved_data["scale"].toTensor(), torch::Tensor()};
    }
};

}  // namespace

LossScaler::LossScaler(const LossScalePlan& plan, torch::Device device) : m_schedule(plan) {
    const auto options = torch::TensorOptions().dtype(torch::kFloat32).device(device);
    m_scale = torch::empty({}, options);
    m_inverse_scale = torch::empty({}, options);
    m_found_inf = torch::zeros({}, options);
    renew_tensors();
}

torch::Tensor LossScaler::scale(const torch::Tensor& loss) {
    m_has_scaled = true;
    return ScaledLoss::apply(loss, m_scale);
}

torch::Tensor LossScaler::root_of(const torch::Tensor& loss) {
    m_has_scaled = true;
    return loss * m_scale;
}

bool is_scaled_already(const torch::Tensor& loss) {
    constexpr std::size_t looked_at = 16;  // a scaled loss is divided, added to or reduced at most; the model lies further back
    std::array<const torch::autograd::Node*, looked_at> nodes{loss.grad_fn().get()};
    std::size_t known = nodes[0] == nullptr ? 0 : 1;
    for (std::size_t i = 0; i < known; ++i) {
        const torch::autograd::Node& node = *nodes[i];
        if (typeid(node) == typeid(torch::autograd::CppNode<ScaledLoss>)) return true;
        for (const auto& edge : node.next_edges()) {
            if (known < looked_at && edge.function) nodes[known++] = edge.function.get();
        }
    }
    return false;
}

void LossScaler::renew_tensors() {
    m_scale.fill_(m_schedule.scale());
    // The reciprocal is taken in fp64, then rounded once.
    m_inverse_scale.fill_(static_cast<double>(static_cast<float>(1.0 / m_schedule.scale())));
}

bool LossScaler::unscale(const std::vector<torch::Tensor>& gradients) {
    return check_and_multiply(gradients, m_inverse_scale).item<float>() != 0;
}

torch::Tensor LossScaler::unscale_unread(const std::vector<torch::Tensor>& gradients) {
    return check_and_multiply(gradients, m_inverse_scale);
}

bool LossScaler::unscale_by_division(const std::vector<torch::Tensor>& gradients) {
    const bool found = check_and_multiply(gradients, torch::ones_like(m_inverse_scale)).item<float>() != 0;
    const torch::NoGradGuard no_grad;
    at::_foreach_div_(gradients, m_schedule.scale());
    return found;
}

const torch::Tensor& LossScaler::check_and_multiply(const std::vector<torch::Tensor>& gradients, const torch::Tensor& factor) {
    const torch::NoGradGuard no_grad;
    if (!m_has_scaled) {
        throw EngineError({ErrorCode::BadPlan, "this LossScaler was to unscale gradients, but has scaled no loss",
                           "gradients of Accelerator::backward are unscaled by the Accelerator: clip_grad_norm, unscale_gradients or step"});
    }
    for (const auto& gradient : gradients) {
        if (gradient.scalar_type() == at::kHalf) {
            throw EngineError({ErrorCode::BadPlan, "a gradient is fp16, so the weights are: they can't be unscaled",
                               "keep trainable weights in fp32; autocast makes the half copies"});
        }
    }
    m_found_inf.zero_();
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, m_found_inf, factor);
    return m_found_inf;
}

void LossScaler::record(GradientFinding finding) {
    const double before = m_schedule.scale();
    m_has_scaled = false;
    m_schedule.record(finding);
    if (m_schedule.scale() != before) {
        renew_tensors();
    }
}

void LossScaler::restore(const LossScaleSchedule::State& state) {
    m_schedule.restore(state);
    m_has_scaled = true;  // the gradients of an open window may come with it
    renew_tensors();
}

}  // namespace mantissa
