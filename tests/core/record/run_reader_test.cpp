#include "record/run_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <thread>

#include "base/clock.h"
#include "record/meta_keys.h"
#include "record/run_summary.h"
#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(RunReaderTest, AFolderWithoutARecordingIsAnErrorWorthARetry) {
    const TemporaryFolder folder;
    EXPECT_THAT(RunReader::open(folder.path()).error().message, HasSubstr("there is no recording at"));
    static_cast<void>(folder.file("run.db", ""));
    EXPECT_THAT(RunReader::open(folder.path()).error().message, HasSubstr("holds no recording yet"));
}

TEST(RunReaderTest, ReturnsOnlyWhatIsNew) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    const auto reader = reader_of(folder.path());
    EXPECT_TRUE(reader->read_new()->empty());
    recorder->step(step_row(0));
    recorder->evaluation({0, "validation", "loss", 1, "fp32", 1});
    ASSERT_TRUE(recorder->flush());
    const auto first = reader->read_new();
    EXPECT_EQ(first->steps.size(), 1u);
    EXPECT_EQ(first->evaluations.size(), 1u);
    EXPECT_TRUE(reader->read_new()->empty());
    recorder->step(step_row(1));
    recorder->state(RunState::Running);
    ASSERT_TRUE(recorder->flush());
    const auto second = reader->read_new();
    ASSERT_EQ(second->steps.size(), 1u);
    EXPECT_EQ(second->steps[0].step, 1);
    EXPECT_EQ(second->states.size(), 1u);
    EXPECT_TRUE(second->evaluations.empty());
}

TEST(RunReaderTest, AmountsOfADamagedFileLeaveRoomForDifferences) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    constexpr std::int64_t most = (std::int64_t{1} << 62) - 1, end = std::numeric_limits<std::int64_t>::max();
    StepRow row = step_row(3);
    row.time_ns = end, row.samples = -end - 1, row.growth_tracker = end, row.step_ns = most;
    recorder->step(row);
    recorder->meta(meta::planned_steps, std::to_string(end));
    ASSERT_TRUE(recorder->flush());
    const auto rows = reader_of(folder.path())->read_new();
    ASSERT_EQ(rows->steps.size(), 1U);
    EXPECT_EQ(rows->steps[0].time_ns, most);
    EXPECT_EQ(rows->steps[0].samples, -most);
    EXPECT_EQ(rows->steps[0].growth_tracker, most);
    EXPECT_EQ(rows->steps[0].step_ns, most);
    EXPECT_EQ(rows->steps[0].step, 3);
    EXPECT_EQ(summarize_run(folder.path())->planned_steps, most);
}

TEST(RunReaderTest, LargestValuesOfNoParameterAreNone) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    recorder->extremes({0, 1, {}, {}, {}});
    ASSERT_TRUE(recorder->flush());
    const auto rows = reader_of(folder.path())->extremes();
    ASSERT_EQ(rows->size(), 1U);
    EXPECT_TRUE(rows->front().gradient.empty());
}

TEST(RunReaderTest, ReadsInPieces) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    for (int step = 0; step < 25; ++step) recorder->step(step_row(step));
    ASSERT_TRUE(recorder->flush());
    const auto reader = reader_of(folder.path());
    EXPECT_EQ(reader->read_new(10)->steps.back().step, 9);
    EXPECT_EQ(reader->read_new(10)->steps.back().step, 19);
    EXPECT_EQ(reader->read_new(10)->steps.size(), 5u);
    EXPECT_TRUE(reader->read_new(10)->empty());
}

