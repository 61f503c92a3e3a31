#pragma once
// Hand-made evidence: runs as they come out of a healthy training, to be spoilt by a test.
#include <string>
#include <vector>

#include "judge/case.h"
#include "judge/evidence.h"
#include "judge/finding.h"
#include "judge/verdict_rules.h"

namespace mantissa::test {

/// Finished, all steps applied, loss falling from 2.3, norm 1, accuracy 95 % on 360 samples, 5 ms and 12 MB;
/// native; fp16 at scale 2^16.
[[nodiscard]] RunEvidence healthy_run(Precision mode, std::int64_t steps = 300);
[[nodiscard]] ComparisonEvidence healthy_comparison(std::int64_t steps = 300);  // no, fp16, bf16

/// Marks the step as skipped, and counts it.
void skip(RunEvidence& run, std::int64_t step, SkipKind kind);
/// applied_step of all rows from their skips; state of the counts in the summary.
void recount(RunEvidence& run);
/// Loss NaN at the step; the run stops there, as on_nonfinite = stop does.
void stop_at(RunEvidence& run, std::int64_t step);
void set_environment(RunEvidence& run, const std::string& weights = "w", const std::string& order = "o");
[[nodiscard]] IncidentRow overflow_incident(std::int64_t step);  // gate.mul, 261 × 256

[[nodiscard]] std::vector<Finding> findings_of(const ComparisonEvidence& evidence, std::string_view code);
/// Verdicts of all rules in English.
[[nodiscard]] std::vector<Verdict> verdicts_of(const ComparisonEvidence& evidence);
[[nodiscard]] std::vector<std::string> codes_of(const ComparisonEvidence& evidence);
[[nodiscard]] const TextCatalogue& texts(const std::string& language = "en");

}  // namespace mantissa::test
