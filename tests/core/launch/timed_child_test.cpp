// One timed child for trials and replays: its end is told once, its limit kills it, and so does its owner's end.
#include "launch/timed_child.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "base/work_folder.h"

namespace mantissa::test {
namespace {

using ::testing::HasSubstr;

SpawnRequest shell(const std::string& words) {
    SpawnRequest request;
    request.program = "/bin/sh";
    request.arguments = {"-c", words};
    return request;
}

TimedChild::End end_of(TimedChild& child) {
    for (int i = 0; i < 3000; ++i) {
        if (const auto end = child.poll()) return *end;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "it doesn't end";
    return {};
}

TEST(TimedChild, TellsItsEndOnce) {
    auto child = TimedChild::start(shell("exit 3"), std::chrono::seconds(60));
    ASSERT_TRUE(child) << describe(child.error());
    const auto end = end_of(*child);
    ASSERT_TRUE(end.wait_status);
    EXPECT_EQ(WEXITSTATUS(*end.wait_status), 3);
    EXPECT_FALSE(end.is_timed_out);
    EXPECT_EQ(child->sentence("the trial of no", end), "the trial of no gave no answer: its process was ended with exit code 3");
    EXPECT_FALSE(child->poll()) << "the number may belong to somebody else by now";
    EXPECT_FALSE(TimedChild().poll());
    EXPECT_FALSE(TimedChild::start({"/no/such/program", {}, {}, {}, {}, false}, std::chrono::seconds(1)));
}

TEST(TimedChild, IsKilledAtItsLimit) {
    auto child = TimedChild::start(shell("exec sleep 100"), std::chrono::seconds(0));
    ASSERT_TRUE(child) << describe(child.error());
    const auto end = end_of(*child);
    EXPECT_TRUE(end.is_timed_out);
    ASSERT_TRUE(end.wait_status);
    EXPECT_EQ(WTERMSIG(*end.wait_status), SIGKILL);
    EXPECT_THAT(child->sentence("the replay of no", end), HasSubstr("did not end within 0 s and was killed"));
}

TEST(TimedChild, EndsWithItsOwnerAlsoWhenItWasMoved) {
    const auto folder = WorkFolder::make("timed");
    ASSERT_TRUE(folder);
    const auto file = folder->path() / "pid";
    pid_t pid = 0;
    {
        auto child = TimedChild::start(shell("echo $$ > '" + file.string() + "'; exec sleep 100"), std::chrono::seconds(60));
        ASSERT_TRUE(child) << describe(child.error());
        TimedChild owner;
        owner = std::move(*child);
        for (int i = 0; i < 3000 && pid == 0; ++i) {
            std::ifstream(file) >> pid;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        ASSERT_GT(pid, 0);
        EXPECT_FALSE(owner.poll());
        EXPECT_EQ(::kill(pid, 0), 0);
    }
    EXPECT_NE(::kill(pid, 0), 0) << "reaped";
}

}  // namespace
}  // namespace mantissa::test
