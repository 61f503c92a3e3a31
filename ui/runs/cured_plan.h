#pragma once
// The plan of a run that takes up what a replay has found: the run's own with the one change that held, from a state that the incident
// keeps or from the seed.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan_sources.h"
#include "record/replay_report.h"

namespace mantissa::ui {

/// What a variant changes of `plan`, as settings: "fp32_islands=gate.mul". The mode is not among them.
[[nodiscard]] std::vector<std::string> settingsOf(const VariantReport& variant, const RunPlan& plan);

/// Goes on from `state` to the end of the plan that was saved with it. Errors: what can't change on the way, a state that isn't whole.
[[nodiscard]] Result<SourcedPlan> curedPlan(const std::filesystem::path& state, const VariantReport& variant);

/// The whole run again with the change.
[[nodiscard]] Result<SourcedPlan> curedPlanFromSeed(const std::filesystem::path& run, const VariantReport& variant);

}  // namespace mantissa::ui
