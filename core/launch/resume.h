#pragma once
// A plan that goes on from a checkpoint, made ready before any folder is: which checkpoint is meant, and whether plan and
// checkpoint fit (plan/resume_check.h).
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/job.h"
#include "record/checkpoint_info.h"

namespace mantissa {

/// `text` is a checkpoint folder, a run folder (its newest checkpoint), or the name of a run below `runs`.
Result<CheckpointInfo> find_resume_checkpoint(const std::string& text, const std::filesystem::path& runs);

/// A note for each newer checkpoint of its run that `found` had to stand in for, because it is damaged.
[[nodiscard]] std::vector<std::string> passed_over_notes(const CheckpointInfo& found);

/// The plan of a run's checkpoint; an error for one that a program of its own has saved.
Result<SourcedPlan> plan_of_checkpoint(const CheckpointInfo& checkpoint);

/// Nothing for a plan that starts from its seed. Else the path becomes that of one checkpoint, a cycle keeps its length, and what
/// changes on the way is added to the notes. Errors: BadPlan (what doesn't fit; a comparison), InputOutput.
Result<std::optional<CheckpointInfo>> settle_resume(JobKind kind, SourcedPlan& plan, const std::filesystem::path& runs);

}  // namespace mantissa
