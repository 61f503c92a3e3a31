#include "launch/lost_rank.h"

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/result.h"

namespace mantissa {
namespace {

constexpr std::int64_t silent_after_ns = 3'000'000'000;
constexpr std::chrono::milliseconds look_every{20};
constexpr int looks = 50;  // a second: a death is known within it

/// One that only lost the others says so itself.
bool is_consequence(const RankLife& life) { return life.exit_code == exit_code(ErrorCode::WorkerLost); }

}  // namespace

std::string told_culprit(const std::vector<RankLife>& lives, std::int64_t own, std::int64_t now_ns) {
    std::string failed, silent;
    for (const RankLife& life : lives) {
        if (life.rank == own) continue;
        const std::string who = "rank " + std::to_string(life.rank) + " ";
        const std::string on = life.host.empty() ? "" : " (process " + std::to_string(life.process_id) + " on " + life.host + ")";
        if (!life.is_alive && life.end.empty())
            return who + "vanished " + life.where() + on + ": killed, or ended without a word; its launcher knows by what";
        if (life.end == to_string(RunState::Failed) && !is_consequence(life) && failed.empty())
            failed = who + "failed " + life.where() + ": " + life.reason;
        if (life.is_alive && life.end.empty() && now_ns - life.pulse_ns > silent_after_ns && silent.empty()) {
            silent = who + "gives no sign of life for " + std::to_string((now_ns - life.pulse_ns) / 1'000'000'000) + " s, " + life.where() + on +
                     ": its process is stopped, or its machine hangs";
        }
    }
    return failed.empty() ? silent : failed;
}

std::string who_was_lost(const RunFolder& folder, std::int64_t own, const std::string& said) {
    std::string told;
    for (int look = 0; look < looks && told.empty(); ++look) {
        if (look > 0) std::this_thread::sleep_for(look_every);
        told = told_culprit(read_lives(folder.path), own, now_ns());
    }
    return told.empty() ? said : told + "; " + said;
}

}  // namespace mantissa
