#pragma once
// One replay (host/engine_api.h) in a fresh process that the caller polls, as a trial is: with the numeric environment of a worker,
// killed at its time limit and with its parent.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

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
    [[nodiscard]] double seconds() const { return m_child.seconds(); }

  private:
    ReplayProcess() = default;
    [[nodiscard]] Result<ReplayAnswer> read_answer(const TimedChild::End& end) const;

    std::string m_what;  // "the replay of bf16"
    std::filesystem::path m_out_file, m_log;
    TimedChild m_child;
};

/// Body of the hidden verb `mantissa replay-step REQUEST_FILE OUT_FILE`: asks the engine whether the mode can run here, then for the
/// replay. The answer, or the engine's error, is JSON in OUT_FILE; returns its exit code.
int run_replay_step(const std::filesystem::path& request_file, const std::filesystem::path& out_file, const EngineLoader& loader = {});

}  // namespace mantissa
