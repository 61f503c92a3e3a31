#pragma once
// Readings of a replay as text values, and its grid as sentences.
#include <string>
#include <vector>

#include "judge/replay_verdict.h"
#include "judge/texts.h"
#include "record/replay_report.h"

namespace mantissa::replay_words {

/// "261 × 256" of a product, "261, 0.3" else: the largest magnitudes that went in.
[[nodiscard]] std::string operands(const OpReading& op);
[[nodiscard]] std::string bad_value(const TensorReading& result);  // "+Inf" "-Inf" "±Inf" "NaN"
/// Variant of the second sentence for a cause in the formula or the data; sets the values that it needs.
[[nodiscard]] std::string variant_of_cause(const BirthReport& birth, Finding& finding);
/// What was done again and what each variant gave.
[[nodiscard]] std::vector<std::string> evidence(const ReplayReport& report, const ReplayFinding& found,
                                                const TextCatalogue& texts);

}  // namespace mantissa::replay_words
