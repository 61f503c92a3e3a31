#pragma once
// What stands in a checkpoint folder, read without LibTorch: for lists, sentences and the choice of what to go on from. The
// engine writes the folder (checkpoint/checkpoint_files.h) with state.json last, so a folder without it isn't a checkpoint.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"

namespace mantissa {

struct CheckpointInfo {
    std::filesystem::path path;
    std::int64_t number = 0;         // of the folder's name; a run names its checkpoints by their step
    std::int64_t step = 0;           // attempts done = number of the next step
    std::int64_t applied_steps = 0;  // of them, updates that were applied
    std::int64_t epoch = 0;
    Precision mode = Precision::No;
    std::optional<double> loss_scale;  // fp16
    std::optional<std::int64_t> growth_tracker;
    std::string model, dataset;  // of plan.json; empty when the checkpoint isn't a run's
    std::string program_version;
    std::int64_t time_ns = 0;
    std::int64_t bytes = 0;  // of all its files
    std::vector<std::string> passed_over;  // by find_checkpoint: a sentence for each newer one that is damaged

    [[nodiscard]] std::filesystem::path plan() const { return path / "plan.json"; }
    [[nodiscard]] std::filesystem::path weights() const { return path / "model.safetensors"; }
    /// The folder of the run that wrote it.
    [[nodiscard]] std::filesystem::path run() const;
    [[nodiscard]] bool is_of_a_run() const { return !model.empty(); }
};

/// Checks that state.json is whole and that every file it names is there with its length (contents are checked by the engine
/// when it loads). Error InputOutput with the file that is wrong.
Result<CheckpointInfo> read_checkpoint_info(const std::filesystem::path& checkpoint);

struct CheckpointList {
    std::vector<CheckpointInfo> checkpoints;  // newest first
    std::vector<std::string> damaged;         // a sentence each; they can't be gone on from
    [[nodiscard]] std::int64_t bytes() const;
};
/// Those below `<folder>/checkpoints`; no such folder is an empty list. What is still being written (a hidden folder) and what
/// has no state.json is no checkpoint.
[[nodiscard]] CheckpointList list_checkpoints(const std::filesystem::path& folder);

/// `place` is a checkpoint, or a run (its newest one). Error InputOutput says what is there instead.
Result<CheckpointInfo> find_checkpoint(const std::filesystem::path& place);

}  // namespace mantissa
