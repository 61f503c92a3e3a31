#include "fault_verdict.h"

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

std::vector<std::string> told_codes(const ComparisonEvidence& evidence) {
    std::vector<std::string> codes;
    for (const Finding& one : apply_rules(Case(evidence))) {
        if (one.severity == "warning" || one.severity == "error") codes.push_back(one.code);
    }
    return codes;
}

}  // namespace mantissa
