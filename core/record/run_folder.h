#pragma once
// Paths and the lock of a run folder RUNS/<time>-<name>-<mode>/ and of a comparison folder RUNS/comparisons/<id>/.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"

namespace mantissa {

struct RunFolder {
    std::filesystem::path path;
    [[nodiscard]] std::filesystem::path plan() const { return path / "plan.json"; }
    [[nodiscard]] std::filesystem::path environment() const { return path / "environment.json"; }
    [[nodiscard]] std::filesystem::path database() const { return path / "run.db"; }
    [[nodiscard]] std::filesystem::path verdicts() const { return path / "verdicts.json"; }
    [[nodiscard]] std::filesystem::path trial() const { return path / "trial.json"; }
    [[nodiscard]] std::filesystem::path log() const { return path / "worker.log"; }
    [[nodiscard]] std::filesystem::path lock() const { return path / "lock"; }
    [[nodiscard]] std::filesystem::path socket_name() const { return path / "control"; }  // text file: path of the Unix socket
    [[nodiscard]] std::filesystem::path incidents() const { return path / "incidents"; }
    [[nodiscard]] std::filesystem::path checkpoints() const { return path / "checkpoints"; }
};

/// The part of a folder's name that comes from a person: at most 60 bytes, without separators, spaces and control characters.
[[nodiscard]] std::string folder_name_part(const std::string& name);
/// Makes a new folder `base`, or `base-2`, `base-3` … when the name is taken. Its parents are made too.
Result<std::filesystem::path> create_unique_folder(const std::filesystem::path& parent, const std::string& base);
/// Makes a new, unique run folder below `runs` (a clash of names gets a suffix). Error InputOutput when it can't be written.
Result<RunFolder> create_run_folder(const std::filesystem::path& runs, const std::string& name, Precision mode);
/// Run folders below `runs`, newest first; comparisons' ids likewise.
Result<std::vector<RunFolder>> list_run_folders(const std::filesystem::path& runs);
Result<std::vector<std::string>> list_comparisons(const std::filesystem::path& runs);

/// Held by a worker (flock) for the life of its run; freed by the kernel when it dies.
class RunLock {
  public:
    static Result<RunLock> take(const RunFolder& folder);  // error when somebody else holds it
    static bool is_free(const RunFolder& folder);
    static bool was_ever_taken(const RunFolder& folder);
    RunLock(RunLock&& other) noexcept;
    RunLock& operator=(RunLock&& other) noexcept;
    ~RunLock();

  private:
    explicit RunLock(int descriptor) : m_descriptor(descriptor) {}
    int m_descriptor = -1;
};

}  // namespace mantissa
