#pragma once
// Shared by the tests of reported faults. The number in a test's name is the row of the collection; a test that begins with
// `row_N_upstream` or says "upstream" computes what the report saw, with torch's own operations, beside what is right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "../engine/small_model.h"
#include "engine/engine_error.h"

namespace mantissa {

using ::testing::HasSubstr;

inline AcceleratorOptions fp16(double scale, OnNonfinite rule = OnNonfinite::Skip) {
    return {.mixed_precision = Precision::Fp16, .device = "cpu", .loss_scale = {.initial = scale}, .on_nonfinite = rule};
}
inline AcceleratorOptions in_mode(Precision mode) { return {.mixed_precision = mode, .device = "cpu"}; }

/// What an engine error says; "accepted" when there is none.
template <typename Function>
std::string message_of(Function function) {
    try {
        function();
    } catch (const EngineError& error) {
        return error.error().message;
    }
    return "accepted";
}

/// A weight, its optimizer and its gradient, prepared.
struct Trained {
    Trained(Accelerator& of, const SgdOptions& options, double start = 1) : Trained(of, small_model(start), options) {}
    Trained(Accelerator& of, std::shared_ptr<SmallModel> model, const SgdOptions& options)
        : accelerator(of), weight(model->weight), optimizer(of.prepare(sgd({model->weight}, options))),
          prepared(of.prepare(std::move(model))) {}
    /// One step on a loss whose gradient is `gradient`.
    void step(double gradient) {
        optimizer.zero_grad();
        accelerator.backward((weight * gradient).sum());
        optimizer.step();
    }
    Accelerator& accelerator;
    torch::Tensor weight;
    PreparedOptimizer optimizer;
    PreparedModel<std::shared_ptr<SmallModel>> prepared;
};

/// A finite loss whose gradient for `weight` is what the test wants.
inline torch::Tensor finite_loss_with_gradient(const torch::Tensor& weight, double gradient) {
    torch::Tensor hooked = weight * 1.0;
    hooked.register_hook([gradient](const torch::Tensor& incoming) { return torch::full_like(incoming, gradient); });
    return hooked.sum() * 0.5;
}

inline torch::Tensor weight_of(double start) { return torch::full({1}, start, torch::requires_grad()); }
inline float as_float(const torch::Tensor& tensor) { return tensor.item().toFloat(); }

/// torch.amp.GradScaler in torch's own kernels, driven as Accelerate 1.15 drives it (one update per optimizer).
class UpstreamScaler {
  public:
    explicit UpstreamScaler(double scale, std::int64_t growth_interval = 2000)
        : m_scale(torch::full({}, scale)), m_tracker(torch::zeros({}, at::kInt)), m_interval(growth_interval) {}

    [[nodiscard]] torch::Tensor scaled(const torch::Tensor& loss) const { return loss * m_scale; }
    /// `key` is the object that is marked as unscaled. Upstream raises on the second time; here it is std::logic_error.
    void unscale(const OptimizerCore& optimizer, const void* key) {
        if (m_found.count(key) != 0) throw std::logic_error("unscale_() has already been called");
        const torch::Tensor inverse = m_scale.to(at::kDouble).reciprocal().to(at::kFloat);
        torch::Tensor found = torch::zeros({});
        const torch::NoGradGuard no_grad;
        at::_amp_foreach_non_finite_check_and_unscale_(optimizer.gradients(), found, inverse);
        m_found[key] = as_float(found) != 0;
    }
    /// True: skipped.
    bool step_and_update(OptimizerCore& optimizer) {
        if (m_found.count(&optimizer) == 0) unscale(optimizer, &optimizer);
        const bool found = m_found[&optimizer];
        const torch::NoGradGuard no_grad;
        if (!found) optimizer.update();
        at::_amp_update_scale_(m_scale, m_tracker, torch::full({}, found ? 1.0 : 0.0), 2.0, 0.5, m_interval);
        m_found.clear();
        return found;
    }
    [[nodiscard]] double scale() const { return value(m_scale); }
    [[nodiscard]] std::int64_t tracker() const { return m_tracker.item<std::int64_t>(); }

  private:
    torch::Tensor m_scale, m_tracker;
    std::int64_t m_interval;
    std::map<const void*, bool> m_found;
};

}  // namespace mantissa
