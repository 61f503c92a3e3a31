// Skips and the loss scale: a search, or a fault?
#include <algorithm>

#include "base/numbers.h"
#include "judge/verdict_rules.h"

namespace mantissa::rules {
namespace {

constexpr std::int64_t enough_attempts = 20;  // below that a share of applied steps says little
constexpr double expected_applied = 0.9;
constexpr double highest_useful_floor = 1;  // below 1 a scale only takes away: a fault, not a search

std::optional<double> scale_now(const RunCase& one) {
    return one.run.summary.final_scale ? one.run.summary.final_scale : one.figures.scale_last;
}

bool at_floor(const RunCase& one) {
    const auto floor = one.run.plan.loss_scale_floor;
    const auto scale = scale_now(one);
    return floor && scale && *scale <= *floor;
}

std::optional<std::string> scale_text(const std::optional<double>& scale) {
    return scale ? std::optional(readable_scale(*scale)) : std::nullopt;
}

/// What to do about steps that didn't count; faults have verdicts of their own.
const char* advise_start(const RunCase& one) {
    const RunFigures& figures = one.figures;
    if (figures.faults > 0 || !scale_now(one)) return "longer";
    if (figures.applied > 0) return figures.scale_settled ? "lower_start" : "longer";
    return *scale_now(one) < figures.scale_first.value_or(0) ? "longer_search" : "fixed";
}

/// What the control says about a run whose skips don't end; picks the second sentence.
void advise_by_control(const Case& all, const RunCase& one, Finding& finding) {
    const ControlHealth health = all.control_health_from(one.figures.trouble_step().value_or(0));
    if (health.steps == 0) {
        finding.next("no_control");
        return;
    }
    finding.count("control_step", health.last_step.value_or(0));
    if (health.loss_growth && *health.loss_growth >= ControlHealth::loss_limit) {
        finding.next("control_grows").number("growth", health.loss_growth);
    } else if (!health.healthy()) {
        finding.next("control_bad");
    } else {
        const RunCase* bf16 = all.run(Precision::Bf16);
        const bool bf16_held = bf16 != nullptr && bf16->finished() && !bf16->figures.in_trouble();
        finding.next(bf16_held ? "healthy_bf16" : bf16 == nullptr ? "healthy_try_bf16" : "healthy");
        if (bf16_held) finding.count("bf16_steps", bf16->figures.attempts);
    }
}

}  // namespace

std::vector<Finding> scale_probing(const Case& all) {
    std::vector<Finding> findings;
    for (const RunCase& one : all.runs()) {
        const RunFigures& figures = one.figures;
        if (figures.probing == 0 || figures.faults > 0 || figures.applied == 0 || figures.in_trouble())
            continue;
        Finding finding("scale_probing", "ok", one.mode_name());
        finding.count("start", figures.skips_at_start).count("later", figures.skips_later_probing);
        finding.count("row", figures.longest_later_skip_row);
        finding.set_if("from", scale_text(figures.scale_first))
            .set_if("to", scale_text(figures.scale_settled));
        finding.set_if("now", scale_text(scale_now(one)));
        const bool start = figures.skips_at_start > 0, later = figures.skips_later_probing > 0;
        finding.what(start && later ? "both" : start ? "start" : "later").next(start ? "start" : "later");
        finding.fact("evidence.skips", {{"mode", one.mode_name()},
                                        {"probing", readable_count(figures.probing)},
                                        {"faults", "0"},
                                        {"attempts", readable_count(figures.attempts)}});
        findings.push_back(std::move(finding));
    }
    return findings;
}

std::vector<Finding> persistent_overflow(const Case& all) {
    std::vector<Finding> findings;
    for (const RunCase& one : all.runs()) {
        const RunFigures& figures = one.figures;
        if (!figures.persistent) continue;
        Finding finding("persistent_overflow", "error", one.mode_name());
        finding.count("skipped", figures.probing + figures.faults).count("attempts", figures.attempts);
        finding.count("row", figures.longest_fault_row).count("first", figures.first_fault_step.value_or(0));
        finding.set_if("scale", scale_text(scale_now(one)));
        // A scale held by our floor is no measure of how far the search fell.
        finding.what(!scale_now(one) || at_floor(one) ? "floor" : "scale");
        advise_by_control(all, one, finding);
        finding.fact("evidence.skips", {{"mode", one.mode_name()},
                                        {"probing", readable_count(figures.probing)},
                                        {"faults", readable_count(figures.faults)},
                                        {"attempts", readable_count(figures.attempts)}});
        findings.push_back(std::move(finding));
    }
    return findings;
}

std::vector<Finding> scale_collapse(const Case& all) {
    std::vector<Finding> findings;
    for (const RunCase& one : all.runs()) {
        const IncidentRow* incident = one.scale_collapse();
        const auto step =
            incident != nullptr ? std::optional(incident->step) : one.figures.first_floor_skip_step;
        if (!step || !one.run.plan.loss_scale_floor) continue;
        Finding finding("scale_collapse", "error", one.mode_name());
        finding.count("step", *step).set("floor", readable_scale(*one.run.plan.loss_scale_floor));
        finding.set_if("from", scale_text(one.figures.scale_first));
        finding.next(*one.run.plan.loss_scale_floor > highest_useful_floor ? "high_floor" : "low_floor");
        const auto& rows = one.run.rows.steps;
        const auto until = [&](const StepRow& row) { return row.step <= *step; };
        finding.count("attempts", std::count_if(rows.begin(), rows.end(), until));
        finding.count("skipped", std::count_if(rows.begin(), rows.end(), [&](const StepRow& row) {
                          return until(row) && row.skipped;
                      }));
        findings.push_back(std::move(finding));
    }
    return findings;
}

std::vector<Finding> steps_not_applied(const Case& all) {
    std::vector<Finding> findings;
    for (const RunCase& one : all.runs()) {
        const RunFigures& figures = one.figures;
        // A persistent overflow already says it, with its cause.
        if (figures.attempts < enough_attempts || figures.persistent) continue;
        const double share = static_cast<double>(figures.applied) / static_cast<double>(figures.attempts);
        if (share >= expected_applied) continue;
        Finding finding("steps_not_applied", figures.applied == 0 ? "error" : "warning", one.mode_name());
        finding.count("applied", figures.applied).count("attempts", figures.attempts);
        finding.count("probing", figures.probing).count("faults", figures.faults);
        finding.set_if("to", scale_text(figures.scale_settled));
        finding.set_if("from", scale_text(figures.scale_first)).set_if("now", scale_text(scale_now(one)));
        finding.what(figures.applied == 0 ? "none" : "some").next(advise_start(one));
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace mantissa::rules
