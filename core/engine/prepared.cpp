#include "engine/prepared.h"

#include <algorithm>

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

void PreparedScheduler::step() {
    if (!m_accelerator->options.step_scheduler_with_optimizer) {
        m_core->step();
        return;
    }
    const auto bound = m_accelerator->optimizers_of(m_core->optimizer().get());
    const bool held = !m_accelerator->sync_gradients ||
                      std::any_of(bound.begin(), bound.end(), [](const auto& one) { return one->skipped; });
    const auto total = m_core->total_steps();
    if (!held && (!total || m_core->step_count() <= *total)) {
        m_core->step();
    }
}

PreparedLoader::PreparedLoader(std::shared_ptr<AcceleratorCore> accelerator, std::unique_ptr<BatchSource> source)
    : m_accelerator(std::move(accelerator)), m_source(std::move(source)) {}

std::optional<Batch> PreparedLoader::fetch() {
    auto batch = m_source->next();
    if (batch && !m_accelerator->device.is_cpu()) {
        batch->features = batch->features.to(m_accelerator->device);
        batch->labels = batch->labels.to(m_accelerator->device);
    }
    return batch;
}

void PreparedLoader::start_pass() {
    m_accelerator->end_of_data = false;
    m_source->begin(m_epoch++);
    m_ahead = fetch();
}

std::optional<Batch> PreparedLoader::next() {
    std::optional<Batch> current = std::move(m_ahead);
    m_ahead.reset();
    if (current) {
        m_ahead = fetch();
    }
    m_accelerator->end_of_data = current && !m_ahead;
    return current;
}

PreparedLoader::Iterator PreparedLoader::begin() {
    start_pass();
    m_current = next();
    return Iterator(this);
}

PreparedLoader::Iterator& PreparedLoader::Iterator::operator++() {
    m_loader->m_current = m_loader->next();
    return *this;
}

}  // namespace mantissa
