// Several ranks: whatever befalls one of them is told by its name, what happened and its last step; a run that stands still can be ended.
// And what a process that isn't our child leaves behind.
#include "launch/lost_rank.h"

#include <gmock/gmock.h>

#include "launch/control_client.h"
#include "launch/hung_run.h"
#include "launch/oom_kills.h"
#include "launch_fixture.h"
#include "record/rank_life.h"

namespace mantissa::test {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class LostRank : public LaunchTest {
  protected:
    SupervisorHandle two(const std::string& words) {
        SourcedPlan sourced = plan(words);
        sourced.plan.launch.scope = LaunchScope::Ranks;
        sourced.plan.launch.processes = 2;
        return start(JobKind::SingleRun, sourced);
    }
    [[nodiscard]] bool all_are_gone() const { return processes_with(std::string("worker\0", 7) + run_folder(0).string() + '\0').empty(); }
};

struct Fault {
    const char* word;
    const char *said, *ending;
    RunState state;
    int code;
};

TEST_F(LostRank, every_way_to_end_is_told_with_the_rank_and_its_last_step) {
    for (const Fault& fault : {Fault{"kill_at=7", "rank R was killed by SIGKILL at step 6", "; the other ranks were ended", RunState::Lost, 5},
                               Fault{"crash_at=7", "rank R was killed by SIGSEGV at step 6", "; the other ranks were ended", RunState::Lost, 5},
                               Fault{"exit_at=7", "rank R ended with exit code 77 at step 6", " without an end state; its words are in ", RunState::Failed, 77},
                               Fault{"throw_at=7", "the fake engine throws at step 7", "", RunState::Failed, 1}}) {
        for (const std::string rank : {"0", "1"}) {
            SCOPED_TRACE(std::string(fault.word) + " on rank " + rank);
            auto handle = two("steps=100000 ms=1 rank" + rank + "." + fault.word);
            EXPECT_EQ(handle.wait(), fault.code);
            EXPECT_EQ(outcome(0).state, fault.state);
            std::string said = fault.said;
            if (const auto at = said.find(" R "); at != std::string::npos) said.replace(at + 1, 1, rank);
            EXPECT_THAT(outcome(0).reason, HasSubstr(said));
            EXPECT_THAT(outcome(0).reason, HasSubstr(fault.ending));
            if (rank == "1") {
                EXPECT_THAT(outcome(0).reason, StartsWith("rank 1 "));
            }
            EXPECT_TRUE(all_are_gone());
        }
    }
}

// TERM reaches no thread that hangs; what was recorded stays.
TEST_F(LostRank, a_run_that_stands_still_is_stopped_by_force) {
    ::setenv("MANTISSA_STALL_MS", "1500", 1);
    auto hung = start(JobKind::SingleRun, plan("steps=100000 ms=1 hang_at=7"));
    ASSERT_TRUE(soon([&] { return steps(0) == 7; }));
    ASSERT_TRUE(send_one_command(hung.folder(), "stop", ""));
    EXPECT_EQ(hung.wait(), 130);
    ::unsetenv("MANTISSA_STALL_MS");
    EXPECT_EQ(outcome(0).state, RunState::Interrupted);
    EXPECT_THAT(outcome(0).reason, StartsWith("stopped: no progress for "));
    EXPECT_THAT(outcome(0).reason, HasSubstr(" s at step 6, and SIGTERM did not end it within 5 s, so it was killed"));
    EXPECT_EQ(steps(0), 7);
}

RankLife rank_at(std::int64_t rank, std::int64_t step) {
    RankLife life;
    life.rank = rank;
    life.process_id = 100 + rank;
    life.host = "node" + std::to_string(rank);
    life.last_step = step;
    life.is_alive = true;
    life.pulse_ns = 1'000'000'000'000;
    return life;
}

TEST(ToldCulprit, names_who_vanished_failed_or_is_silent) {
    constexpr std::int64_t now = 1'001'000'000'000;
    std::vector<RankLife> lives{rank_at(0, 41), rank_at(1, 41), rank_at(2, 40)};
    EXPECT_EQ(told_culprit(lives, 0, now), "");
    lives[2].pulse_ns -= 61'000'000'000;
    EXPECT_EQ(told_culprit(lives, 0, now),
              "rank 2 gives no sign of life for 62 s, at step 40 (process 102 on node2): its process is stopped, or its machine hangs");
    EXPECT_EQ(told_culprit(lives, 2, now), "");  // who asks isn't the one
    // What lost the others is a consequence.
    lives[1].is_alive = false;
    lives[1].end = "failed";
    lives[1].exit_code = 5;
    lives[1].reason = "all_reduce failed";
    EXPECT_THAT(told_culprit(lives, 0, now), StartsWith("rank 2 gives no sign"));
    lives[1].exit_code = 1;
    EXPECT_EQ(told_culprit(lives, 0, now), "rank 1 failed at step 41: all_reduce failed");
    lives[2].is_alive = false;
    EXPECT_EQ(told_culprit(lives, 0, now),
              "rank 2 vanished at step 40 (process 102 on node2): killed, or ended without a word; its launcher knows by what");
    lives[2].end = "finished";
    lives[1].end = "stopped";
    EXPECT_EQ(told_culprit(lives, 0, now), "");
    EXPECT_EQ(told_culprit({}, 0, now), "");
}

TEST(OomKills, are_told_only_when_the_kernel_counted_one) {
    EXPECT_EQ(oom_kills_in("nr_free_pages 7\noom_kill 3\nzone_reclaim_failed 0\n"), 3);
    EXPECT_EQ(oom_kills_in("nr_free_pages 7\n"), std::nullopt);
    EXPECT_EQ(told_oom(3, 3), "");
    EXPECT_EQ(told_oom(std::nullopt, 4), "");
    EXPECT_THAT(told_oom(3, 4), HasSubstr("the kernel ended 1 process for lack of memory, probably this one"));
    EXPECT_TRUE(oom_kills().has_value() || !fs::exists("/proc/vmstat"));
}

}  // namespace mantissa::test
