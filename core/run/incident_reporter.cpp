#include "run/incident_reporter.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "engine/gradients.h"
#include "models/module_scope.h"
#include "numerics/tensor_reading.h"
#include "run/birth_search.h"
#include "run/meter_watch.h"

namespace mantissa {
namespace {

bool is_finite(const torch::Tensor& tensor) {
    return !tensor.is_floating_point() || at::isfinite(tensor.detach()).all().item<bool>();
}

std::string place_of(const std::string& module, const std::string& op) {
    return module.empty() || op.empty() ? module + op : module + "." + op;
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
      m_recorder(session.recorder),
      m_folder(session.folder),
      m_sources(sources) {}

IncidentReporter::Look IncidentReporter::look_again(const Batch& batch) {
    const torch::NoGradGuard no_grad;
    Look look;
    std::vector<torch::Tensor> saved;
    for (const torch::Tensor& buffer : m_parts.bare_model().buffers()) saved.push_back(buffer.clone());
    {
        MeterWatch watch(look.meter);
        const WatchScope scope(watch);
        const AutocastScope autocast = m_parts.accelerator.autocast();
        look.output = m_parts.model(batch.features);
    }
    // Batch norm moved its statistics once more: they go back.
    const std::vector<torch::Tensor> buffers = m_parts.bare_model().buffers();
    for (std::size_t i = 0; i < saved.size(); ++i) buffers[i].copy_(saved[i]);
    return look;
}

void IncidentReporter::nonfinite_loss(std::int64_t step, const std::vector<Batch>& micro_batches,
                                      double loss) {
    m_last_place.clear();
    if (m_looks_left == 0 || m_poisoned) return;
    --m_looks_left;
    for (const Batch& batch : micro_batches) {
        if (!is_finite(batch.features)) {
            m_last_place = "the batch";
            return record({0, step, "data", "bad_input", "error", "", "", "features", "{}"});
        }
        const Look look = look_again(batch);
        if (report_forward(step, look.meter, "error", loss)) return;
        if (!is_finite(m_parts.loss(look.output, batch.labels)))
            return report_loss_op(step, look.output, batch, loss);
    }
}

bool IncidentReporter::report_forward(std::int64_t step, const OutputMeter& meter, const char* severity,
                                      std::optional<double> loss) {
    const OutputReading* reading = meter.first_nonfinite();
    if (reading == nullptr) return false;
    if (!reading->operands_finite) return true;  // born outside of what is watched; nothing is claimed
    m_last_place = place_of(reading->module, reading->op);
    record({0, step, "forward", "activation_overflow", severity, reading->module, reading->op, "",
            detail_of(*reading, m_plan.mixed_precision, loss).dump()});
    return true;
}

// The model's output is finite, the loss is not: it was born in the loss itself.
void IncidentReporter::report_loss_op(std::int64_t step, const torch::Tensor& output, const Batch& batch,
                                      double loss) {
    const bool naive = m_plan.training.loss == "naive_nll";
    if (!naive) {
        const auto birth = find_birth(m_parts, m_plan.training, batch);
        if (birth) return report_birth({0, step, "", "", "error", "", "", "", ""}, *birth);
    }
    nlohmann::json detail{{"loss", number_to_json(loss)},
                          {"output", number_to_json(output.abs().max().item<double>())}};
    IncidentRow row{0, step, "loss", "activation_overflow", "error", "loss", m_plan.training.loss, "", ""};
    if (naive) {
        const torch::Tensor of_label = torch::softmax(output, 1).gather(1, batch.labels.unsqueeze(1));
        row.op = "log";
        if (of_label.eq(0).any().item<bool>()) row.kind = "log_of_zero";
        detail["operands"] = {number_to_json(of_label.min().item<double>())};
        detail["sample"] = of_label.argmin().item<std::int64_t>();
    }
    row.detail_json = detail.dump();
    m_last_place = place_of(row.module, row.op);
    record(std::move(row));
}

void IncidentReporter::after_step(const StepOutcome& outcome, const std::vector<Batch>& micro_batches) {
    const StepFacts& facts = outcome.facts;
    if (!facts.nonfinite_loss) m_last_place.clear();  // an earlier step's
    if (!facts.nonfinite_loss && facts.skipped && m_hidden_looks_left > 0) look_at_skip(facts, micro_batches);
    const bool collapsed =
        facts.scale_collapsed || (outcome.refusal && outcome.refusal->where() == NonFinite::Where::LossScale);
    if (collapsed) {
        record(
            {0, facts.step, "unscale", "scale_collapse", "error", "", "", "",
             nlohmann::json{{"scale", number_to_json(facts.loss_scale)}, {"floor", m_plan.loss_scale.floor}}
                 .dump()});
    }
    if (facts.scale_alarm && !collapsed) report_alarm(facts);
    const bool bad = facts.nonfinite_loss || facts.nonfinite_grads > 0;
    // Under the scaler a gradient that overflows is a skip; without one it is a fault of its own.
    if (!facts.nonfinite_loss && facts.nonfinite_grads > 0 && !facts.loss_scale)
        report_gradient(outcome, micro_batches.front());
    if (bad && !facts.skipped && m_on_nonfinite == OnNonfinite::Mark) report_poisoned(facts.step);
}

// A skip under a finite loss: an output that left the format unseen, a backward that is bad at any loss scale, or only the scale.
void IncidentReporter::look_at_skip(const StepFacts& facts, const std::vector<Batch>& micro_batches) {
    --m_hidden_looks_left;
    for (const Batch& batch : micro_batches) {
        if (report_forward(facts.step, look_again(batch).meter, "warning", facts.loss)) return;
    }
    if (!facts.loss_scale) return;  // a gradient that is bad without a scale is reported as a fault of its own
    for (const Batch& batch : micro_batches) {
        const auto birth = find_birth(m_parts, m_plan.training, batch);
        if (birth) return report_birth({0, facts.step, "", "", "warning", "", "", "", ""}, *birth);
    }
}

void IncidentReporter::report_birth(IncidentRow row, const BirthReport& birth) {
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
    record(std::move(row));
}

// Long before the floor: the scale is still on its way, and something can be done.
void IncidentReporter::report_alarm(const StepFacts& facts) {
    nlohmann::json detail{{"scale", number_to_json(facts.loss_scale_after)}, {"floor", m_plan.loss_scale.floor}};
    if (facts.backoffs_left) detail["backoffs_left"] = *facts.backoffs_left;
    record({0, facts.step, "unscale", "scale_collapse", "warning", "", "", "", detail.dump()});
}

void IncidentReporter::report_gradient(const StepOutcome& outcome, const Batch& batch) {
    if (m_looks_left == 0 || m_poisoned) return;
    --m_looks_left;
    IncidentRow row{0, outcome.facts.step, "backward", "unknown", "error", "", "", "", "{}"};
    if (outcome.refusal) row.tensor = outcome.refusal->subject();
    for (const auto& entry : m_parts.bare_model().named_parameters()) {
        if (row.tensor.empty() && entry.value().grad().defined() && !is_finite(entry.value().grad()))
            row.tensor = entry.key();
    }
    // The weights are those of the forward pass only when nothing was applied.
    if (m_plan.training.loss == "naive_nll" && outcome.facts.skipped) {
        const Look look = look_again(batch);
        const torch::Tensor of_label = torch::softmax(look.output, 1).gather(1, batch.labels.unsqueeze(1));
        // What the logarithm's backward forms: the mean's share over the probability.
        const double share = m_plan.training.loss_factor / static_cast<double>(batch.labels.size(0)) /
                             static_cast<double>(m_plan.training.gradient_accumulation_steps);
        if (!is_finite(torch::full_like(of_label, share).div(of_label))) {
            row.kind = "log_of_zero";
            row.module = "loss";
            row.op = "log";
            row.detail_json = nlohmann::json{{"operands", {number_to_json(of_label.min().item<double>())}},
                                             {"sample", of_label.argmin().item<std::int64_t>()}}
                                  .dump();
            m_last_place = place_of(row.module, row.op);
            return record(std::move(row));
        }
    }
    if (outcome.facts.skipped) {
        if (const auto birth = find_birth(m_parts, m_plan.training, batch)) return report_birth(std::move(row), *birth);
    }
    record(std::move(row));
}

void IncidentReporter::report_poisoned(std::int64_t step) {
    if (m_poisoned) return;
    const std::string parameter = first_nonfinite_parameter();
    if (parameter.empty()) return;
    m_poisoned = true;
    record({0, step, "update", "weights_poisoned", "error", "", "", parameter, "{}"});
}

std::string IncidentReporter::first_nonfinite_parameter() {
    for (const auto& entry : m_parts.bare_model().named_parameters()) {
        if (!is_finite(entry.value())) return entry.key();
    }
    return "";
}

void IncidentReporter::record(IncidentRow row) {
    // A warning of what is coming doesn't stand in for the fault itself.
    const std::string what = row.kind == "scale_collapse" ? row.kind + " " + row.severity : row.kind;
    if (!m_seen.insert(what + " " + place_of(row.module, row.op)).second) return;
    m_recorder.incident(std::move(row));
}

}  // namespace mantissa
