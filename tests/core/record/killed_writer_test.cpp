// A worker may die at any moment: all rows older than a second are there (design: nothing lost), and the run
// is Lost.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>
#include <thread>

#include "base/clock.h"
#include "record/run_summary.h"
#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;
using namespace std::chrono_literals;

constexpr std::int64_t most_steps = 200'000;

struct Shared {  // what the worker had pushed, seen from outside
    std::atomic<std::int64_t> pushed{0};
    std::int64_t time_ns[most_steps];
};

[[noreturn]] void work(const std::filesystem::path& folder, Shared& shared) {
    auto lock = RunLock::take(RunFolder{folder});
    auto recorder = RunRecorder::open(folder);
    if (!lock || !recorder) ::_exit(1);
    (*recorder)->state(RunState::Running);
    for (std::int64_t step = 0; step < most_steps; ++step) {
        (*recorder)->step(step_row(step));
        shared.time_ns[step] = monotonic_ns();
        shared.pushed = step + 1;
        std::this_thread::sleep_for(
            1ms);  // slow enough that only time, not the number of rows, starts a write
    }
    ::_exit(2);
}

void kill_after(std::chrono::milliseconds time) {
    const TemporaryFolder folder;
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    Shared& shared = *new (memory) Shared;
    const pid_t child = ::fork();
    if (child == 0) work(folder.path(), shared);
    while (shared.pushed == 0) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(time);
    ::kill(child, SIGKILL);
    const std::int64_t killed = monotonic_ns();
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));

    const auto reader = reader_of(folder.path());
    const auto state = reader->state();
    const std::int64_t verdict = monotonic_ns();
    ASSERT_TRUE(state);
    EXPECT_EQ(state->state, RunState::Lost);
    EXPECT_LT(verdict - killed, 1'000'000'000);
    const auto rows = reader->read_new();
    ASSERT_TRUE(rows);
    const auto saved = static_cast<std::int64_t>(rows->steps.size());
    for (std::int64_t step = 0; step < saved; ++step)
        ASSERT_EQ(rows->steps[static_cast<std::size_t>(step)].step, step);
    const std::int64_t pushed = shared.pushed;
    if (saved < pushed) {
        EXPECT_LT(killed - shared.time_ns[saved], 1'000'000'000) << "an older row is missing";
    }
    std::printf(
        "killed after %lld ms: %lld rows pushed, %lld lost, the oldest of them %.0f ms old, lost state seen "
        "after %.1f ms\n",
        static_cast<long long>(time.count()), static_cast<long long>(pushed),
        static_cast<long long>(pushed - saved),
        saved < pushed ? static_cast<double>(killed - shared.time_ns[saved]) / 1e6 : 0.0,
        static_cast<double>(verdict - killed) / 1e6);
    const auto summary = summarize_run(folder.path());
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->state, RunState::Lost);
    EXPECT_EQ(summary->steps, saved);
    ::munmap(memory, sizeof(Shared));
}

TEST(KilledWriterTest, AtRandomMomentsNoRowOlderThanASecondIsLost) {
    std::mt19937 random(7);
    for (int moment = 0; moment < 4; ++moment) kill_after(std::chrono::milliseconds(1200 + random() % 1200));
}

TEST(KilledWriterTest, SoonAfterItsFirstRowTheRunIsLostAndReadable) {
    for (const auto time : {0ms, 40ms, 130ms}) kill_after(time);
}

}  // namespace
}  // namespace mantissa
