#pragma once
// Starts a prepared job and follows its run folders until it has ended. Ctrl-C interrupts the runs, a second
// one kills them; SIGTERM stops them. What is shown comes from the recordings, as everywhere.
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "launch/job.h"
#include "plan/rank_place.h"
#include "progress.h"
#include "record/run_reader.h"
#include "record/stall.h"

namespace mantissa::cli {

/// Follows the recordings of a job's runs.
class JobFollower {
  public:
    explicit JobFollower(const PreparedJob& job);
    /// Reads what is new; never fails (a run.db that isn't there yet is tried again).
    const std::vector<RunProgress>& read();

  private:
    void read_run(std::size_t index);
    static void read_keys(RunReader& reader, RunProgress& progress);
    std::vector<std::filesystem::path> m_folders;
    std::vector<std::unique_ptr<RunReader>> m_readers;
    std::vector<StallWatch> m_stalls;
    std::vector<RunProgress> m_progress;
};

/// In scope process: supervisor and workers. Returns the exit code of the job.
/// `pace`: steps a second that each run may make; 0 = as fast as it goes.
Result<int> run_supervised(PreparedJob job, ProgressView& view, double pace = 0);
/// In scope thread: the engine on a thread of this process.
Result<int> run_in_thread(PreparedJob job, ProgressView& view,
                          const std::function<Result<void>(const std::filesystem::path&)>& finish,
                          const std::optional<RankPlace>& ranks = {});

}  // namespace mantissa::cli
