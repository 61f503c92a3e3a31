#include "launch/turns.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "launch_fixture.h"

namespace mantissa::test {

using namespace std::chrono_literals;

namespace {

/// Three runs as threads (flock and the liveness locks belong to open files, so a thread with its own gate is
/// a run).
class Turns : public LaunchTest {
  protected:
    struct Runner {
        std::int64_t step_us = 1000;
        std::int64_t steps = 200;
        RunControl control;
        std::atomic<std::int64_t> done{0};
        std::jthread thread;
    };

    void start(Runner& runner, std::size_t slot, std::chrono::milliseconds turn = 20ms) {
        runner.thread = std::jthread([&runner, slot, turn, this] {
            auto gate = TurnGate::join(folder(), slot, turn);
            ASSERT_TRUE(gate) << describe(gate.error());
            runner.control.set_wait_hook([&](bool waiting) { (*gate)->paused(waiting, runner.control); });
            for (std::int64_t step = 0; step < runner.steps; ++step) {
                if (runner.control.at_step_edge({}) != RunControl::Next::Go) break;
                (*gate)->wait_for_turn(step, runner.control);
                if (runner.control.is_ending()) break;
                note_step(slot, +1);
                std::this_thread::sleep_for(std::chrono::microseconds(runner.step_us));
                note_step(slot, -1);
                ++runner.done;
            }
            (*gate)->run_ended();
        });
    }

    void note_step(std::size_t slot, int change) {
        const int now = m_working.fetch_add(change) + change;
        if (now > 1) m_overlaps += 1;
        if (change < 0) return;
        const std::lock_guard lock(m_mutex);
        if (m_order.empty() || m_order.back() != slot) {
            m_order.push_back(slot);
            m_began.push_back(std::chrono::steady_clock::now());
        }
    }

