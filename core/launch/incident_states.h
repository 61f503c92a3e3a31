#pragma once
// The states that incidents keep on the disk: RUN/incidents/step_<n>/state_<m>, in the form of checkpoints. Written by the run, and by a
// replay that had to go forward to its step.
#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "record/checkpoint_info.h"

namespace mantissa {

/// All of a run, newest first.
[[nodiscard]] CheckpointList incident_states(const std::filesystem::path& run);
/// Of one incident.
[[nodiscard]] CheckpointList states_in(const std::filesystem::path& incident_folder);
/// What a replay can start from: these and the run's checkpoints.
[[nodiscard]] CheckpointList kept_states(const std::filesystem::path& run);

/// Copies a state that a replay made into the folder of its incident; whole or not at all. The new place.
Result<std::filesystem::path> keep_state_in(const std::filesystem::path& incident_folder, const std::filesystem::path& made);

struct DeletedStates {
    std::int64_t states = 0, bytes = 0;
};
/// Frees them all; the reports stay. Error InputOutput when the run or a replay still works there.
Result<DeletedStates> delete_incident_states(const std::filesystem::path& run);

}  // namespace mantissa
