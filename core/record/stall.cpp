#include "record/stall.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/clock.h"
#include "base/numbers.h"

namespace mantissa {
namespace {

constexpr std::int64_t steps_of_patience = 10;

std::int64_t limit_of(const RankLife& life, const StallLimits& limits) {
    switch (life.activity) {
        case Activity::Training: return std::max(limits.step_ms, steps_of_patience * life.slowest_ms);
        case Activity::Starting:
        case Activity::Evaluating:
        case Activity::Saving: return std::max(limits.activity_ms(), steps_of_patience * life.slowest_ms);
        case Activity::WaitingForTurn:
        case Activity::Paused: break;
    }
    return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

StallLimits stall_limits() {
    StallLimits limits;
    const char* text = std::getenv("MANTISSA_STALL_MS");
    if (const auto number = text != nullptr ? parse_int(text) : std::nullopt; number && *number > 0) limits.step_ms = *number;
    return limits;
}

std::optional<Stall> find_stall(const std::vector<RankLife>& lives, RunState state, std::int64_t now_ns, const StallLimits& limits) {
    if (state != RunState::Running) return std::nullopt;
    std::optional<Stall> found;
    for (const RankLife& life : lives) {
        if (!life.is_alive || !life.end.empty() || life.activity == Activity::Paused) continue;
        const std::int64_t pulse_age_ms = std::max<std::int64_t>(0, (now_ns - life.pulse_ns) / 1'000'000);
        const bool has_pulse = pulse_age_ms <= limits.step_ms;
        if (has_pulse && life.quiet_ms <= limit_of(life, limits)) continue;
        // In one that waits for its turn only the pulse says how long it is gone.
        const std::int64_t quiet_ms = (life.activity == Activity::WaitingForTurn ? 0 : life.quiet_ms) + (has_pulse ? 0 : pulse_age_ms);
        Stall stall{std::nullopt, quiet_ms / 1000, life.activity, life.last_step, has_pulse};
        // Who is silent holds the others up; of those that only stand, the first speaks for all.
        if (lives.size() > 1 && !has_pulse) stall.rank = life.rank;
        if (!found || (found->has_pulse && !has_pulse)) found = stall;
    }
    return found;
}

std::optional<Stall> StallWatch::look(const std::filesystem::path& run_folder, RunState state) {
    constexpr std::int64_t look_every_ns = 1'000'000'000;
    if (state != RunState::Running) {
        *this = {};
    } else if (monotonic_ns() - m_looked_ns >= look_every_ns) {
        m_looked_ns = monotonic_ns();
        m_found_before = m_found.has_value();
        m_found = find_stall(read_lives(run_folder), state, now_ns());
    }
    return m_found_before ? m_found : std::nullopt;
}

}  // namespace mantissa
