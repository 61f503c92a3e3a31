#pragma once
// The answer to the command "checkpoint": the worker saves, and its recording tells where (or why not).
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace mantissa {

struct CheckpointAnswer {
    std::int64_t time_ns = 0;  // 0: nothing was saved yet
    std::string folder, error;
};

/// What the recording says last; to be read before the command is sent.
[[nodiscard]] CheckpointAnswer last_checkpoint_answer(const std::filesystem::path& run_folder);

/// The folder of a checkpoint newer than `before`. Errors: InputOutput when it could not be saved, Usage when the run ended
/// before, WorkerLost when nothing came in time.
Result<std::filesystem::path> wait_for_checkpoint(const std::filesystem::path& run_folder, const CheckpointAnswer& before,
                                                  int milliseconds = 120'000);

}  // namespace mantissa