    std::atomic<int> m_working{0}, m_overlaps{0};
    std::mutex m_mutex;                                          // protects the next two
    std::vector<std::size_t> m_order;                            // slot of each turn
    std::vector<std::chrono::steady_clock::time_point> m_began;  // and its first step
};

}  // namespace

TEST_F(Turns, one_at_a_time_and_the_slower_run_is_not_left_behind) {
    std::array<Runner, 3> runners;
    runners[1].step_us = 4000;  // emulated modes are slower
    for (std::size_t i = 0; i < 3; ++i) start(runners[i], i);
    std::int64_t widest = 0;
    while (std::any_of(runners.begin(), runners.end(), [](const Runner& r) { return r.done < r.steps; })) {
        std::array<std::int64_t, 3> done{runners[0].done, runners[1].done, runners[2].done};
        if (*std::min_element(done.begin(), done.end()) > 0) {
            widest = std::max(widest, *std::max_element(done.begin(), done.end()) -
                                          *std::min_element(done.begin(), done.end()));
        }
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_EQ(m_overlaps, 0);
    // A turn of 20 ms is about 20 quick steps: no run is ever more than two such turns ahead.
    EXPECT_LE(widest, 50);
    EXPECT_GE(m_order.size(), 20U);
}

TEST_F(Turns, a_turn_lasts_at_least_its_time_while_others_wait) {
    std::array<Runner, 2> runners;
    for (std::size_t i = 0; i < 2; ++i) start(runners[i], i, 100ms);
    for (auto& runner : runners) runner.thread.join();
    ASSERT_GE(m_order.size(), 3U);
    // The last turn of each run is as long as what is left of it.
    for (std::size_t i = 0; i + 2 < m_began.size(); ++i)
        EXPECT_GE(m_began[i + 1] - m_began[i], 95ms) << "turn " << i;
}

TEST_F(Turns, a_paused_run_gives_its_turn_away_and_catches_up_later) {
    std::array<Runner, 2> runners;
    for (auto& runner : runners) runner.steps = 400;
    start(runners[0], 0);
    start(runners[1], 1);
    ASSERT_TRUE(soon([&] { return runners[0].done > 30 && runners[1].done > 30; }));
    runners[0].control.post(ControlCommand::Pause);
    ASSERT_TRUE(soon([&] { return runners[1].done == 400; }));
    const auto held = runners[0].done.load();
    EXPECT_LT(held, 400);
    std::this_thread::sleep_for(30ms);
    EXPECT_EQ(runners[0].done, held);
    runners[0].control.post(ControlCommand::Resume);
    EXPECT_TRUE(soon([&] { return runners[0].done == 400; }));
    EXPECT_EQ(m_overlaps, 0);
}

TEST_F(Turns, waiting_for_a_turn_ends_when_the_run_is_stopped) {
    std::array<Runner, 2> runners;
    runners[0].step_us = 500'000;  // one long step holds the turn
    runners[0].steps = 3;
    start(runners[0], 0);
    ASSERT_TRUE(soon([&] { return m_working == 1; }));
    start(runners[1], 1);
    std::this_thread::sleep_for(50ms);
    const auto began = std::chrono::steady_clock::now();
    runners[1].control.post(ControlCommand::Stop);
    runners[1].thread.join();
    EXPECT_LT(std::chrono::steady_clock::now() - began, 200ms);
    EXPECT_EQ(runners[1].done, 0);
}

TEST_F(Turns, the_kernel_frees_the_turn_of_a_killed_process) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        auto gate = TurnGate::join(folder(), 0, 10s);
        const RunControl control;
        (*gate)->wait_for_turn(0, control);
        if (::write(ready[1], "x", 1) != 1) ::_exit(1);
        ::pause();
        ::_exit(0);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    Runner waiting;
    waiting.steps = 3;
    start(waiting, 1);
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(waiting.done, 0);  // the child has the turn for ten seconds
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(within(500ms, [&] { return waiting.done == 3; }));
}

TEST_F(Turns, a_killed_waiter_with_fewer_steps_is_not_waited_for) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    Runner runner;
    runner.steps = 100'000;
    start(runner, 0, 1ms);
    ASSERT_TRUE(soon([&] { return runner.done > 5; }));
    const pid_t child = ::fork();
    if (child == 0) {
        // Waits with zero steps, and is killed before its turn is over.
        auto gate = TurnGate::join(folder(), 1, 1ms);
        const RunControl control;
        if (::write(ready[1], "x", 1) != 1) ::_exit(1);
        for (std::int64_t i = 0;; ++i) (*gate)->wait_for_turn(0, control);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    std::this_thread::sleep_for(50ms);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto held = runner.done.load();
    EXPECT_TRUE(within(500ms, [&] { return runner.done > held + 20; }));
    runner.control.post(ControlCommand::Stop);
}

TEST_F(Turns, nobody_begins_before_the_hold_goes) {
    std::array<Runner, 2> runners;
    auto hold = TurnHold::take(folder());
    ASSERT_TRUE(hold) << describe(hold.error());
    std::optional<TurnHold> held(std::move(*hold));
    EXPECT_FALSE(held->is_ready(0));
    start(runners[0], 0);
    ASSERT_TRUE(soon([&] { return held->is_ready(0); }));
    EXPECT_FALSE(held->is_ready(1));
    runners[1].control.post(
        ControlCommand::Pause);  // a run that pauses before its first step keeps nobody waiting
    start(runners[1], 1);
    ASSERT_TRUE(soon([&] { return held->is_ready(1); }));
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(runners[0].done, 0);
    held.reset();
    EXPECT_TRUE(soon([&] { return runners[0].done == 200; }));
    EXPECT_EQ(runners[1].done, 0);
    runners[1].control.post(ControlCommand::Stop);
}

TEST_F(Turns, a_folder_that_cannot_be_written_is_an_error) {
    const auto gate = TurnGate::join("/proc/nowhere", 0);
    ASSERT_FALSE(gate);
    EXPECT_EQ(gate.error().code, ErrorCode::InputOutput);
    EXPECT_FALSE(TurnGate::join(folder(), most_turn_slots));
}

}  // namespace mantissa::test
