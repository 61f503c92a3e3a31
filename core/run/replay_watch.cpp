#include "run/replay_watch.h"

#include <cmath>

#include "engine/engine_error.h"
#include "record/place_name.h"

namespace mantissa {
namespace {

double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }

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
    if (!m_look.ops) return;
    m_finder.emplace();
    m_finder->name_tensors_of(model);
    if (m_look.loss_scale) m_finder->set_loss_scale(*m_look.loss_scale, m_look.is_probing);
}

void ReplayWatch::end_step(Model& model, const StepRunner& runner) {
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
    if (!m_finder) return;
    m_finder->name(batch.features, "features", "data");
    if (batch.labels.defined()) m_finder->name(batch.labels, "labels", "data");
}

void ReplayWatch::phase_begins(const char* phase) {
    if (!m_finder) return;
    m_finder->set_phase(phase);
}

// While the gradients are as the backward pass left them: later they are unscaled and clipped in place.
void ReplayWatch::before_update(std::int64_t /*step*/, const std::vector<Batch>& /*micro_batches*/) {
    if (m_finder) m_birth_of_gradient = m_finder->cause_of_gradients(*m_model);
}

OutputWatch* ReplayWatch::outputs(std::int64_t /*step*/) {
    return m_look.outputs || !m_place.empty() ? static_cast<OutputWatch*>(this) : nullptr;
}

void ReplayWatch::output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>& operands,
                         const torch::Tensor& result) {
    const bool is_place = !m_place.empty() && place_name(module, op) == m_place;
    if (!m_look.outputs && !is_place) return;
    m_meter.read(module, op, operands, result);
    const OutputReading& reading = m_meter.readings().back();
    if (is_place) m_place_value = m_place_value ? larger(*m_place_value, reading.largest) : reading.largest;
    m_has_bad_output = m_has_bad_output || !reading.finite;
}

}  // namespace mantissa
