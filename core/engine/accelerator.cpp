#include "engine/accelerator.h"

#include <algorithm>

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

std::optional<double> Accelerator::clip_grad_norm(const std::vector<torch::Tensor>& parameters, double max_norm) {
    m_core->end_window_of_all("clip_grad_norm");
    if (!m_core->sync_gradients) {
        return std::nullopt;
    }
    m_core->refuse_scaled(parameters);
    return clip_norm(gradients_of(parameters), max_norm);
}

void Accelerator::clip_grad_value(const std::vector<torch::Tensor>& parameters, double limit) {
    m_core->end_window_of_all("clip_grad_value");
    if (m_core->sync_gradients) {
        m_core->refuse_scaled(parameters);
        clip_value(gradients_of(parameters), limit);
    }
}

std::optional<LossScaleSchedule::State> Accelerator::loss_scale_state() const {
    return m_core->scaler ? std::optional(m_core->scaler->schedule().state()) : std::nullopt;
}

void Accelerator::restore_loss_scale(const LossScaleSchedule::State& state) {
    if (!m_core->scaler && m_core->precision == Precision::Fp16) {
        throw EngineError({ErrorCode::BadPlan, "a saved loss scale can't be taken up: this Accelerator's loss scaler is switched off",
                           "set AcceleratorOptions::loss_scale_enabled, or leave the saved scale out, and say so"});
    }
    if (!m_core->scaler) {
        throw EngineError({ErrorCode::BadPlan,
                           std::string("a saved loss scale can't be taken up in mode ") + to_string(m_core->precision),
                           "only fp16 has a loss scale; leave it out, and say so"});
    }
    m_core->scaler->restore(state);
}

PreparedOptimizer Accelerator::prepare_one(bool /*placed*/, Optimizer&& optimizer) {
    const Optimizer taken = std::move(optimizer);
    return {m_core, taken.core()};
}

PreparedScheduler Accelerator::prepare_one(bool /*placed*/, Scheduler&& scheduler) {
    const Scheduler taken = std::move(scheduler);
    return {m_core, taken.core()};
}

PreparedLoader Accelerator::prepare_one(bool placed, Loader&& loader) {
    auto source = std::move(loader).take();
    refuse_moved_from(source == nullptr);
    const LoaderCore::Placement placement{.device = m_core->device, .moves = placed};
    const Division division{m_core->options.processes, m_core->options.split_batches, m_core->options.even_batches};
    m_core->loaders.push_back(std::make_shared<LoaderCore>(m_core->active_loaders, placement, std::move(source), division));
    m_core->prepared.loaders.any = true;
    m_core->prepared.loaders.any_unplaced = m_core->prepared.loaders.any_unplaced || !placed;
    return PreparedLoader(m_core->loaders.back());
}

PreparedLoader Accelerator::prepare_one(bool /*placed*/, PreparedLoader&& loader) {
    const auto& known = m_core->loaders;
    refuse_prepared_elsewhere(std::find(known.begin(), known.end(), loader.core()) != known.end());
    return std::move(loader);
}

PreparedModel<std::shared_ptr<ScriptModel>> Accelerator::prepare_one(bool placed, torch::jit::Module&& script) {
    return prepare_model(std::make_shared<ScriptModel>(std::move(script)), {m_core->device, placed, true});
}

void Accelerator::refuse_moved_from(bool is_empty) {
    if (is_empty) {
        throw EngineError({ErrorCode::BadPlan, "an object that was moved away was given to prepare()",
                           "go on with what the first prepare() returned"});
    }
}

void Accelerator::refuse_prepared_elsewhere(bool is_here) {
    if (!is_here) {
        throw EngineError({ErrorCode::BadPlan, "an object that another Accelerator has prepared was given to prepare()",
                           "one Accelerator per run prepares everything"});
    }
}

}  // namespace mantissa
