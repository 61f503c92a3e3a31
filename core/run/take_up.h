#pragma once
// A checkpoint's state into the parts of a run, with what the plan changes on the way.
#include "plan/run_plan.h"
#include "record/checkpoint_info.h"
#include "run/run_parts.h"

namespace mantissa {

/// Throws EngineError when the checkpoint and the plan don't fit.
void take_up(const CheckpointInfo& checkpoint, const RunPlan& plan, RunParts& parts);
/// The same from memory: `state` was kept by a run of the plan `saved`.
void take_up(const Checkpoint& state, const RunPlan& saved, const RunPlan& plan, RunParts& parts);

}  // namespace mantissa
