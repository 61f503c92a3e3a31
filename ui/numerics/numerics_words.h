#pragma once
// The sentences of the page: what an empty place means and what to do, what was recorded of a run, what watching costs.
#include <QString>

#include "ui/numerics/numerics_reader.h"

namespace mantissa::ui {

[[nodiscard]] QString roleName(TensorRole role);
/// "step 140 · largest 32,600 · float16 · 8,192 values".
[[nodiscard]] QString pickLine(const TensorStatRow& row);
/// Why the heat map is empty, and the way out.
[[nodiscard]] QString emptyHeatText(const NumericsSnapshot& snapshot);
[[nodiscard]] QString emptyOpsText(const RunFacts* run);
[[nodiscard]] QString emptyUpdatesText(const RunFacts* run);
[[nodiscard]] QString emptyLocalErrorsText(const RunFacts* run);
/// The forecast's sentences, one a paragraph; without one, what it needs. `language` of the catalogue: "en" or "zh".
[[nodiscard]] QString forecastText(const NumericsSnapshot& snapshot, const std::string& language);

/// observe.level and observe.every_steps of the recorded plan; empty when it can't be read.
struct WatchPlan {
    int level = 0;
    std::int64_t everySteps = 0;
};
[[nodiscard]] std::optional<WatchPlan> watchPlanOf(const RunFacts& run);

}  // namespace mantissa::ui
