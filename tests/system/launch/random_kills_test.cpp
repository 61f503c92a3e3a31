// 50 workers of real comparisons killed at random moments. Printed: rows lost and the time to the verdict.
#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <random>
#include <thread>

#include "base/clock.h"
#include "launch/run_lookup.h"
#include "launch/turns.h"
#include "program.h"

namespace mantissa::test {

namespace {

struct Kill {
    std::int64_t lost = 0, oldest_ms = 0, verdict_ms = 0;
};

class RandomKills : public ProgramTest {
  protected:
    Kill kill_worker(const fs::path& run, std::size_t slot) {
        const pid_t worker = worker_of(run);
        EXPECT_GT(worker, 0);
        // The step the worker stands at, from the table that all take turns by: it outlives the process.
        const std::int64_t killed_ns = now_ns();
        EXPECT_EQ(::kill(worker, SIGKILL), 0);
        const bool told = within(std::chrono::milliseconds(3000), [&] {
            const auto all = rows(run);
            return !all.states.empty() && is_end_state(all.states.back().state);
        });
        Kill kill;
        kill.verdict_ms = (now_ns() - killed_ns) / 1'000'000;
        EXPECT_TRUE(told);
        const auto end = read_run_outcome(run);
        EXPECT_EQ(end->state, RunState::Lost);
        EXPECT_EQ(end->reason.rfind("killed by SIGKILL", 0), 0U) << end->reason;
        const auto all = rows(run);
        for (std::size_t i = 0; i < all.steps.size(); ++i)
            EXPECT_EQ(all.steps[i].step, static_cast<std::int64_t>(i));
        kill.lost = std::max<std::int64_t>(
            0, read_turn_steps(comparison(), slot) - static_cast<std::int64_t>(all.steps.size()));
        // Every lost row is younger than the last one that is there.
        if (kill.lost > 0 && !all.steps.empty())
            kill.oldest_ms = (killed_ns - all.steps.back().time_ns) / 1'000'000;
        return kill;
    }

    void kill_all_three(std::mt19937& random, std::vector<Kill>& kills) {
        std::vector<std::pair<std::string, std::size_t>> victims{{"no", 0}, {"fp16", 1}, {"bf16", 2}};
        std::shuffle(victims.begin(), victims.end(), random);
        start({"compare", "digits-mlp", "--modes", "no,fp16,bf16", "--max-steps", "1000000", "--json"});
        ASSERT_TRUE(soon([&] {
            return !run_of("bf16").empty() && worker_of(run_of("no")) > 0 && steps(run_of("no")) > 0;
        })) << errors();
        while (!victims.empty()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1200));
            const auto [mode, slot] = victims.back();
            victims.pop_back();
            std::vector<std::int64_t> before;
            for (const auto& [other, unused] : victims) before.push_back(steps(run_of(other)));
            kills.push_back(kill_worker(run_of(mode), slot));
            std::printf("kill %2zu: %-4s %4" PRId64 " rows lost (oldest %3" PRId64
                        " ms), verdict after %3" PRId64 " ms\n",
                        kills.size(), mode.c_str(), kills.back().lost, kills.back().oldest_ms,
                        kills.back().verdict_ms);
            for (std::size_t i = 0; i < victims.size(); ++i) {
                EXPECT_TRUE(soon([&] { return steps(run_of(victims[i].first)) > before[i]; }))
                    << victims[i].first;
            }
        }
        EXPECT_EQ(wait(), 5) << errors();
        fs::remove_all(runs());
    }
};

}  // namespace

TEST_F(RandomKills, fifty_random_moments) {
    std::mt19937 random(20261130);
    std::vector<Kill> kills;
    while (kills.size() < 50) {
        kill_all_three(random, kills);
        ASSERT_FALSE(HasFatalFailure());
    }
    Kill worst;
    std::int64_t lost = 0;
    for (const auto& kill : kills) {
        lost += kill.lost;
        worst.lost = std::max(worst.lost, kill.lost);
        worst.oldest_ms = std::max(worst.oldest_ms, kill.oldest_ms);
        worst.verdict_ms = std::max(worst.verdict_ms, kill.verdict_ms);
    }
    std::printf("%zu kills: %" PRId64 " rows lost in all, at most %" PRId64 " in one run and %" PRId64
                " ms old; verdict after %" PRId64 " ms at most\n",
                kills.size(), lost, worst.lost, worst.oldest_ms, worst.verdict_ms);
    EXPECT_LT(worst.oldest_ms, 1000);
    EXPECT_LT(worst.verdict_ms, 1000);
}

}  // namespace mantissa::test
