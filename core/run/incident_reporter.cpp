#include "run/incident_reporter.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "engine/gradients.h"
#include "numerics/tensor_reading.h"
#include "record/place_name.h"
#include "run/birth_search.h"

namespace mantissa {
namespace {

bool is_finite(const torch::Tensor& tensor) {
    return !tensor.is_floating_point() || at::isfinite(tensor.detach()).all().item<bool>();
}

// Of several processes one may have none in an epoch's last batch.
bool has_samples(const Batch& batch) { return batch.features.size(0) > 0; }

std::string first_nonfinite_parameter(const Model& model) {
    for (const auto& entry : model.named_parameters()) {
        if (!is_finite(entry.value())) return entry.key();
    }
    return "";
}

// Inf where there is one, else NaN: an overflow is told by its Inf, also when NaN came of it in the same
// tensor.
nlohmann::json detail_of(const OutputReading& reading, Precision mode, std::optional<double> loss) {
    nlohmann::json detail;
    detail["operands"] = nlohmann::json::array();
    for (const double operand : reading.operands_largest)
        detail["operands"].push_back(number_to_json(operand));
    detail["result"] = number_to_json(reading.largest);
    detail["dtype"] = reading.dtype;
    detail["limit"] = number_to_json(largest_finite(mode));
    if (loss) detail["loss"] = number_to_json(*loss);
    return detail;
}

}  // namespace

IncidentReporter::IncidentReporter(RunParts& parts, const RunPlan& plan, RunSession& session, const IncidentSources& sources)
    : m_parts(parts),
      m_plan(plan),
      m_on_nonfinite(accelerator_options(plan).on_nonfinite),
      m_log(plan, session, sources),
      m_masks(bad_buffers(parts.bare_model())) {}

IncidentReporter::Scene IncidentReporter::scene(const std::vector<Batch>& micro_batches, std::size_t index, double loss) const {
    const auto scale = m_parts.accelerator.loss_scale_state();
    return {micro_batches[index], m_random[index], loss, scale ? std::optional(scale->scale) : std::nullopt,
            micro_batches.size() > 1 ? std::optional(static_cast<std::int64_t>(index)) : std::nullopt};
}

std::optional<BirthReport> IncidentReporter::birth_in(const Scene& scene) const {
    return find_birth(m_parts, m_plan.training, scene.batch, m_masks, scene.random);
}

void IncidentReporter::micro_batch_begins(std::size_t index) {
    if (index >= m_random.size()) m_random.resize(index + 1);
    m_random[index].take();
}

void IncidentReporter::nonfinite_loss(std::int64_t step, const std::vector<Batch>& micro_batches,
                                      double loss) {
    m_last_place.clear();
    if (m_looks_left == 0 || m_poisoned) return;
    --m_looks_left;
    if (report_bad_weights(step, scene(micro_batches, 0, loss))) return;
    for (std::size_t i = 0; i < micro_batches.size(); ++i) {
        if (has_samples(micro_batches[i]) && report_micro_batch(step, scene(micro_batches, i, loss))) return;
    }
    // Not seen again: a replay of the step may tell more than a look at it did.
    m_log.write({{0, step, "forward", "unknown", "error", "", "", "", "{}"}, loss, scene(micro_batches, 0, loss).loss_scale, {}, {}});
}

// All gradients were finite, or the step before would have been told: the update itself made them so.
bool IncidentReporter::report_bad_weights(std::int64_t step, const Scene& scene) {
    if (step == 0) return false;
    const auto birth = find_birth_in_update(m_parts);
    if (!birth) return false;
    m_poisoned = true;
    report_birth({0, step - 1, "", "", "error", "", "", "", ""}, *birth, scene);
    return true;
}

bool IncidentReporter::report_micro_batch(std::int64_t step, const Scene& scene) {
    if (!is_finite(scene.batch.features)) {
        m_last_place = "the batch";
        record({0, step, "data", "bad_input", "error", "", "", "features", "{}"}, scene);
        return true;
    }
    const ForwardLook look = look_forward(m_parts, scene.batch, scene.random);
    if (report_forward(step, scene, look.meter, "error", true)) return true;
    return !is_finite(m_parts.loss(look.output, scene.batch.labels)) && report_loss_op(step, scene, look.output);
}

bool IncidentReporter::report_forward(std::int64_t step, const Scene& scene, const OutputMeter& meter, const char* severity,
                                      bool tells_loss) {
    const OutputReading* reading = meter.first_nonfinite();
    if (reading == nullptr) return false;
    if (!reading->operands_finite) {  // born between the layers that tell their outputs
        const auto birth = birth_in(scene);
        if (birth) report_birth({0, step, "", "", severity, "", "", "", ""}, *birth, scene);
        return true;
    }
    m_last_place = place_name(reading->module, reading->op);
    record({0, step, "forward", "activation_overflow", severity, reading->module, reading->op, "",
            detail_of(*reading, m_plan.mixed_precision, tells_loss ? std::optional(scene.loss) : std::nullopt).dump()},
           scene);
    return true;
}

// The model's output is finite, the loss is not: it was born in the loss itself.
bool IncidentReporter::report_loss_op(std::int64_t step, const Scene& scene, const torch::Tensor& output) {
    const bool naive = m_plan.training.loss == "naive_nll";
    if (!naive) {
        if (const auto birth = birth_in(scene)) {
            report_birth({0, step, "", "", "error", "", "", "", ""}, *birth, scene);
            return true;
        }
    }
    nlohmann::json detail{{"loss", number_to_json(scene.loss)},
                          {"output", number_to_json(output.abs().max().item<double>())}};
    IncidentRow row{0, step, "loss", "activation_overflow", "error", "loss", m_plan.training.loss, "", ""};
    if (naive) {
        const torch::Tensor of_label = torch::softmax(output, 1).gather(1, scene.batch.labels.unsqueeze(1));
        row.op = "log";
        if (of_label.eq(0).any().item<bool>()) row.kind = "log_of_zero";
        detail["operands"] = {number_to_json(of_label.min().item<double>())};
        detail["sample"] = of_label.argmin().item<std::int64_t>();
    }
    row.detail_json = detail.dump();
    m_last_place = place_name(row.module, row.op);
    record(std::move(row), scene);
    return true;
}

void IncidentReporter::after_step(const StepOutcome& outcome, const std::vector<Batch>& micro_batches) {
    const StepFacts& facts = outcome.facts;
    if (!facts.nonfinite_loss) m_last_place.clear();  // an earlier step's
    if (!facts.nonfinite_loss && facts.skipped && m_hidden_looks_left > 0) look_at_skip(facts, micro_batches);
    const bool collapsed =
        facts.scale_collapsed || (outcome.refusal && outcome.refusal->where() == NonFinite::Where::LossScale);
    if (collapsed) {
        m_log.record(
            {0, facts.step, "unscale", "scale_collapse", "error", "", "", "",
             nlohmann::json{{"scale", number_to_json(facts.loss_scale)}, {"floor", m_plan.loss_scale.floor}}
                 .dump()});
    }
    if (facts.scale_alarm && !collapsed) report_alarm(facts);
    const bool bad = facts.nonfinite_loss || facts.nonfinite_grads > 0;
    // Under the scaler a gradient that overflows is a skip; without one it is a fault of its own.
    if (!facts.nonfinite_loss && facts.nonfinite_grads > 0 && !facts.loss_scale) report_gradient(outcome, micro_batches);
    if (bad && !facts.skipped && m_on_nonfinite == OnNonfinite::Mark) report_poisoned(facts.step);
    if (m_parts.ranks) settle_with_others(facts);
}

// Skip, loss and norm are what all processes agreed on.
void IncidentReporter::settle_with_others(const StepFacts& facts) {
    const bool is_bad = facts.skipped || facts.nonfinite_loss || !std::isfinite(facts.grad_norm);
    if (std::string place = m_log.settle(*m_parts.ranks, is_bad); !place.empty()) m_last_place = std::move(place);
}

// A skip under a finite loss: an output that left the format unseen, a backward that is bad at any loss scale, or only the scale.
void IncidentReporter::look_at_skip(const StepFacts& facts, const std::vector<Batch>& micro_batches) {
    --m_hidden_looks_left;
    const auto scene_of = [&](std::size_t i) {
        Scene one = scene(micro_batches, i, facts.loss);
        one.loss_scale = facts.loss_scale;
        return one;
    };
    for (std::size_t i = 0; i < micro_batches.size(); ++i) {
        if (!has_samples(micro_batches[i])) continue;
        if (report_forward(facts.step, scene_of(i), look_forward(m_parts, micro_batches[i], m_random[i]).meter, "warning", true)) return;
    }
    if (!facts.loss_scale) return;  // a gradient that is bad without a scale is reported as a fault of its own
    for (std::size_t i = 0; i < micro_batches.size(); ++i) {
        const auto birth = has_samples(micro_batches[i]) ? birth_in(scene_of(i)) : std::nullopt;
        if (birth) return report_birth({0, facts.step, "", "", "warning", "", "", "", ""}, *birth, scene_of(i));
    }
}

void IncidentReporter::report_birth(IncidentRow row, const BirthReport& birth, const Scene& scene) {
    const OpReading& producer = birth.producer;
    nlohmann::json detail{{"result", number_to_json(worst_of(producer.result))},
                          {"dtype", producer.result.dtype},
                          {"kernel", producer.kernel}};
    detail["operands"] = nlohmann::json::array();
    for (const TensorReading& operand : producer.operands) detail["operands"].push_back(number_to_json(worst_of(operand)));
    row.phase = producer.phase;
    row.kind = birth.code;
    row.module = producer.module;
    row.op = producer.op;
    if (!birth.tensor.empty()) row.tensor = birth.tensor;
    row.detail_json = detail.dump();
    m_last_place = birth.place();
    record(std::move(row), scene, birth);
}

// Long before the floor: the scale is still on its way, and something can be done.
void IncidentReporter::report_alarm(const StepFacts& facts) {
    nlohmann::json detail{{"scale", number_to_json(facts.loss_scale_after)}, {"floor", m_plan.loss_scale.floor}};
    if (facts.backoffs_left) detail["backoffs_left"] = *facts.backoffs_left;
    m_log.record({0, facts.step, "unscale", "scale_collapse", "warning", "", "", "", detail.dump()});
}

void IncidentReporter::report_gradient(const StepOutcome& outcome, const std::vector<Batch>& micro_batches) {
    if (m_looks_left == 0 || m_poisoned) return;
    --m_looks_left;
    const StepFacts& facts = outcome.facts;
    IncidentRow row{0, facts.step, "backward", "unknown", "error", "", "", "", "{}"};
    if (outcome.refusal) row.tensor = outcome.refusal->subject();
    for (const auto& entry : m_parts.bare_model().named_parameters()) {
        if (row.tensor.empty() && entry.value().grad().defined() && !is_finite(entry.value().grad()))
            row.tensor = entry.key();
    }
    // The weights are those of the forward pass only when nothing was applied.
    for (std::size_t i = 0; facts.skipped && i < micro_batches.size(); ++i) {
        if (!has_samples(micro_batches[i])) continue;
        const Scene here = scene(micro_batches, i, facts.loss);
        if (m_plan.training.loss == "naive_nll" && report_gradient_of_logarithm(row, here)) return;
        if (const auto birth = birth_in(here)) return report_birth(std::move(row), *birth, here);
    }
    m_log.record(row);
    m_log.write({row, facts.loss, facts.loss_scale, {}, {}});
}

bool IncidentReporter::report_gradient_of_logarithm(IncidentRow row, const Scene& scene) {
    const ForwardLook look = look_forward(m_parts, scene.batch, scene.random);
    const torch::Tensor of_label = torch::softmax(look.output, 1).gather(1, scene.batch.labels.unsqueeze(1));
    // What the logarithm's backward forms: the mean's share over the probability.
    const double share = m_plan.training.loss_factor / static_cast<double>(scene.batch.labels.size(0)) /
                         static_cast<double>(m_plan.training.gradient_accumulation_steps);
    if (is_finite(torch::full_like(of_label, share).div(of_label))) return false;
    row.kind = "log_of_zero";
    row.module = "loss";
    row.op = "log";
    row.detail_json = nlohmann::json{{"operands", {number_to_json(of_label.min().item<double>())}},
                                     {"sample", of_label.argmin().item<std::int64_t>()}}
                          .dump();
    m_last_place = place_name(row.module, row.op);
    record(std::move(row), scene);
    return true;
}

void IncidentReporter::report_poisoned(std::int64_t step) {
    if (m_poisoned) return;
    const std::string parameter = first_nonfinite_parameter(m_parts.bare_model());
    if (parameter.empty()) return;
    m_poisoned = true;
    m_log.record({0, step, "update", "weights_poisoned", "error", "", "", parameter, "{}"});
}

void IncidentReporter::record(IncidentRow row, const Scene& scene, std::optional<BirthReport> birth) {
    if (!m_log.record(row) || !m_log.takes_files()) return;
    if (!birth) birth = birth_in(scene);
    m_log.write({std::move(row), scene.loss, scene.loss_scale, scene.micro_batch, std::move(birth)});
}

}  // namespace mantissa
