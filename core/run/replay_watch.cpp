#include "run/replay_watch.h"

#include <cmath>

#include "engine/engine_error.h"
#include "record/place_name.h"

namespace mantissa {
namespace {

double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }

std::optional<double> worst_value(const Model& model, const std::string& name) {
    const torch::NoGradGuard no_grad;
    for (const auto& tensors : {model.named_parameters(), model.named_buffers()}) {
        if (const torch::Tensor* found = tensors.find(name)) return worst_of(read_tensor(*found));
    }
    return std::nullopt;
}

}  // namespace

void ReplayWatch::begin_step(Model& model, Look look) {
    m_look = std::move(look);
    m_model = &model;
    m_meter = OutputMeter();
    m_has_bad_output = false;
    m_place_value.reset();
    m_birth.reset();
    m_birth_of_gradient.reset();
    m_finder.reset();
    m_place_meter.reset();
    if (!m_look.ops) return look_for_value(model);
    m_finder.emplace();
    m_finder->name_tensors_of(model);
    if (m_look.loss_scale) m_finder->set_loss_scale(*m_look.loss_scale, m_look.is_probing);
}

// Bad before the step: as it began. Bad after it: as it ends.
void ReplayWatch::look_for_value(Model& model) {
    if (!m_value.tensor.empty()) {
        if (m_value.phase == "parameter" || m_value.phase == "buffer") m_place_value = worst_value(model, m_value.tensor);
    } else if (!m_value.place.empty() && !m_value.phase.empty() && !m_is_named) {
        m_place_meter.emplace(Place{m_value.phase, m_value.place, m_value.kernel}, model);
    }
}

void ReplayWatch::take_value(double value) { m_place_value = m_place_value ? larger(*m_place_value, value) : value; }

void ReplayWatch::end_step(Model& model, const StepRunner& runner) {
    if (!m_finder && m_value.phase == "update" && !m_value.tensor.empty()) m_place_value = worst_value(model, m_value.tensor);
    m_is_named = m_is_named || (m_place_value && m_place_meter);
    if (m_place_meter && !m_place_value) m_place_value = m_place_meter->value();
    m_place_meter.reset();
    if (!m_finder) return;
    // In the order in which a step comes to harm: its loss, an output that hides it, its gradients, what the update made of them.
    for (const torch::Tensor& loss : runner.last_losses()) {
        if (!m_birth) m_birth = m_finder->cause_of(loss);
    }
    if (!m_birth && m_has_bad_output) m_birth = m_finder->hidden_overflow();
    if (!m_birth) m_birth = m_birth_of_gradient;
    if (!m_birth) m_birth = m_finder->cause_of_parameters(model);
    const std::string error = m_finder->callback_error();
    m_finder.reset();
    if (!error.empty())
        throw EngineError({ErrorCode::Internal, "the step could not be watched op by op: " + error, "replay it without watching"});
}

std::string ReplayWatch::bad_place() const {
    if (m_birth) return m_birth->place();
    const OutputReading* reading = m_meter.first_nonfinite();
    return reading != nullptr && reading->operands_finite ? place_name(reading->module, reading->op) : "";
}

void ReplayWatch::batch_in_hand(std::int64_t /*step*/, std::size_t micro_batch, Batch& batch) {
    if (m_look.other_batch) {
        if (auto other = m_look.other_batch(micro_batch)) batch = std::move(*other);
    }
    if (m_value.phase == "data" && !m_finder) {
        const torch::Tensor& data = m_value.tensor == "labels" ? batch.labels : batch.features;
        if (data.defined()) take_value(worst_of(read_tensor(data)));
    }
    if (!m_finder) return;
    m_finder->name(batch.features, "features", "data");
    if (batch.labels.defined()) m_finder->name(batch.labels, "labels", "data");
}

void ReplayWatch::phase_begins(const char* phase) {
    if (m_place_meter) m_place_meter->set_phase(phase);
    if (m_finder) m_finder->set_phase(phase);
}

// While the gradients are as the backward pass left them: later they are unscaled and clipped in place.
void ReplayWatch::before_update(std::int64_t /*step*/, const std::vector<Batch>& /*micro_batches*/) {
    if (m_finder) m_birth_of_gradient = m_finder->cause_of_gradients(*m_model);
}

OutputWatch* ReplayWatch::outputs(std::int64_t /*step*/) {
    return m_look.outputs || watches_an_output() ? static_cast<OutputWatch*>(this) : nullptr;
}

void ReplayWatch::output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>& operands,
                         const torch::Tensor& result) {
    const bool is_place = watches_an_output() && place_name(module, op) == m_value.place;
    if (!m_look.outputs && !is_place) return;
    m_meter.read(module, op, operands, result);
    const OutputReading& reading = m_meter.readings().back();
    if (is_place) take_value(reading.largest);
    m_has_bad_output = m_has_bad_output || !reading.finite;
}

}  // namespace mantissa
