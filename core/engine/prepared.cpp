#include "engine/prepared.h"

#include <algorithm>

#include "engine/process_group.h"

namespace mantissa {

torch::Tensor to_fp32_output(torch::Tensor output) {
    if (output.defined() && (output.scalar_type() == at::kHalf || output.scalar_type() == at::kBFloat16)) {
        return output.to(at::kFloat);
    }
    return output;
}

PreparedOptimizer::PreparedOptimizer(std::shared_ptr<AcceleratorCore> accelerator,
                                     std::shared_ptr<OptimizerCore> optimizer)
    : m_accelerator(std::move(accelerator)), m_state(m_accelerator->add(std::move(optimizer))) {}

void PreparedOptimizer::step() { m_accelerator->step(*m_state); }

void PreparedOptimizer::zero_grad() {
    if (m_accelerator->sync_gradients) {
        m_state->core->zero_grad();
    }
}

void PreparedScheduler::step() { step_with(std::nullopt); }

void PreparedScheduler::step(double metric) { step_with(metric); }

void PreparedScheduler::step_with(std::optional<double> metric) {
    const auto step_core = [&] { metric ? m_core->step_on(*metric) : m_core->step(); };
    if (!m_accelerator->options.step_scheduler_with_optimizer) {
        step_core();
        return;
    }
    const auto bound = m_accelerator->optimizers_of(m_core->optimizer().get());
    const bool held = !m_accelerator->sync_gradients ||
                      std::any_of(bound.begin(), bound.end(), [](const auto& one) { return one->skipped; });
    const auto& options = m_accelerator->options;
    const std::int64_t times = options.processes && !options.split_batches ? options.processes->size() : 1;
    for (std::int64_t i = 0; i < times && !held; ++i) {
        const auto total = m_core->total_steps();
        if (!total || m_core->step_count() <= *total) {
            step_core();
        }
    }
}

}  // namespace mantissa
