#include "judge/verdict_rules.h"

namespace mantissa {

const std::vector<VerdictRule>& verdict_rules() {
    using enum RuleStage;
    // Support has no rule: an unsupported mode has no run. Gate 1 of the decision speaks of it.
    static const std::vector<VerdictRule> table{
        {"mode_not_effective", EffectiveMode, rules::mode_not_effective},
        {"loss_in_half", EffectiveMode, rules::loss_in_half},
        {"scale_probing", SkipsAndScale, rules::scale_probing},
        {"persistent_overflow", SkipsAndScale, rules::persistent_overflow},
        {"scale_collapse", SkipsAndScale, rules::scale_collapse},
        {"steps_not_applied", SkipsAndScale, rules::steps_not_applied},
        {"gradient_underflow", SkipsAndScale, rules::gradient_underflow},
        {"learning_rate", NonFinite, rules::learning_rate},
        {"not_precision", NonFinite, rules::not_precision},
        {"survived_by_skipping", NonFinite, rules::survived_by_skipping},
        {"activation_overflow", NonFinite, rules::activation_overflow},
        {"headroom_low", NonFinite, rules::headroom_low},
        {"incident", NonFinite, rules::named_incidents},
        {"batchnorm_poisoned", NonFinite, rules::batchnorm_poisoned},
        {"weights_poisoned", NonFinite, rules::weights_poisoned},
        {"cause_open", NonFinite, rules::cause_open},
        {"unknown", NonFinite, rules::unknown},
        {"differs", ValidationMetric, rules::differs},
        {"same_within_noise", ValidationMetric, rules::same_within_noise},
        {"slower", TimeAndMemory, rules::slower},
        {"memory_not_lower", TimeAndMemory, rules::memory_not_lower},
    };
    return table;
}

std::vector<Finding> apply_rules(const Case& all) {
    std::vector<Finding> findings;
    for (const VerdictRule& rule : verdict_rules()) {
        for (Finding& finding : rule.apply(all)) findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace mantissa
