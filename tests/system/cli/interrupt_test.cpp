// Ctrl-C, SIGTERM, control from a second program, and the death of the program that started a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "program.h"
#include "tests/support/processes.h"

namespace mantissa::system_test {
namespace {

constexpr std::chrono::seconds patience{90};
constexpr const char* long_enough = "500000";  // minutes, for runs that are ended from outside
const std::vector<std::string> endless{"train", "digits-cnn", "--cpu", "--max-steps", long_enough, "--json"};

bool wait_for_steps(const Home& home, long steps) {
    return eventually(patience, [&] { return recorded_steps(home) >= steps; });
}

nlohmann::json only_run(const Home& home) {
    return home.run({"runs", "list", "--json"}).json()["runs"][0];
}

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

TEST(CliInterrupt, ARunInThisProcessIsSavedWhenTheTerminalCloses) {
    const Home home;
    auto arguments = endless;
    arguments.insert(arguments.end(), {"--scope", "thread"});
    Started program(home, arguments);
    ASSERT_TRUE(wait_for_steps(home, 20));
    const auto asked = home.run({"runs", "control", "last", "pause"});
    EXPECT_EQ(asked.code, 0) << asked.err;
    program.send(SIGHUP);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
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
    EXPECT_TRUE(eventually(patience, [&] { return only_run(home)["state"] == "stopped"; }))
        << only_run(home)["state"];
    EXPECT_TRUE(eventually(patience, [&] {
        return home.run({"runs", "show", "last", "--json"}).json()["running"] == false;
    }));
}

/// The worker process of the home's only run, by its command line.
pid_t worker_of(const Home& home) {
    const auto found = test::processes_with(std::string("worker") + '\0' + home.runs().string());
    return found.empty() ? -1 : found.front();
}

TEST(CliInterrupt, ASecondCtrlCKillsAWorkerThatHangs) {
    const Home home;
    Started program(home, endless);
    ASSERT_TRUE(wait_for_steps(home, 20));
    const pid_t worker = worker_of(home);
    ASSERT_GT(worker, 0);
    ASSERT_EQ(::kill(worker, SIGSTOP), 0);  // stands for an operation that never comes back
    program.send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    ASSERT_EQ(::kill(program.pid(), 0), 0) << "it waits for the step to end";
    program.send(SIGINT);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    EXPECT_THAT(outcome.err, testing::HasSubstr("Ctrl-C again kills them"));
    EXPECT_THAT(outcome.err, testing::HasSubstr("\nkilled\n"));
    ASSERT_TRUE(outcome.json().is_object()) << outcome.out;
    EXPECT_GE(outcome.json()["steps"].get<long>(), 20);
    const std::string state = only_run(home)["state"];
    EXPECT_TRUE(state == "lost" || state == "interrupted") << state;
    EXPECT_EQ(home.run({"runs", "show", "last", "--json"}).json()["running"], false);
}

TEST(CliInterrupt, PauseHoldsTheRunAndResumeLetsItGo) {
    const Home home;
    Started program(home, {"train", "digits-cnn", "--cpu", "--max-steps", long_enough});
    ASSERT_TRUE(wait_for_steps(home, 20));
    ASSERT_EQ(home.run({"runs", "control", "last", "pause"}).code, 0);
    ASSERT_TRUE(eventually(patience, [&] { return only_run(home)["state"] == "paused"; }));
    const long held = recorded_steps(home);
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    EXPECT_EQ(recorded_steps(home), held);
    ASSERT_EQ(home.run({"runs", "control", "last", "step"}).code, 0);
    EXPECT_TRUE(eventually(patience, [&] { return recorded_steps(home) == held + 1; }));
    ASSERT_EQ(home.run({"runs", "control", "last", "resume"}).code, 0);
    EXPECT_TRUE(wait_for_steps(home, held + 50));
    const auto refused = home.run({"runs", "control", "last", "explode"});
    EXPECT_EQ(refused.code, 2);
    ASSERT_EQ(home.run({"runs", "control", "last", "stop"}).code, 0);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, testing::HasSubstr("no waits: mantissa runs control "));
    const auto late = home.run({"runs", "control", "last", "pause"});
    EXPECT_NE(late.code, 0);  // nobody is there any more
    EXPECT_FALSE(late.err.empty());
}

}  // namespace
}  // namespace mantissa::system_test
