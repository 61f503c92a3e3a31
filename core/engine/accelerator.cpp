#include "engine/accelerator.h"

#include "engine/gradients.h"

namespace mantissa {
namespace {

std::vector<torch::Tensor> gradients_of(const std::vector<torch::Tensor>& parameters) {
    std::vector<torch::Tensor> gradients;
    for (const auto& parameter : parameters) {
        if (parameter.grad().defined()) {
            gradients.push_back(parameter.grad());
        }
    }
    return gradients;
}

}  // namespace

Accelerator::Accelerator(const AcceleratorOptions& options) : ProcessCalls(std::make_shared<AcceleratorCore>(options)) {}

AutocastScope Accelerator::autocast() const {
    if (m_core->precision == Precision::No) {
        return {};
    }
    return {m_core->device.type(), autocast_dtype(m_core->precision), true, m_core->options.autocast_cache};
}

std::optional<double> Accelerator::clip_grad_norm(const std::vector<torch::Tensor>& parameters, double max_norm) {
    if (!m_core->sync_gradients) {
        return std::nullopt;
    }
    m_core->end_window_of_all();
    return clip_norm(gradients_of(parameters), max_norm);
}

void Accelerator::clip_grad_value(const std::vector<torch::Tensor>& parameters, double limit) {
    if (m_core->sync_gradients) {
        m_core->end_window_of_all();
        clip_value(gradients_of(parameters), limit);
    }
}

std::optional<LossScaleSchedule::State> Accelerator::loss_scale_state() const {
    return m_core->scaler ? std::optional(m_core->scaler->schedule().state()) : std::nullopt;
}

void Accelerator::restore_loss_scale(const LossScaleSchedule::State& state) {
    if (!m_core->scaler) {
        throw EngineError({ErrorCode::BadPlan,
                           std::string("a saved loss scale can't be taken up in mode ") + to_string(m_core->precision),
                           "only fp16 has a loss scale; leave it out, and say so"});
    }
    m_core->scaler->restore(state);
}

PreparedOptimizer Accelerator::prepare_one(Optimizer&& optimizer) {
    const Optimizer taken = std::move(optimizer);
    return {m_core, taken.core()};
}

PreparedScheduler Accelerator::prepare_one(Scheduler&& scheduler) {
    const Scheduler taken = std::move(scheduler);
    m_core->add(taken.core());
    return {m_core, taken.core()};
}

PreparedLoader Accelerator::prepare_one(Loader&& loader) {
    auto source = std::move(loader).take();
    refuse_moved_from(source == nullptr);
    const LoaderCore::Placement placement{.device = m_core->device, .moves = m_core->options.device_placement};
    const Division division{m_core->options.processes, m_core->options.split_batches, m_core->options.even_batches};
    m_core->loaders.push_back(std::make_shared<LoaderCore>(m_core->active_loaders, placement, std::move(source), division));
    return PreparedLoader(m_core->loaders.back());
}

void Accelerator::refuse_moved_from(bool is_empty) {
    if (is_empty) {
        throw EngineError({ErrorCode::BadPlan, "an object that was moved away was given to prepare()",
                           "go on with what the first prepare() returned"});
    }
}

}  // namespace mantissa
