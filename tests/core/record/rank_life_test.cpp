// A process's word of itself, and what follows from it: who is gone, where it stood, and when a run stands still.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/clock.h"
#include "recording.h"
#include "record/rank_life.h"
#include "record/run_recorder.h"
#include "record/stall.h"

namespace mantissa {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

TEST(RankLife, tells_its_last_step_and_that_it_lives) {
    const testing::TemporaryFolder run;
    {
        auto recorder = RunRecorder::open(run.path());
        ASSERT_TRUE(recorder);
        ASSERT_TRUE((*recorder)->begin_life(0));
        auto other = LifeFile::open(run.path(), 1);
        ASSERT_TRUE(other);
        EXPECT_FALSE(LifeFile::open(run.path(), 1));  // one process is a rank
        StepRow row;
        row.step = 41;
        (*recorder)->step(row);
        auto lives = read_lives(run.path());
        ASSERT_EQ(lives.size(), 2U);
        EXPECT_TRUE(lives[0].is_alive);
        EXPECT_EQ(lives[0].where(), "at step 41");
        EXPECT_EQ(lives[0].activity, Activity::Training);
        EXPECT_EQ(lives[0].process_id, ::getpid());
        EXPECT_EQ(lives[1].where(), "before its first step");
        EXPECT_EQ(lives[1].activity, Activity::Starting);
        (*recorder)->state(RunState::Paused);
        EXPECT_EQ(read_lives(run.path())[0].activity, Activity::Paused);
        (*recorder)->activity(Activity::Evaluating);
        EXPECT_EQ(read_lives(run.path())[0].activity, Activity::Evaluating);
        (*other)->end(RunState::Failed, "the loss said \"no\"", 1);
    }
    const auto lives = read_lives(run.path());
    EXPECT_FALSE(lives[0].is_alive);
    EXPECT_EQ(lives[0].end, "");  // it vanished
    EXPECT_FALSE(lives[1].is_alive);
    EXPECT_EQ(lives[1].end, "failed");
    EXPECT_EQ(lives[1].reason, "the loss said \"no\"");
}

TEST(RankLife, a_killed_process_is_seen_at_once_and_its_last_step_stays) {
    const testing::TemporaryFolder run;
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        auto life = LifeFile::open(run.path(), 0);
        for (int step = 0; step <= 1234; ++step) (*life)->step_done(step);
        if (::write(ready[1], "x", 1) == 1) ::pause();
        ::_exit(1);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_TRUE(read_lives(run.path()).front().is_alive);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const auto life = read_lives(run.path()).front();
    EXPECT_FALSE(life.is_alive);
    EXPECT_EQ(life.last_step, 1234);
    EXPECT_EQ(life.process_id, child);
}

TEST(RankLife, old_recordings_and_damaged_files_say_nothing) {
    const testing::TemporaryFolder run;
    EXPECT_TRUE(read_lives(run.path()).empty());
    for (const char* damaged : {"", "{", "[1]", "\xff\xfe", "{\"step\":\"x\",\"doing\":7}"}) {
        std::ofstream(run.path() / "worker.life") << damaged;
        for (const auto& life : read_lives(run.path())) EXPECT_FALSE(life.is_alive);
    }
}

RankLife living(std::int64_t rank, Activity activity, std::int64_t quiet_ms, std::int64_t pulse_age_ms = 500) {
    RankLife life;
    life.rank = rank;
    life.is_alive = true;
    life.last_step = 41;
    life.activity = activity;
    life.quiet_ms = quiet_ms;
    life.slowest_ms = 20;
    life.pulse_ns = 1000 * second_ns - pulse_age_ms * 1'000'000;
    return life;
}

std::optional<Stall> stall_of(const std::vector<RankLife>& lives, RunState state = RunState::Running) {
    return find_stall(lives, state, 1000 * second_ns, StallLimits{});
}

TEST(Stall, a_step_that_takes_more_than_30_seconds) {
    EXPECT_FALSE(stall_of({living(0, Activity::Training, 29'900)}));
    const auto stall = stall_of({living(0, Activity::Training, 30'100)});
    ASSERT_TRUE(stall);
    EXPECT_EQ(stall->seconds, 30);
    EXPECT_EQ(stall->last_step, 41);
    EXPECT_TRUE(stall->has_pulse);
    EXPECT_FALSE(stall->rank);
}

TEST(Stall, a_run_of_long_steps_gets_ten_of_them) {
    RankLife slow = living(0, Activity::Training, 65'000);
    slow.slowest_ms = 7'000;
    EXPECT_FALSE(stall_of({slow}));
    slow.quiet_ms = 70'100;
    EXPECT_TRUE(stall_of({slow}));
}

TEST(Stall, what_is_known_to_take_long_is_not_called_hanging) {
    for (const Activity activity : {Activity::Starting, Activity::Evaluating, Activity::Saving}) {
        EXPECT_FALSE(stall_of({living(0, activity, 599'000)})) << to_string(activity);
        EXPECT_TRUE(stall_of({living(0, activity, 600'100)})) << to_string(activity);
    }
    for (const Activity activity : {Activity::Paused, Activity::WaitingForTurn})
        EXPECT_FALSE(stall_of({living(0, activity, 100'000'000)})) << to_string(activity);
    for (const RunState state : {RunState::Queued, RunState::Trial, RunState::Paused, RunState::Finished, RunState::Lost})
        EXPECT_FALSE(stall_of({living(0, Activity::Training, 100'000'000, 100'000'000)}, state)) << to_string(state);
    EXPECT_FALSE(stall_of({}));
}

TEST(Stall, a_silent_process_is_named_whatever_it_did) {
    EXPECT_FALSE(stall_of({living(0, Activity::Evaluating, 0, 29'900)}));
    const auto alone = stall_of({living(0, Activity::Evaluating, 400, 31'000)});
    ASSERT_TRUE(alone);
    EXPECT_FALSE(alone->has_pulse);
    EXPECT_EQ(alone->seconds, 31);
    // The others wait for it: it is the one, though all stand.
    const auto stall = stall_of({living(0, Activity::Training, 31'000), living(1, Activity::Training, 100, 31'000), living(2, Activity::Training, 31'000)});
    ASSERT_TRUE(stall);
    EXPECT_EQ(stall->rank, 1);
    EXPECT_TRUE(stall_of({living(0, Activity::WaitingForTurn, 500'000, 45'000)}));  // no turn ever comes to it
    RankLife ended = living(0, Activity::Training, 100, 99'000);
    ended.end = "finished";
    RankLife gone = living(1, Activity::Training, 100, 99'000);
    gone.is_alive = false;
    EXPECT_FALSE(stall_of({ended, gone}));
}

}  // namespace
}  // namespace mantissa
