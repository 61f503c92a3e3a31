// Workers killed at random moments: what was recorded more than a second before is there, the verdict stands
// within a second, and the other runs don't notice. The figures are printed.
#include <cinttypes>
#include <cstdio>
#include <random>

#include "base/clock.h"
#include "launch_fixture.h"

namespace mantissa::test {

using namespace std::chrono_literals;

namespace {

struct Kill {
    std::int64_t produced = 0, recorded = 0, oldest_lost_ms = 0, verdict_ms = 0;
};

class Kills : public LaunchTest {
  protected:
    /// Compares run.db with what the fake engine noted beside it (two numbers a row: step, time).
    static Kill compare_with_shadow(const fs::path& run, std::int64_t killed_ns) {
        Kill kill;
        const auto all = rows(run);
        kill.recorded = static_cast<std::int64_t>(all.steps.size());
        for (std::size_t i = 0; i < all.steps.size(); ++i)
            EXPECT_EQ(all.steps[i].step, static_cast<std::int64_t>(i));
        std::ifstream shadow(run / "shadow", std::ios::binary);
        for (std::int64_t entry[2]; shadow.read(reinterpret_cast<char*>(entry), sizeof entry);) {
            ++kill.produced;
            if (entry[0] >= kill.recorded)
                kill.oldest_lost_ms = std::max(kill.oldest_lost_ms, (killed_ns - entry[1]) / 1'000'000);
        }
        return kill;
    }

    Kill kill_one(std::size_t victim, int delay_ms) {
        auto handle = compare("steps=250 ms=1", ComparisonOrder::AtOnce);
        EXPECT_TRUE(soon([&] { return worker_of(run_folder(victim)) > 0; }));
        const pid_t worker = worker_of(run_folder(victim));
        std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
        const std::int64_t killed_ns = now_ns();
        EXPECT_EQ(::kill(worker, SIGKILL), 0);
        const bool told = within(1000ms, [&] { return is_end_state(state(victim)); });
        const std::int64_t verdict_ms = (now_ns() - killed_ns) / 1'000'000;
        EXPECT_TRUE(told);
        EXPECT_EQ(outcome(victim).state, RunState::Lost);
        EXPECT_EQ(outcome(victim).reason.rfind("killed by SIGKILL", 0), 0U) << outcome(victim).reason;
        Kill kill = compare_with_shadow(run_folder(victim), killed_ns);
        kill.verdict_ms = verdict_ms;
        EXPECT_EQ(handle.wait(), 5);
        for (std::size_t i = 0; i < 3; ++i) {
            if (i == victim) continue;
            EXPECT_EQ(outcome(i).state, RunState::Finished);
            EXPECT_EQ(steps(i), 250);
        }
        return kill;
    }
};

}  // namespace

TEST_F(Kills, twelve_random_moments) {
    std::mt19937 random(20261130);
    std::int64_t most_lost = 0, oldest_ms = 0, slowest_ms = 0;
    for (int i = 0; i < 12; ++i) {
        const auto kill = kill_one(random() % 3, static_cast<int>(random() % 200));
        std::printf("kill %2d: %" PRId64 " rows produced, %" PRId64 " lost (oldest %" PRId64
                    " ms old), verdict after %" PRId64 " ms\n",
                    i, kill.produced, kill.produced - kill.recorded, kill.oldest_lost_ms, kill.verdict_ms);
        most_lost = std::max(most_lost, kill.produced - kill.recorded);
        oldest_ms = std::max(oldest_ms, kill.oldest_lost_ms);
        slowest_ms = std::max(slowest_ms, kill.verdict_ms);
    }
    std::printf("worst: %" PRId64 " rows lost, the oldest %" PRId64 " ms old; verdict after %" PRId64 " ms\n",
                most_lost, oldest_ms, slowest_ms);
    EXPECT_LT(oldest_ms, 1000);
    EXPECT_LT(slowest_ms, 1000);
}

}  // namespace mantissa::test
