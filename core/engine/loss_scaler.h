#pragma once
// Loss scaling on tensors: LossScaleSchedule says the scale, at::_amp_foreach_non_finite_check_and_unscale_ does the work.
// An Accelerator owns its scaler. One of a program's own is for loops without an Accelerator: what it scaled is refused by
// Accelerator::backward, and it unscales nothing that it hasn't scaled.
#include <vector>

#include "engine/loss_scale_schedule.h"
#include "torch_pch.h"

namespace mantissa {

class LossScaler {
  public:
    LossScaler(const LossScalePlan& plan, torch::Device device);

    /// Leaves a mark in the graph, by which a second scaling is found.
    [[nodiscard]] torch::Tensor scale(const torch::Tensor& loss);
    /// The same product without the mark, for the Accelerator's own backward.
    [[nodiscard]] torch::Tensor root_of(const torch::Tensor& loss);
    /// Multiplies the gradients by 1/scale in place. True if a scaled gradient was not finite (one read of the device).
    [[nodiscard]] bool unscale(const std::vector<torch::Tensor>& gradients);
    /// The same without a read: a number on the device, not 0 if a scaled gradient was not finite.
    [[nodiscard]] torch::Tensor unscale_unread(const std::vector<torch::Tensor>& gradients);
    /// The same with gradient / scale: other bits where the scale is no power of two.
    [[nodiscard]] bool unscale_by_division(const std::vector<torch::Tensor>& gradients);

    /// Once per iteration, however many optimizers there are.
    void record(GradientFinding finding);
    void restore(const LossScaleSchedule::State& state);
    [[nodiscard]] const LossScaleSchedule& schedule() const { return m_schedule; }

  private:
    void renew_tensors();
    [[nodiscard]] const torch::Tensor& check_and_multiply(const std::vector<torch::Tensor>& gradients, const torch::Tensor& factor);

    LossScaleSchedule m_schedule;
    torch::Tensor m_scale, m_inverse_scale, m_found_inf;
    bool m_has_scaled = false;
};

/// True when LossScaler::scale made this loss, or one of the values right before it.
[[nodiscard]] bool is_scaled_already(const torch::Tensor& loss);

}  // namespace mantissa
