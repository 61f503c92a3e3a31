#include "run/batch_norm_watch.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.h"

namespace mantissa {

BatchNormWatch::BatchNormWatch(const LoopContext& context) : m_recorder(context.session.recorder) {
    for (const auto& entry : context.parts.bare_model().named_buffers()) {
        if (!entry.key().ends_with("running_var")) continue;
        m_names.push_back(entry.key());
        m_variances.push_back(entry.value());
    }
}

std::vector<double> BatchNormWatch::largest() const {
    std::vector<torch::Tensor> each;
    for (const torch::Tensor& variance : m_variances) each.push_back(variance.max().to(torch::kFloat64));
    const torch::Tensor read = torch::stack(each).cpu();
    return {read.const_data_ptr<double>(), read.const_data_ptr<double>() + read.numel()};
}

void BatchNormWatch::after_step(const StepOutcome& outcome, const std::vector<Batch>& /*micro_batches*/) {
    if (m_variances.empty() || m_is_told || m_steps++ % every_steps != 0) return;
    const torch::NoGradGuard no_grad;
    const std::vector<double> now = largest();
    for (std::size_t i = 0; i < now.size() && m_steps > settling_steps && !m_is_told; ++i) {
        // Written so that a NaN counts, too.
        if (now[i] <= sudden * m_before[i]) continue;
        m_is_told = true;
        const std::string module = m_names[i].substr(0, m_names[i].rfind('.'));
        m_recorder.incident({0, outcome.facts.step, "buffer", "batchnorm_poisoned", std::isfinite(now[i]) ? "warning" : "error",
                             m_names[i] == module ? "" : module, "", m_names[i],
                             nlohmann::json{{"before", number_to_json(m_before[i])}, {"result", number_to_json(now[i])}}.dump()});
    }
    m_before = now;
}

}  // namespace mantissa
