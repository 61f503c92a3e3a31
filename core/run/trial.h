#pragma once
// One batch of the plan's model, forward, backward and update, in one mode: does it run, how long, how much
// memory, is the mode on, how far are the outputs from the format's end. For a throw-away process: it fixes
// the precision and trains a few steps.
#include "base/result.h"
#include "plan/run_plan.h"
#include "record/reports.h"

namespace mantissa {

/// An Error when device or precision are refused; a report with `runs` false when the model itself can't run
/// in the mode.
Result<TrialReport> run_trial_of_model(const RunPlan& plan, Precision mode);

}  // namespace mantissa
