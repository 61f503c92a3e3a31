#pragma once
// The rule table. One rule is one small function from a case to findings, and one line in the registry
// (verdict_rules.cpp), which stands in the article's order. A new rule: a function, a line, its texts in both
// languages.
#include <string_view>
#include <vector>

#include "judge/case.h"
#include "judge/finding.h"

namespace mantissa {

enum class RuleStage { EffectiveMode, Support, SkipsAndScale, NonFinite, ValidationMetric, TimeAndMemory };

struct VerdictRule {
    std::string_view code;
    RuleStage stage;
    std::vector<Finding> (*apply)(const Case&);
};

[[nodiscard]] const std::vector<VerdictRule>& verdict_rules();
/// Codes that the incident rule passes on when the engine recorded them with step and place.
[[nodiscard]] const std::vector<std::string_view>& incident_codes();
/// All rules in their order. Findings of one code follow the order of the runs.
[[nodiscard]] std::vector<Finding> apply_rules(const Case& all);

namespace rules {
// rules_mode.cpp
std::vector<Finding> mode_not_effective(const Case& all);
std::vector<Finding> loss_in_half(const Case& all);
// rules_scale.cpp
std::vector<Finding> scale_probing(const Case& all);
std::vector<Finding> persistent_overflow(const Case& all);
std::vector<Finding> scale_collapse(const Case& all);
std::vector<Finding> steps_not_applied(const Case& all);
// rules_nonfinite.cpp
std::vector<Finding> activation_overflow(const Case& all);
std::vector<Finding> named_incidents(const Case& all);
std::vector<Finding> cause_open(const Case& all);
std::vector<Finding> unknown(const Case& all);
// rules_control.cpp
std::vector<Finding> learning_rate(const Case& all);
std::vector<Finding> not_precision(const Case& all);
std::vector<Finding> survived_by_skipping(const Case& all);
std::vector<Finding> weights_poisoned(const Case& all);
// rules_tensors.cpp
std::vector<Finding> headroom_low(const Case& all);
std::vector<Finding> gradient_underflow(const Case& all);
std::vector<Finding> batchnorm_poisoned(const Case& all);
// rules_metric.cpp
std::vector<Finding> differs(const Case& all);
std::vector<Finding> same_within_noise(const Case& all);
// rules_cost.cpp
std::vector<Finding> memory_not_lower(const Case& all);
std::vector<Finding> slower(const Case& all);
}  // namespace rules

}  // namespace mantissa
