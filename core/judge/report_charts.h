#pragma once
// The curves of a report: loss with the step ledger on one x axis, validation, loss scale, memory.
#include <string>

#include "judge/evidence.h"
#include "judge/svg_chart.h"
#include "judge/texts.h"

namespace mantissa {

[[nodiscard]] Chart loss_chart(const ComparisonEvidence& evidence, const TextCatalogue& texts);
[[nodiscard]] Chart validation_chart(const ComparisonEvidence& evidence, const TextCatalogue& texts);
[[nodiscard]] Chart scale_chart(const ComparisonEvidence& evidence, const TextCatalogue& texts);
[[nodiscard]] Chart memory_chart(const ComparisonEvidence& evidence, const TextCatalogue& texts);
/// Runs of steps of one kind, in order.
[[nodiscard]] std::vector<LedgerSpan> ledger_spans(const std::vector<StepRow>& steps);
/// HTML of all curves that have something to show.
[[nodiscard]] std::string charts_html(const ComparisonEvidence& evidence, const TextCatalogue& texts);

}  // namespace mantissa
