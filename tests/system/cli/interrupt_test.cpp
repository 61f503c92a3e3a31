// Ctrl-C, SIGTERM, control from a second program, and the death of the program that started a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "program.h"

namespace mantissa::system_test {
namespace {

constexpr std::chrono::seconds patience{90};
constexpr const char* long_enough = "500000";  // minutes, for runs that are ended from outside
const std::vector<std::string> endless{"train", "digits-cnn", "--cpu", "--max-steps", long_enough, "--json"};

bool wait_for_steps(const Home& home, long steps) {
    return eventually(patience, [&] { return recorded_steps(home) >= steps; });
}

nlohmann::json only_run(const Home& home) { return home.run({"runs", "list", "--json"}).json()["runs"][0]; }

TEST(CliInterrupt, CtrlCEndsTheRunCleanly) {
    const Home home;
    Started program(home, endless);
    ASSERT_TRUE(wait_for_steps(home, 20));
    program.send(SIGINT);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    const auto run = outcome.json();
    ASSERT_TRUE(run.is_object()) << outcome.out;
    EXPECT_EQ(run["state"], "interrupted");
    EXPECT_GE(run["steps"].get<long>(), 20);
    EXPECT_EQ(only_run(home)["state"], "interrupted");
}

TEST(CliInterrupt, CtrlCEndsAComparison) {
    const Home home;
    Started program(home, {"compare", "digits-cnn", "--cpu", "--max-steps", long_enough, "--json"});
    ASSERT_TRUE(wait_for_steps(home, 20));
    program.send(SIGINT);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    ASSERT_TRUE(outcome.json().is_object()) << outcome.out;
    for (const auto& run : outcome.json()["runs"]) EXPECT_EQ(run["state"], "interrupted");
}

TEST(CliInterrupt, CtrlCInScopeThread) {
    const Home home;
    auto arguments = endless;
    arguments.insert(arguments.end(), {"--scope", "thread"});
    Started program(home, arguments);
    ASSERT_TRUE(wait_for_steps(home, 20));
    program.send(SIGINT);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    ASSERT_TRUE(outcome.json().is_object()) << outcome.out;
    EXPECT_EQ(outcome.json()["state"], "interrupted");
}

TEST(CliInterrupt, SigtermStopsAndIsSuccess) {
    const Home home;
    Started program(home, endless);
    ASSERT_TRUE(wait_for_steps(home, 20));
    program.send(SIGTERM);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    ASSERT_TRUE(outcome.json().is_object()) << outcome.out;
    EXPECT_EQ(outcome.json()["state"], "stopped");
}

TEST(CliInterrupt, TheRunOutlivesTheProgramThatStartedItAndCanBeStoppedByAnother) {
    const Home home;
    {
        Started program(home, endless);
        ASSERT_TRUE(wait_for_steps(home, 20));
        program.send(SIGKILL);
        EXPECT_EQ(program.wait(patience).code, 128 + SIGKILL);
    }
    const long before = recorded_steps(home);
    ASSERT_TRUE(wait_for_steps(home, before + 50));
    EXPECT_EQ(home.run({"runs", "show", "last", "--json"}).json()["running"], true);
    const auto stopped = home.run({"runs", "control", "last", "stop"});
    EXPECT_EQ(stopped.code, 0) << stopped.err;
    EXPECT_TRUE(eventually(patience, [&] { return only_run(home)["state"] == "stopped"; })) << only_run(home)["state"];
    EXPECT_TRUE(eventually(patience, [&] { return home.run({"runs", "show", "last", "--json"}).json()["running"] == false; }));
}

TEST(CliInterrupt, PauseHoldsTheRunAndResumeLetsItGo) {
    const Home home;
    Started program(home, {"train", "digits-cnn", "--cpu", "--max-steps", long_enough});
    ASSERT_TRUE(wait_for_steps(home, 20));
    program.send(SIGKILL);  // the first controller; the next one gets the control
    ASSERT_EQ(program.wait(patience).code, 128 + SIGKILL);
    ASSERT_EQ(home.run({"runs", "control", "last", "pause"}).code, 0);
    ASSERT_TRUE(eventually(patience, [&] { return only_run(home)["state"] == "paused"; }));
    const long held = recorded_steps(home);
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    EXPECT_EQ(recorded_steps(home), held);
    ASSERT_EQ(home.run({"runs", "control", "last", "step"}).code, 0);
    EXPECT_TRUE(eventually(patience, [&] { return recorded_steps(home) == held + 1; }));
    ASSERT_EQ(home.run({"runs", "control", "last", "resume"}).code, 0);
    EXPECT_TRUE(wait_for_steps(home, held + 50));
    ASSERT_EQ(home.run({"runs", "control", "last", "stop"}).code, 0);
    EXPECT_TRUE(eventually(patience, [&] { return home.run({"runs", "show", "last", "--json"}).json()["running"] == false; }));
}

}  // namespace
}  // namespace mantissa::system_test
