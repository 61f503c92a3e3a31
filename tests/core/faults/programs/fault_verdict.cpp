#include "fault_verdict.h"

#include <algorithm>

#include "judge/replay_verdict.h"
#include "judge/verdict_rules.h"

namespace mantissa {

Named verdict_of(const Diagnosis& diagnosis) {
    ReplayFacts facts;
    facts.control = diagnosis.control;
    facts.learning_rate = diagnosis.learning_rate;
    facts.loss_scale = diagnosis.loss_scale;
    const auto found = judge_replay(diagnosis.report, facts);
    return found ? Named{found->finding.code, found->cause, found->confidence} : Named{};
}

bool is_told(const ComparisonEvidence& evidence, const std::string& code) {
    const std::vector<Finding> findings = apply_rules(Case(evidence));
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& one) { return one.code == code; });
}

}  // namespace mantissa
