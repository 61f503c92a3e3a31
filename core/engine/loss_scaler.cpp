#include "engine/loss_scaler.h"

#include "engine/engine_error.h"

namespace mantissa {

LossScaler::LossScaler(const LossScalePlan& plan, torch::Device device) : m_schedule(plan) {
    const auto options = torch::TensorOptions().dtype(torch::kFloat32).device(device);
    m_scale = torch::empty({}, options);
    m_inverse_scale = torch::empty({}, options);
    m_found_inf = torch::zeros({}, options);
    renew_tensors();
}

void LossScaler::renew_tensors() {
    m_scale.fill_(m_schedule.scale());
    // The reciprocal is taken in fp64, then rounded once.
    m_inverse_scale.fill_(static_cast<double>(static_cast<float>(1.0 / m_schedule.scale())));
}

bool LossScaler::unscale(const std::vector<torch::Tensor>& gradients) {
    return check_and_multiply(gradients, m_inverse_scale);
}

bool LossScaler::unscale_by_division(const std::vector<torch::Tensor>& gradients) {
    const bool found = check_and_multiply(gradients, torch::ones_like(m_inverse_scale));
    const torch::NoGradGuard no_grad;
    at::_foreach_div_(gradients, m_schedule.scale());
    return found;
}

bool LossScaler::check_and_multiply(const std::vector<torch::Tensor>& gradients, const torch::Tensor& factor) {
    const torch::NoGradGuard no_grad;
    for (const auto& gradient : gradients) {
        if (gradient.scalar_type() == at::kHalf) {
            throw EngineError({ErrorCode::BadPlan, "a gradient is fp16, so the weights are: they can't be unscaled",
                               "keep trainable weights in fp32; autocast makes the half copies"});
        }
    }
    m_found_inf.zero_();
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, m_found_inf, factor);
    return m_found_inf.item<float>() != 0;
}

void LossScaler::record(GradientFinding finding) {
    const double before = m_schedule.scale();
    m_schedule.record(finding);
    if (m_schedule.scale() != before) {
        renew_tensors();
    }
}

void LossScaler::restore(const LossScaleSchedule::State& state) {
    m_schedule.restore(state);
    renew_tensors();
}

}  // namespace mantissa
