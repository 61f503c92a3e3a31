// When the control is bad too: data, learning rate or model (design rule 14). And weights that took in a bad
// value.
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "judge/verdict_rules.h"

namespace mantissa::rules {
namespace {

struct FirstFailure {
    const RunCase* run = nullptr;
    std::int64_t step = 0;
};

std::optional<FirstFailure> first_half_failure(const Case& all) {
    std::optional<FirstFailure> first;
    for (const RunCase& one : all.runs()) {
        const auto step = one.figures.trouble_step();
        if (one.is_half() && step && (!first || *step < first->step)) first = FirstFailure{&one, *step};
    }
    return first;
}

/// Smallest probability and sample of a logarithm that broke, as far as the engine recorded them.
bool tell_log(const IncidentRow& incident, Finding& finding) {
    if (incident.kind != "log_of_zero") return false;
    const auto json = nlohmann::json::parse(incident.detail_json, nullptr, false);
    if (!json.is_object() || !json.contains("operands") || !json.contains("sample")) return false;
    const auto& operands = json.at("operands");
    if (!operands.is_array() || operands.empty() || !json.at("sample").is_number_integer()) return false;
    const auto operand = number_from_json(operands.front());
    if (!operand) return false;
    finding.number("operand", operand).count("sample", json.at("sample").get<std::int64_t>());
    return true;
}

bool control_diverged(const Case& all) {
    return all.control() != nullptr && all.control_health_at_failure().grown();
}

}  // namespace

std::vector<Finding> learning_rate(const Case& all) {
    if (!control_diverged(all)) return {};
    const ControlHealth health = all.control_health_at_failure();
    const auto half = first_half_failure(all);
    const auto control_step = all.control()->figures.trouble_step();
    const bool by_loss = health.loss_growth && *health.loss_growth >= ControlHealth::loss_limit;
    if (!by_loss && !half && !control_step)
        return {};  // a rising norm alone, with nothing broken, is no news
    Finding finding("learning_rate", "error", "");
    finding.number("growth", by_loss ? health.loss_growth : health.norm_growth).count("steps", health.steps);
    if (half) finding.set("first_mode", half->run->mode_name()).count("first_step", half->step);
    if (control_step) finding.count("control_step", *control_step);
    const std::string quantity = by_loss ? "" : "norm_";
    finding.what(quantity + (half && control_step ? "both"
                             : half               ? "half"
                             : control_step       ? "control"
                                                  : "grown"));
    const auto rate = all.control()->run.plan.learning_rate;
    finding.next(rate ? "rate" : "plain");
    if (rate) finding.set("lr", to_text(*rate)).set("half_lr", to_text(*rate / 2));
    return {finding};
}

std::vector<Finding> not_precision(const Case& all) {
    const RunCase* control = all.control();
    if (control == nullptr || !control->figures.first_bad_step() || control_diverged(all)) return {};
    const RunFigures& figures = control->figures;
    Finding finding("not_precision", "error", "no");
    const std::int64_t step = *figures.first_bad_step();
    finding.count("step", step);
    const auto gradient = figures.first_nonfinite_gradient, loss = figures.first_nonfinite_loss;
    if (gradient && (!loss || *gradient < *loss)) {
        finding.what("gradient");
        if (loss) finding.what("gradient_then_loss").count("loss_step", *loss);
    } else {
        finding.what("loss").set("value",
                                 std::isnan(figures.first_nonfinite_value.value_or(NAN)) ? "NaN" : "Inf");
    }
    finding.next("plain");
    for (const IncidentRow& incident : control->run.rows.incidents) {
        const std::string place = place_name(incident.module, incident.op);
        if (incident.step != step) continue;
        if (place.empty() && !incident.tensor.empty() && incident.phase == "backward")
            finding.set("tensor", incident.tensor).next("tensor");
        if (place.empty()) continue;
        finding.set("where", place).next("where");
        if (tell_log(incident, finding)) finding.next(incident.phase == "loss" ? "log_loss" : "log");
        return {finding};
    }
    return {finding};
}

std::vector<Finding> survived_by_skipping(const Case& all) {
    const RunCase* control = all.control();
    if (control == nullptr) return {};
    const auto bad = control->figures.first_bad_step();
    std::vector<Finding> findings;
    if (!bad) return findings;
    for (const RunCase& one : all.runs()) {
        const auto& steps = one.run.rows.steps;
        if (!one.is_half() || steps.empty() || !std::isfinite(steps.back().loss) || one.figures.persistent)
            continue;
        bool skipped_there = false;
        for (const StepRow& row : steps) skipped_there |= row.step == *bad && row.skipped;
        if (!skipped_there || steps.back().step <= *bad) continue;
        findings.push_back(Finding("survived_by_skipping", "warning", one.mode_name())
                               .count("skipped", one.figures.probing + one.figures.faults)
                               .count("step", *bad)
                               .number("loss", steps.back().loss)
                               .count("last", steps.back().step));
    }
    return findings;
}

std::vector<Finding> weights_poisoned(const Case& all) {
    std::vector<Finding> findings;
    for (const RunCase& one : all.runs()) {
        const IncidentRow* incident = one.first_incident("weights_poisoned");
        const auto step = incident != nullptr ? std::optional(incident->step) : one.figures.first_bad_step();
        if ((incident == nullptr && !one.run.summary.poisoned) || !step) continue;
        Finding finding("weights_poisoned", "error", one.mode_name());
        finding.count("step", *step).count("after", one.figures.last_step.value_or(*step) - *step);
        if (incident != nullptr && !incident->tensor.empty())
            finding.set("tensor", incident->tensor).what("tensor");
        else
            finding.what("plain");
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace mantissa::rules
