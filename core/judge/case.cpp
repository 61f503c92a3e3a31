#include "judge/case.h"

#include <algorithm>

namespace mantissa {

const IncidentRow* RunCase::first_incident(std::string_view kind) const {
    const auto& incidents = run.rows.incidents;
    const auto found = std::find_if(incidents.begin(), incidents.end(),
                                    [&](const IncidentRow& incident) { return incident.kind == kind; });
    return found == incidents.end() ? nullptr : &*found;
}

const IncidentRow* RunCase::scale_collapse() const {
    const auto& incidents = run.rows.incidents;
    const auto found = std::find_if(incidents.begin(), incidents.end(), [](const IncidentRow& incident) {
        return incident.kind == "scale_collapse" && incident.severity == "error";
    });
    return found == incidents.end() ? nullptr : &*found;
}

Case::Case(const ComparisonEvidence& evidence) : m_evidence(evidence) {
    for (const RunEvidence& run : evidence.runs) {
        const auto& resumed = run.summary.resumed;
        const bool goes_on = resumed && resumed->scale == ResumedScale::TakenUp;
        m_runs.push_back({run, run_figures(run.rows.steps, run.plan.loss_scale_floor, goes_on)});
    }
    if (evidence.repetitions.empty() || control() == nullptr) return;
    ControlSpread spread = control_spread(control()->run, evidence.repetitions);
    if (spread.is_enough()) m_spread = std::move(spread);
}

const RunCase* Case::run(Precision mode) const {
    const auto found =
        std::find_if(m_runs.begin(), m_runs.end(), [&](const RunCase& one) { return one.mode() == mode; });
    return found == m_runs.end() ? nullptr : &*found;
}

const RunCase* Case::control() const {
    const RunCase* found = run(Precision::No);
    return found != nullptr && found->figures.attempts > 0 ? found : nullptr;
}

ControlHealth Case::control_health_until(std::optional<std::int64_t> step) const {
    const RunCase* found = control();
    return found == nullptr ? ControlHealth{} : control_health(found->run.rows.steps, step);
}

ControlHealth Case::control_health_from(std::int64_t step) const {
    const ControlHealth there = control_health_until(step);
    const ControlHealth whole = control_health_until({});
    return there.healthy() && whole.healthy() ? whole : there;
}

ControlHealth Case::control_health_at_failure() const {
    if (control() == nullptr) return {};
    const auto own = control()->figures.trouble_step();
    auto step = own;
    for (const RunCase& one : m_runs) {
        const auto half = one.figures.trouble_step();
        if (one.is_half() && half && (!step || *half < *step)) step = half;
    }
    const ControlHealth health = control_health_until(step);
    if (health.grown() || !own) return health;
    const ControlHealth later = control_health_until(own);
    return later.grown() ? later : health;
}

std::string mode_list(const std::vector<Precision>& modes) {
    std::string list;
    for (const Precision mode : modes) list += (list.empty() ? "" : ", ") + std::string(to_string(mode));
    return list;
}

}  // namespace mantissa
