#pragma once
// The decision of a comparison (design §5): gate 1 support of device and model, gate 2 range, gate 3
// validation metric against the control, then time and memory as measured. It may say "keep no" and "not
// decidable".
#include <optional>
#include <string>
#include <vector>

#include "judge/case.h"
#include "judge/finding.h"

namespace mantissa {

struct DecisionDraft {
    std::optional<Precision> mode;
    std::string code;  // decisions.<code> of the catalogue
    TextValues values;
    std::vector<Sentence> reasons;
    std::string confidence = "low";
    std::vector<Sentence> would_change_it;
};

/// Empty while a run still goes on, and for a comparison without a half mode.
[[nodiscard]] std::optional<DecisionDraft> decide(const Case& all, const Fairness& fairness);
[[nodiscard]] Result<Decision> fill_decision(const DecisionDraft& draft, const TextCatalogue& texts);

}  // namespace mantissa
