#pragma once
// A run that stands still, told from what its processes say of themselves (record/rank_life.h): one pure rule for command line, window
// and supervisor. A run that is queued, paused or waits for its turn never stalls; what is known to take long has a longer limit.
#include <cstdint>
#include <optional>
#include <vector>

#include "record/rank_life.h"

namespace mantissa {

struct StallLimits {
    std::int64_t step_ms = 30'000;  // and never less than ten of the run's own steps
    /// Of the start, of an evaluation and of a checkpoint, which go on without a sign.
    [[nodiscard]] std::int64_t activity_ms() const { return 20 * step_ms; }
};
/// The defaults; MANTISSA_STALL_MS is for tests.
[[nodiscard]] StallLimits stall_limits();

struct Stall {
    std::optional<std::int64_t> rank;  // of several: the one that gives no sign of life
    std::int64_t seconds = 0;
    Activity activity = Activity::Training;
    std::optional<std::int64_t> last_step;
    bool has_pulse = true;  // the process lives and its thread of training doesn't move; else it is stopped, or its machine is
    bool operator==(const Stall&) const = default;
};

/// `state`: as recorded.
[[nodiscard]] std::optional<Stall> find_stall(const std::vector<RankLife>& lives, RunState state, std::int64_t now_ns,
                                              const StallLimits& limits = stall_limits());

/// Follows one run: looks once a second, and tells what two looks in a row have found, so that a machine that slept, or a process that
/// the scheduler forgot for a moment, is no alarm. One thread.
class StallWatch {
  public:
    std::optional<Stall> look(const std::filesystem::path& run_folder, RunState state);

  private:
    std::int64_t m_looked_ns = 0;
    std::optional<Stall> m_found;
    bool m_found_before = false;
};

}  // namespace mantissa
