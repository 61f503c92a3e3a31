#pragma once
// What a supervisor tells the processes it starts, by environment variables (a worker that somebody starts by
// hand has none). Internal to core/launch.

namespace mantissa::worker_environment {

inline constexpr const char* lock_descriptor = "MANTISSA_RUN_LOCK_FD";  // the run's lock, held by the parent
inline constexpr const char* channel =
    "MANTISSA_CHANNEL_FD";  // socket: commands in, the sentence of a failure out
inline constexpr const char* turn_folder = "MANTISSA_TURN_FOLDER";  // comparison folder; absent: no turns
inline constexpr const char* turn_slot = "MANTISSA_TURN_SLOT";
inline constexpr const char* first_commands =
    "MANTISSA_FIRST_COMMANDS";                               // "pause step": posted before the first step
inline constexpr const char* rank = "MANTISSA_RANK";  // among the run's processes; absent: the only one
inline constexpr const char* ranks = "MANTISSA_RANKS";  // how many they are
inline constexpr const char* meeting_file = "MANTISSA_MEETING_FILE";  // where they meet
inline constexpr const char* claims = "MANTISSA_CLAIM_FDS";  // to a supervisor: locks of its runs, "5,6,7"
inline constexpr const char* ready = "MANTISSA_READY_FD";    // from a supervisor: "ready" or its error

}  // namespace mantissa::worker_environment
