#include "run/local_error_watch.h"

#include <algorithm>

#include "engine/fp32_output.h"
#include "numerics/dtype_names.h"
#include "numerics/local_error.h"
#include "run/forward_look.h"

namespace mantissa {
namespace {

class Collector : public OutputWatch {
  public:
    explicit Collector(std::vector<std::pair<std::string, torch::Tensor>>& outputs) : m_outputs(outputs) {}
    void output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>& /*operands*/,
                const torch::Tensor& result) override {
        if (result.is_floating_point())
            m_outputs.emplace_back(module.empty() || op.empty() ? module + op : module + "." + op, result.detach());
    }

  private:
    std::vector<std::pair<std::string, torch::Tensor>>& m_outputs;
};

bool all_finite(const std::vector<torch::Tensor>& tensors) {
    return std::all_of(tensors.begin(), tensors.end(), [](const torch::Tensor& tensor) {
        return !tensor.defined() || at::isfinite(tensor).all().item<bool>();
    });
}

}  // namespace

void LocalErrorWatch::before_update(std::int64_t step, const std::vector<Batch>& micro_batches) {
    const std::int64_t every = m_plan.observe.local_error_every;
    if (every == 0 || step % every != 0 || m_plan.mixed_precision == Precision::No || micro_batches.empty()) return;
    LookAgain again(m_parts.bare_model());
    const Pass mode = pass(micro_batches.front(), false);
    again.put_back();
    record(step, pass(micro_batches.front(), true), mode);
}

LocalErrorWatch::Pass LocalErrorWatch::pass(const Batch& batch, bool is_fp32) {
    Pass pass;
    Model& model = m_parts.bare_model();
    torch::Tensor loss;
    {
        Collector collector(pass.outputs);
        const WatchScope watch(collector);
        const AutocastScope scope = is_fp32 ? m_parts.accelerator.fp32_island() : m_parts.accelerator.autocast();
        loss = m_parts.loss(to_fp32_output(model.forward(batch.features)), batch.labels);
    }
    const auto state = m_parts.accelerator.loss_scale_state();
    const double scale = is_fp32 || !state ? 1 : state->scale;
    const double share = m_plan.training.loss_factor / static_cast<double>(m_plan.training.gradient_accumulation_steps);
    pass.gradients = torch::autograd::grad({loss * (share * scale)}, model.parameters(), {}, std::nullopt, false, /*allow_unused=*/true);
    for (torch::Tensor& gradient : pass.gradients) {
        if (gradient.defined() && scale != 1) gradient = gradient.to(at::kFloat).div_(scale);
    }
    return pass;
}

void LocalErrorWatch::record(std::int64_t step, const Pass& exact, const Pass& mode) {
    const auto tell = [&](const std::string& name, TensorRole role, const torch::Tensor& x, const torch::Tensor& y) {
        if (x.sizes() != y.sizes()) return;
        const LocalError error = local_error(x, y);
        m_recorder.local_error({step, name, role, dtype_name(y.scalar_type()), error.sqnr_db, error.relative_error});
    };
    for (std::size_t i = 0; i < std::min(exact.outputs.size(), mode.outputs.size()); ++i) {
        if (exact.outputs[i].first != mode.outputs[i].first) break;  // the model took another way: nothing after it can be compared
        tell(exact.outputs[i].first, TensorRole::Output, exact.outputs[i].second, mode.outputs[i].second);
    }
    if (!all_finite(mode.gradients)) return;
    const auto parameters = m_parts.bare_model().named_parameters();
    for (std::size_t i = 0; i < exact.gradients.size(); ++i) {
        if (exact.gradients[i].defined() && mode.gradients[i].defined())
            tell(parameters[i].key(), TensorRole::Gradient, exact.gradients[i], mode.gradients[i]);
    }
}

}  // namespace mantissa
