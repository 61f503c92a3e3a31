// Non-finite values of a half run while the control is healthy, and what is open without a control.
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "judge/overflow.h"
#include "judge/verdict_rules.h"

namespace mantissa {

const std::vector<std::string_view>& incident_codes() {
    static const std::vector<std::string_view> codes{"bad_input",     "log_of_zero",       "zero_over_zero",
                                                     "inf_minus_inf", "root_at_zero",      "masked_row",
                                                     "adam_eps",      "batchnorm_poisoned"};
    return codes;
}

namespace rules {
namespace {

std::string nonfinite_text(const RunFigures& figures) {
    if (!figures.first_nonfinite_value) return "NaN";
    if (std::isnan(*figures.first_nonfinite_value)) return "NaN";
    return *figures.first_nonfinite_value > 0 ? "+Inf" : "-Inf";
}

/// The trial's batch already left the format.
bool trial_overflowed(const RunCase& one) {
    const auto& trial = one.run.trial;
    if (!trial || !trial->runs || trial->headroom_module.empty()) return false;
    return (trial->headroom_bits && !(*trial->headroom_bits >= 0)) || !trial->outputs_finite;
}

/// Second sentence: what bf16 did in the same comparison decides what is advised.
void advise_range(const Case& all, const RunCase& one, Finding& finding) {
    const RunCase* bf16 = all.run(Precision::Bf16);
    if (one.mode() == Precision::Bf16 || (bf16 != nullptr && bf16->figures.in_trouble())) {
        finding.next("island");
    } else if (bf16 == nullptr || bf16->figures.attempts == 0) {
        finding.next("try_bf16");
    } else {
        finding.next("bf16").count("bf16_steps", bf16->figures.attempts);
    }
}

std::optional<Finding> overflow_of(const Case& all, const RunCase& one) {
    const IncidentRow* incident = format_overflow(one.run.rows.incidents);
    const auto bad = one.figures.first_bad_step();
    const bool trial = bad && trial_overflowed(one);
    if (incident == nullptr && !trial) return {};
    const auto step = bad ? bad : std::optional(incident->step);
    const ControlHealth health = all.control_health_from(*step);
    if (!health.healthy()) return {};  // cause_open, learning_rate or not_precision speak
    Finding finding("activation_overflow", bad ? "error" : "warning", one.mode_name());
    finding.set("limit", readable_number(largest_finite(one.mode()), 5));
    finding.count("control_steps", health.steps);
    if (incident != nullptr) {
        const std::string place = place_name(incident->module, incident->op);
        const OverflowDetail detail = overflow_detail(*incident);
        const bool seen = !detail.operands.empty() && !detail.result.empty();
        if (seen) finding.set("operands", detail.operands).set("result", detail.result);
        finding.set("where", place).set("island", incident->module.empty() ? place : incident->module);
        finding.count("step", incident->step)
            .what(std::string(bad ? "incident" : "hidden") + (seen ? "_seen" : ""));
        if (bad) finding.set("value", nonfinite_text(one.figures)).count("bad_step", *bad);
        if (incident->phase == "backward") finding.what("backward");
    } else {
        finding.set("where", one.run.trial->headroom_module).set("island", one.run.trial->headroom_module);
        finding.count("step", *step).set("value", nonfinite_text(one.figures)).what("trial");
        finding.count("bad", one.figures.nonfinite_losses).count("attempts", one.figures.attempts);
    }
    advise_range(all, one, finding);
    if (finding.values["what"] == "backward") finding.next("backward_" + finding.values["next"]);
    finding.fact("evidence.control_healthy", {{"steps", readable_count(health.steps)},
                                              {"growth", readable_number(health.loss_growth.value_or(1.0))}});
    return finding;
}

}  // namespace

std::vector<Finding> activation_overflow(const Case& all) {
    std::vector<Finding> findings;
    for (const RunCase& one : all.runs()) {
        if (!one.is_half()) continue;
        if (auto finding = overflow_of(all, one)) findings.push_back(std::move(*finding));
    }
    return findings;
}

std::vector<Finding> named_incidents(const Case& all) {
    std::vector<Finding> findings;
    for (const std::string_view code : incident_codes()) {
        for (const RunCase& one : all.runs()) {
            const IncidentRow* incident = one.first_incident(code);
            if (incident == nullptr) continue;
            const std::string place =
                place_name(incident->module.empty() ? incident->tensor : incident->module, incident->op);
            if (place.empty()) continue;  // a verdict without its place isn't shown
            Finding finding(std::string(code), incident->severity, one.mode_name());
            finding.count("step", incident->step).set("where", place);
            if (code == "batchnorm_poisoned") finding.what("incident").next("incident");
            findings.push_back(std::move(finding));
        }
    }
    return findings;
}

std::vector<Finding> cause_open(const Case& all) {
    std::vector<Finding> findings;
    if (all.control() != nullptr) return findings;
    for (const RunCase& one : all.runs()) {
        const auto step = one.figures.trouble_step();
        if (!one.is_half() || !step) continue;
        Finding finding("cause_open", "warning", one.mode_name());
        finding.count("step", *step);
        const IncidentRow* incident = format_overflow(one.run.rows.incidents);
        const std::string place =
            incident == nullptr ? std::string() : place_name(incident->module, incident->op);
        if (one.figures.first_bad_step()) {
            finding.set("value", nonfinite_text(one.figures))
                .what(place.empty() ? "nonfinite" : "nonfinite_where");
            if (!place.empty()) finding.set("where", place);
        } else {
            finding.count("skipped", one.figures.faults).what("skips");
        }
        findings.push_back(std::move(finding));
    }
    return findings;
}

std::vector<Finding> unknown(const Case& all) {
    std::vector<Finding> findings;
    for (const RunCase& one : all.runs()) {
        const auto bad = one.figures.first_bad_step();
        if (!one.is_half() || !bad || overflow_of(all, one)) continue;
        const ControlHealth health = all.control_health_from(*bad);
        if (!health.healthy()) continue;
        Finding finding("unknown", "error", one.mode_name());
        finding.count("step", *bad)
            .set("value", nonfinite_text(one.figures))
            .count("control_steps", health.steps);
        const RunCase* bf16 = all.run(Precision::Bf16);
        const bool other = one.mode() != Precision::Bf16 && bf16 != nullptr && !bf16->figures.in_trouble() &&
                           bf16->figures.attempts > 0;
        finding.what(other ? "bf16_finite" : "alone");
        if (other) finding.count("bf16_steps", bf16->figures.attempts);
        finding.next(one.figures.scale_first         ? "scale_one"
                     : one.mode() == Precision::Bf16 ? "repeat"
                                                     : "try_bf16");
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace rules
}  // namespace mantissa
