#pragma once
// Fair (design §10): the four hashes of environment.json — initial state, data, sample order, plan — are
// equal in all runs. Further recorded settings that differ (rule 9) are listed too; with the order at-once
// the times are marked as shared.
#include <string>
#include <vector>

#include "judge/evidence.h"
#include "judge/finding.h"

namespace mantissa {

struct FairnessFinding {
    bool known = false, fair = false;
    std::vector<Sentence> differences;
};

[[nodiscard]] FairnessFinding compare_environments(const std::vector<RunEvidence>& runs,
                                                   const std::string& order);
[[nodiscard]] Fairness fill_fairness(const FairnessFinding& finding, const TextCatalogue& texts);

}  // namespace mantissa
