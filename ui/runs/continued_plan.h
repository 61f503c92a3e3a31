#pragma once
// The plan of a run that goes on from a checkpoint. Torch-free, Qt-free.
#include <filesystem>
#include <string>
#include <vector>

#include "plan/plan_sources.h"
#include "record/checkpoint_info.h"

namespace mantissa::ui {

/// The checkpoint's own plan with another mode and `furtherSteps` more steps, in a fresh process; both are edits of the window. Errors
/// are those of plan/resume_check.h, and a checkpoint that no run has saved.
/// `changes`: further edits, each "path=value".
[[nodiscard]] Result<SourcedPlan> continuedPlan(const CheckpointInfo& from, Precision mode, std::int64_t furtherSteps,
                                                const std::vector<std::string>& changes = {});

/// A single run in `mode` with these edits, in a fresh process.
[[nodiscard]] Result<void> changePlan(SourcedPlan& plan, Precision mode, const std::vector<std::string>& changes);

/// What the plan has left to do after the checkpoint; when that is nothing, as many steps again.
[[nodiscard]] std::int64_t suggestedSteps(const CheckpointInfo& from);

}  // namespace mantissa::ui
