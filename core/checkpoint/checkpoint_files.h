#pragma once
// A checkpoint folder: tensors as safetensors, everything else in state.json, which names every file with its length and SHA-256 and
// is written last. It grows in a hidden folder beside its place, everything is synced, then it is renamed: a reader sees a whole
// checkpoint or none.
#include "base/precision.h"
#include "checkpoint/tensor_file.h"

namespace mantissa {

struct SavedScale {
    double scale = 65536;
    std::int64_t growth_tracker = 0;
    bool operator==(const SavedScale&) const = default;
};

/// What a checkpoint holds. Tensors are not copied when it is made for writing.
struct Checkpoint {
    std::string program_version;
    std::int64_t time_ns = 0;
    std::int64_t step = 0;           // attempts done = number of the next step
    std::int64_t applied_steps = 0;  // of them, updates that were applied
    std::int64_t epoch = 0;
    Precision mixed_precision = Precision::No;
    std::optional<SavedScale> loss_scale;  // fp16
    std::int64_t gradient_accumulation_steps = 1;
    std::int64_t processes = 1;

    std::vector<NamedTensors> models;  // parameters and buffers under their bare names
    std::vector<StateBundle> optimizers, schedulers, loaders, objects;
    StateBundle accelerator;  // its tensors are those of an open window, and belong to one rank
    NamedTensors random_states;  // of one rank: "cpu", "cuda.0", …
};

/// Where the main process, of this number, lets it grow: the other ranks write their files there, too.
[[nodiscard]] std::filesystem::path hidden_checkpoint(const std::filesystem::path& target, std::int64_t process);

/// Grows in a hidden folder beside `target`; without finish() that folder is removed again.
class CheckpointWriter {
  public:
    /// An existing target is an error. Hidden folders that dead processes left here are removed.
    static Result<CheckpointWriter> begin(const std::filesystem::path& target);
    CheckpointWriter(CheckpointWriter&& other) noexcept;
    CheckpointWriter& operator=(CheckpointWriter&&) = delete;
    ~CheckpointWriter();

    [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }  // the hidden one
    /// The files that all ranks share.
    Result<void> add_shared(const Checkpoint& checkpoint);
    /// Writes state.json over what lies in the folder (also what other ranks wrote there), syncs, renames.
    Result<std::filesystem::path> finish(const Checkpoint& checkpoint);

  private:
    CheckpointWriter(std::filesystem::path target, std::filesystem::path folder)
        : m_target(std::move(target)), m_folder(std::move(folder)) {}

    std::filesystem::path m_target, m_folder;
};

/// random_states_<rank>.safetensors, and window_<rank>.safetensors when a window is open, into the hidden folder.
Result<void> write_rank_files(const std::filesystem::path& hidden, std::int64_t rank, const Checkpoint& checkpoint);

/// Everything of one process: begin, shared, rank 0, finish.
Result<std::filesystem::path> write_checkpoint(const std::filesystem::path& target, const Checkpoint& checkpoint);

/// Reads and checks everything before anything is returned: format, version, lengths, hashes, types. A damaged file is named.
Result<Checkpoint> read_checkpoint(const std::filesystem::path& folder, std::int64_t rank = 0);

inline constexpr std::int64_t checkpoints_always_kept = 2;  // the last may be the one that a crash damages

/// "checkpoint_7" in this folder → 7, lowest first. Hidden and unfinished ones (without state.json) are none.
[[nodiscard]] std::vector<std::int64_t> checkpoint_numbers(const std::filesystem::path& folder);
[[nodiscard]] std::filesystem::path checkpoint_path(const std::filesystem::path& folder, std::int64_t number);
/// Removes the lowest numbers until `limit` stay, never fewer than checkpoints_always_kept.
Result<void> remove_old_checkpoints(const std::filesystem::path& folder, std::int64_t limit);

}  // namespace mantissa
