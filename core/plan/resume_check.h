#pragma once
// What a run that goes on from a checkpoint may change of the plan that was saved with it, and what it may not: the saved state
// belongs to that model, those samples in that order and that optimizer.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/run_plan.h"

namespace mantissa {

/// Sentences on what goes on differently (learning rate, islands, clipping …). Error BadPlan names the field that may not change
/// and both values, or says that nothing is left to do after `saved_step` steps.
Result<std::vector<std::string>> check_resume(const RunPlan& saved, std::int64_t saved_step, const RunPlan& now);

/// The sentence when a plan of `planned` steps has nothing left after `done`.
[[nodiscard]] Error nothing_left_to_do(std::int64_t planned, std::int64_t done);

/// A cycle as long as the plan keeps its first length when the plan is made longer or shorter on the way.
[[nodiscard]] RunPlan with_schedule_of(const RunPlan& saved, RunPlan now);

}  // namespace mantissa