TEST(RunReaderTest, FollowsAWriterInAnotherProcess) {
    const TemporaryFolder folder;
    recorder_in(folder.path());  // the tables
    constexpr std::int64_t count = 3'000;
    const pid_t child = ::fork();
    if (child == 0) {
        auto recorder = RunRecorder::open(folder.path());
        if (!recorder) ::_exit(1);
        (*recorder)->state(RunState::Running);
        for (std::int64_t step = 0; step < count; ++step) {
            (*recorder)->step(step_row(step, static_cast<double>(step) / 3));
            if (step % 3 == 0) std::this_thread::sleep_for(1ms);
        }
        (*recorder)->state(RunState::Finished);
        const bool saved = (*recorder)->flush().ok();
        recorder.value().reset();
        ::_exit(saved ? 0 : 1);
    }
    const auto reader = reader_of(folder.path());
    std::int64_t next = 0, pieces = 0;
    RunState state = RunState::Queued;
    const auto start = std::chrono::steady_clock::now();
    std::chrono::nanoseconds longest{0};
    while (state != RunState::Finished) {
        ASSERT_LT(std::chrono::steady_clock::now() - start, 60s);
        const auto before = std::chrono::steady_clock::now();
        const auto rows = reader->read_new();
        longest = std::max(longest, std::chrono::steady_clock::now() - before);
        ASSERT_TRUE(rows) << rows.error().message;
        for (const StepRow& row : rows->steps) {
            ASSERT_EQ(row.step, next);
            ASSERT_EQ(row.loss, static_cast<double>(next) / 3);
            ++next;
        }
        pieces += rows->steps.empty() ? 0 : 1;
        if (!rows->states.empty()) state = rows->states.back().state;
        std::this_thread::sleep_for(20ms);
    }
    EXPECT_EQ(next, count);
    EXPECT_GE(pieces, 5);  // it grew while it was followed
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);  // the reader never stood in the writer's way
    RecordProperty("longest_read_us", static_cast<int>(longest.count() / 1000));
}

TEST(RunReaderTest, AnOpenReaderDoesntStopTheWriterFromEmptyingItsLog) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    const auto reader = reader_of(folder.path());
    for (std::int64_t step = 0; step < 200'000; ++step) {
        recorder->step(step_row(step));
        if (step % 20'000 == 0) {
            ASSERT_TRUE(recorder->flush());
            ASSERT_TRUE(reader->read_new());
        }
    }
    ASSERT_TRUE(recorder->flush());
    // 200,000 rows are 20 MB; the log is moved into run.db every 4 MB.
    EXPECT_LT(std::filesystem::file_size(folder.path() / "run.db-wal"), 16u << 20);
}

TEST(RunReaderTest, StatesOfARun) {
    const TemporaryFolder folder;
    const RunFolder run{folder.path()};
    auto recorder = recorder_in(folder.path());
    const auto reader = reader_of(folder.path());
    EXPECT_EQ(reader->state()->state, RunState::Queued);  // nobody has taken the lock yet
    {
        auto lock = RunLock::take(run);
        ASSERT_TRUE(lock);
        recorder->state(RunState::Running);
        ASSERT_TRUE(recorder->flush());
        EXPECT_EQ(reader->state()->state, RunState::Running);
    }
    EXPECT_EQ(reader->state()->state, RunState::Lost);  // lock free, no end state
    EXPECT_THAT(reader->state()->reason, HasSubstr("without a word"));
    recorder->state(RunState::Lost, "killed by signal 9");  // what the supervisor adds
    ASSERT_TRUE(recorder->flush());
    EXPECT_EQ(reader->state()->reason, "killed by signal 9");
}

TEST(RunReaderTest, ARunWhoseWorkerDiedBeforeItsFirstRowIsLost) {
    const TemporaryFolder folder;
    { ASSERT_TRUE(RunLock::take(RunFolder{folder.path()})); }
    EXPECT_EQ(summarize_run(folder.path())->state, RunState::Lost);
    recorder_in(folder.path());
    EXPECT_EQ(reader_of(folder.path())->state()->state, RunState::Lost);
}

TEST(RunReaderTest, PathsWithSpecialCharactersOpen) {
    const TemporaryFolder folder;
    const auto odd = folder.path() / "50%20 #1? ünï&x=y";
    std::filesystem::create_directory(odd);
    recorder_in(odd)->step(step_row(0));
    EXPECT_EQ(reader_of(odd)->read_new()->steps.size(), 1u);
}

}  // namespace
}  // namespace mantissa
