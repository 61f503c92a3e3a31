#pragma once
// What the fields' own bounds can't say: settings that contradict each other, and settings of the design that
// this version can't honour yet. The latter are refused (NotBuilt), never ignored.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/run_plan.h"

namespace mantissa {

struct PlanIssue {
    std::string path;  // the field to look at
    Error error;
};

/// All issues of a plan, those of its own contradictions first; empty = it can run. For the window.
[[nodiscard]] std::vector<PlanIssue> find_plan_issues(const RunPlan& plan);
/// The first of them.
Result<void> validate(const RunPlan& plan);

/// Samples that train and are held out, for a data set of the catalogue.
struct PlannedSamples {
    std::int64_t training = 0, validation = 0;
};
[[nodiscard]] PlannedSamples planned_samples(const DatasetPlan& dataset);
/// Steps of the run, unless a data file decides them.
[[nodiscard]] std::optional<std::int64_t> known_steps(const RunPlan& plan);
/// "linear_with_warmup: warm-up 100 of 300 steps"; empty without a warm-up.
[[nodiscard]] std::string warmup_text(const RunPlan& plan);

}  // namespace mantissa
