#include "engine/prepared.h"

#include <algorithm>

#include "engine/process_group.h"

namespace mantissa {

PreparedOptimizer::PreparedOptimizer(std::shared_ptr<AcceleratorCore> accelerator,
                                     std::shared_ptr<OptimizerCore> optimizer)
    : m_accelerator(std::move(accelerator)), m_state(m_accelerator->prepared.add(std::move(optimizer))) {}

PreparedOptimizerState& PreparedOptimizer::state() const {
    if (!m_state) misuse::refuse_released("an optimizer");
    return *m_state;
}

void PreparedOptimizer::step() { m_accelerator->step(state()); }

void PreparedOptimizer::zero_grad() { m_accelerator->zero_grad(state()); }

PreparedScheduler::PreparedScheduler(std::shared_ptr<AcceleratorCore> accelerator, std::shared_ptr<SchedulerCore> scheduler)
    : m_accelerator(std::move(accelerator)), m_core(std::move(scheduler)) {
    m_accelerator->prepared.add(m_core);
}

SchedulerCore& PreparedScheduler::core() const {
    if (!m_core) misuse::refuse_released("a scheduler");
    return *m_core;
}

void PreparedScheduler::step() { step_with(std::nullopt); }

void PreparedScheduler::step(double metric) { step_with(metric); }

void PreparedScheduler::step_with(std::optional<double> metric) {
    SchedulerCore& scheduler = core();
    const auto step_core = [&] { metric ? scheduler.step_on(*metric) : scheduler.step(); };
    misuse::refuse_inside_autocast(m_accelerator->device.type(), "the scheduler's step");
    if (!m_accelerator->options.step_scheduler_with_optimizer) {
        step_core();
        return;
    }
    const auto bound = m_accelerator->prepared.optimizers_of(scheduler.optimizer().get());
    const bool held = !m_accelerator->sync_gradients ||
                      std::any_of(bound.begin(), bound.end(), [](const auto& one) { return one->skipped; });
    if (held) {
        return;
    }
    const auto& options = m_accelerator->options;
    const std::int64_t times = options.processes && !options.split_batches ? options.processes->size() : 1;
    for (std::int64_t i = 0; i < times; ++i) {
        const auto total = scheduler.total_steps();
        if (!total || scheduler.step_count() <= *total) {
            step_core();
        }
    }
}

}  // namespace mantissa
