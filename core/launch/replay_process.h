#pragma once
// One replay (host/engine_api.h) in a fresh process that the caller polls, as a trial is: with the numeric environment of a worker,
// killed at its time limit and with its parent. A step of a run of several processes is done again by as many, which meet in a file.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/engine_api.h"
#include "launch/timed_child.h"
#include "launch/worker.h"

namespace mantissa {

class ReplayProcess {
  public:
    struct Place {
        std::filesystem::path folder;  // for the request and the answer
        std::filesystem::path log;     // the process's own words, appended
    };
    static Result<ReplayProcess> start(const ReplayRequest& request, const Place& place, std::chrono::seconds limit);

    /// The answer once it has ended, or once the time limit killed it. Never blocks. Errors: what the engine refused
    /// (UnsupportedPrecision …), WorkerLost with the signal or the limit.
    std::optional<Result<ReplayAnswer>> poll();
    [[nodiscard]] double seconds() const { return m_members.front().child.seconds(); }

  private:
    /// One process, by rank.
    struct Member {
        std::string what;  // "the replay of bf16", "rank 1 of the replay of bf16"
        std::filesystem::path out_file;
        TimedChild child;
        std::optional<TimedChild::End> end;
    };
    ReplayProcess() = default;
    Result<void> start_member(ReplayRequest request, const Place& place, std::chrono::seconds limit);
    [[nodiscard]] const Member* culprit();
    [[nodiscard]] Result<ReplayAnswer> read_answer(const Member& member) const;

    std::filesystem::path m_log;
    std::vector<Member> m_members;
    std::optional<double> m_lost_at;  // seconds since the start: the first that only lost the others
};

/// Body of the hidden verb `mantissa replay-step REQUEST_FILE OUT_FILE`: asks the engine whether the mode can run here, then for the
/// replay. The answer, or the engine's error, is JSON in OUT_FILE; returns its exit code.
int run_replay_step(const std::filesystem::path& request_file, const std::filesystem::path& out_file, const EngineLoader& loader = {});

}  // namespace mantissa
