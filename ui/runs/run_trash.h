#pragma once
// Deleting with a way back: folders move to RUNS/.trash/<process>, come back by `restore`, and are removed
// for good by `empty`. Every move is a rename within the runs folder, so nothing is copied and nothing is
// half gone.
#include <filesystem>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ui/runs/run_entry.h"

namespace mantissa::ui {

class RunTrash {
  public:
    explicit RunTrash(std::filesystem::path runs) : m_runs(std::move(runs)) {}
    /// The entry's folder and, of a comparison, its runs' folders. Refused while a supervisor works on it.
    /// When one move fails, those already made are undone.
    Result<void> take(const RunEntry& entry);
    Result<void> restore();
    /// Removes for good what `take` moved last, and what programs that are gone left behind.
    void empty();
    [[nodiscard]] bool isEmpty() const { return m_moved.empty(); }

  private:
    [[nodiscard]] std::filesystem::path place()
        const;  // one per process: two windows may share a runs folder
    std::filesystem::path m_runs;
    std::vector<std::pair<std::filesystem::path, std::filesystem::path>> m_moved;  // from, to
};

}  // namespace mantissa::ui
