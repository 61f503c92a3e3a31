#pragma once
// The sentence on what becomes of the loss-scale state when a checkpoint goes on (plan/resume_rule.h): the same words in the
// command line, the window and the report.
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"
#include "judge/texts.h"
#include "record/run_summary.h"

namespace mantissa {

/// `saved_scale` is the checkpoint's (fp16), `initial_scale` that of the plan that goes on.
Result<std::string> resumed_scale_text(const TextCatalogue& texts, Precision saved, Precision now,
                                       std::optional<double> saved_scale, double initial_scale);

/// Where a run goes on from, and what became of the scale: two sentences; none for a run that began at step 0.
Result<std::vector<std::string>> resumed_run_texts(const TextCatalogue& texts, const RunSummary& run, double initial_scale);

}  // namespace mantissa
