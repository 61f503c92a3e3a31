#include "host/run_control.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using mantissa::ControlCommand;
using mantissa::RunControl;

namespace {

/// A loop as the engine's: counts steps until it is told to end.
class Loop {
  public:
    explicit Loop(RunControl& control) : m_control(control), m_thread([this] { run(); }) {}
    ~Loop() {
        m_control.post(ControlCommand::Stop);
        m_thread.join();
    }
    [[nodiscard]] int steps() const { return m_steps; }
    [[nodiscard]] bool is_waiting() const { return m_waiting; }
    template <typename Condition>
    static bool soon(Condition condition) {
        for (int i = 0; i < 400; ++i) {
            if (condition()) return true;
            std::this_thread::sleep_for(5ms);
        }
        return false;
    }

  private:
    void run() {
        while (m_control.at_step_edge([this](bool paused) { m_waiting = paused; }) == RunControl::Next::Go) {
            ++m_steps;
            std::this_thread::sleep_for(1ms);
        }
    }
    RunControl& m_control;
    std::atomic<int> m_steps{0};
    std::atomic<bool> m_waiting{false};
    std::thread m_thread;
};

}  // namespace

TEST(RunControl, names_of_commands_come_back) {
    for (const auto command : {ControlCommand::Pause, ControlCommand::Resume, ControlCommand::Step,
                               ControlCommand::Checkpoint, ControlCommand::Stop, ControlCommand::Interrupt}) {
        EXPECT_EQ(mantissa::parse_control_command(mantissa::to_string(command)), command);
    }
    EXPECT_FALSE(mantissa::parse_control_command("Pause"));
    EXPECT_FALSE(mantissa::parse_control_command(""));
}

TEST(RunControl, interrupt_wins_over_stop_in_either_order) {
    for (const bool stop_first : {true, false}) {
        RunControl control;
        control.post(stop_first ? ControlCommand::Stop : ControlCommand::Interrupt);
        control.post(stop_first ? ControlCommand::Interrupt : ControlCommand::Stop);
        EXPECT_TRUE(control.is_ending());
        EXPECT_EQ(control.at_step_edge({}), RunControl::Next::Interrupt);
    }
}

TEST(RunControl, a_stopped_run_does_not_wait_though_paused) {
    RunControl control;
    control.post(ControlCommand::Pause);
    EXPECT_TRUE(control.is_paused());
    control.post(ControlCommand::Stop);
    EXPECT_FALSE(control.is_paused());
    bool told = false;
    EXPECT_EQ(control.at_step_edge([&](bool) { told = true; }), RunControl::Next::Stop);
    EXPECT_FALSE(told);
}

TEST(RunControl, pause_holds_resume_goes_on) {
    RunControl control;
    Loop loop(control);
    ASSERT_TRUE(Loop::soon([&] { return loop.steps() > 3; }));
    control.post(ControlCommand::Pause);
    ASSERT_TRUE(Loop::soon([&] { return loop.is_waiting(); }));
    const int held = loop.steps();
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(loop.steps(), held);
    control.post(ControlCommand::Resume);
    EXPECT_TRUE(Loop::soon([&] { return loop.steps() > held + 3; }));
    EXPECT_FALSE(loop.is_waiting());
}

TEST(RunControl, a_checkpoint_is_served_once_at_the_next_edge_before_a_stop) {
    RunControl control;
    int saved = 0;
    const auto save = [&saved] { ++saved; };
    control.post(ControlCommand::Checkpoint);
    control.post(ControlCommand::Checkpoint);
    EXPECT_EQ(control.at_step_edge({}, save), RunControl::Next::Go);
    EXPECT_EQ(saved, 1);
    EXPECT_EQ(control.at_step_edge({}, save), RunControl::Next::Go);
    EXPECT_EQ(saved, 1);
    control.post(ControlCommand::Checkpoint);
    control.post(ControlCommand::Stop);
    EXPECT_EQ(control.at_step_edge({}, save), RunControl::Next::Stop);
    EXPECT_EQ(saved, 2);
    control.post(ControlCommand::Checkpoint);
    EXPECT_TRUE(control.take_checkpoint_request());
    EXPECT_FALSE(control.take_checkpoint_request());
}

