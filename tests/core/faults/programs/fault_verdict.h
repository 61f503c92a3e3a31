#pragma once
// Asks the judge, of whose headers one file alone knows: the programs beside it are of the torch side.
#include <optional>
#include <string>
#include <vector>

#include "judge/control_health.h"
#include "judge/evidence.h"
#include "record/replay_report.h"

namespace mantissa {

/// What a replay of the step found, and what the recordings would know beside it.
struct Diagnosis {
    ReplayReport report = {};
    std::optional<ControlHealth> control = {};
    std::optional<double> learning_rate = {}, loss_scale = {};
    std::string problem = {};  // a run that broke off: nothing of the rest counts
    [[nodiscard]] std::string place() const { return report.birth ? report.birth->place() : ""; }
};

struct Named {
    std::string code, cause, confidence;  // empty: nothing
};

[[nodiscard]] Named verdict_of(const Diagnosis& diagnosis);
/// What the rules of comparisons say above note level.
[[nodiscard]] std::vector<std::string> told_codes(const ComparisonEvidence& evidence);

}  // namespace mantissa
