#pragma once
// The parts of the report, each from values to HTML.
#include <string>

#include "judge/evidence.h"
#include "judge/texts.h"
#include "record/comparison_record.h"

namespace mantissa {

[[nodiscard]] std::string decision_html(const ComparisonRecord& record, const TextCatalogue& texts);
[[nodiscard]] std::string verdicts_html(const std::vector<Verdict>& verdicts, const TextCatalogue& texts);
/// Bad steps with an incident: birth, what a replay has found, and its command; empty when there is none.
[[nodiscard]] std::string incidents_html(const ComparisonEvidence& evidence, const TextCatalogue& texts);
[[nodiscard]] std::string runs_html(const ComparisonEvidence& evidence, const TextCatalogue& texts);
[[nodiscard]] std::string precision_html(const ComparisonEvidence& evidence, const TextCatalogue& texts);
/// The control's forecast, and the alarms of all runs; empty when there is neither.
[[nodiscard]] std::string numerics_html(const ComparisonEvidence& evidence, const TextCatalogue& texts);
[[nodiscard]] std::string fairness_html(const ComparisonRecord& record, const ComparisonEvidence& evidence,
                                        const TextCatalogue& texts);
[[nodiscard]] std::string trials_html(const ComparisonEvidence& evidence, const TextCatalogue& texts);
[[nodiscard]] std::string environment_html(const ComparisonEvidence& evidence, const TextCatalogue& texts);
[[nodiscard]] std::string settings_html(const std::string& plan_json, const TextCatalogue& texts);
[[nodiscard]] std::string steps_html(const ComparisonEvidence& evidence, const TextCatalogue& texts);

}  // namespace mantissa