TEST(RunControl, a_paused_run_saves_at_once_and_goes_on_waiting) {
    RunControl control;
    std::atomic<int> saved{0}, pauses{0}, wakes{0};
    control.post(ControlCommand::Pause);
    std::thread loop([&] {
        const auto on_pause = [&](bool paused) { ++(paused ? pauses : wakes); };
        while (control.at_step_edge(on_pause, [&] { ++saved; }) == RunControl::Next::Go) {
        }
    });
    ASSERT_TRUE(Loop::soon([&] { return pauses == 1; }));
    for (int expected = 1; expected <= 3; ++expected) {
        control.post(ControlCommand::Checkpoint);
        ASSERT_TRUE(Loop::soon([&] { return saved == expected; }));
    }
    EXPECT_TRUE(control.is_paused());
    EXPECT_EQ(pauses, 1);
    EXPECT_EQ(wakes, 0);
    control.post(ControlCommand::Stop);
    loop.join();
    EXPECT_EQ(saved, 3);
}

TEST(RunControl, each_step_command_makes_exactly_one_step) {
    RunControl control;
    control.post(ControlCommand::Pause);
    Loop loop(control);
    ASSERT_TRUE(Loop::soon([&] { return loop.is_waiting(); }));
    EXPECT_EQ(loop.steps(), 0);
    for (int expected = 1; expected <= 5; ++expected) {
        control.post(ControlCommand::Step);
        ASSERT_TRUE(Loop::soon([&] { return loop.steps() == expected && loop.is_waiting(); }));
        std::this_thread::sleep_for(10ms);
        EXPECT_EQ(loop.steps(), expected);
    }
}

TEST(RunControl, step_to_a_running_run_makes_it_wait_after_one_more) {
    RunControl control;
    control.post(ControlCommand::Step);
    EXPECT_EQ(control.at_step_edge({}), RunControl::Next::Go);
    EXPECT_TRUE(control.is_paused());
}

TEST(RunControl, the_wait_hook_frames_the_pause) {
    RunControl control;
    std::vector<std::string> order;
    control.set_wait_hook([&](bool waiting) { order.emplace_back(waiting ? "hook waits" : "hook goes"); });
    control.post(ControlCommand::Pause);
    std::thread other([&] {
        std::this_thread::sleep_for(20ms);
        control.post(ControlCommand::Resume);
    });
    const auto next =
        control.at_step_edge([&](bool paused) { order.emplace_back(paused ? "paused" : "running"); });
    other.join();
    EXPECT_EQ(next, RunControl::Next::Go);
    EXPECT_EQ(order, (std::vector<std::string>{"hook waits", "paused", "running", "hook goes"}));
}

TEST(RunControl, tells_in_which_step_a_command_came) {
    RunControl control;
    EXPECT_EQ(control.asked(ControlCommand::Stop, 300), "");
    control.post(ControlCommand::Pause);
    EXPECT_EQ(control.asked(ControlCommand::Pause, 300), "asked for before its first step");
    control.post(ControlCommand::Resume);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(control.at_step_edge({}), RunControl::Next::Go);  // steps 300, 301, 302 have begun
    control.post(ControlCommand::Stop);
    EXPECT_EQ(control.asked(ControlCommand::Stop, 303), "asked for in step 302");
    RunControl together;  // a loop that decides with other processes
    together.count_step();
    together.post(ControlCommand::Pause);
    together.count_step();
    EXPECT_EQ(together.asked(ControlCommand::Pause, 2), "asked for in step 0");
    together.post(ControlCommand::Step);
    EXPECT_EQ(together.asked(ControlCommand::Pause, 2), "one step was asked for");
}
