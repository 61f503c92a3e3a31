// A file size limit stands for a full disk: writes fail in the same place, and no mount is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>

#include "record/run_summary.h"
#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;
using ::testing::HasSubstr;

int record_until_full(const std::filesystem::path& folder, rlim_t limit) {
    const rlimit size{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &size);
    auto opened = RunRecorder::open(folder);
    if (!opened) {
        std::ofstream(folder / "message") << describe(opened.error());
        return 2;
    }
    auto recorder = std::move(opened).value();
    recorder->state(RunState::Running);
    for (std::int64_t step = 0; !recorder->error(); ++step) {
        recorder->step(step_row(step));
        if (step % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (step > 1'000'000) return 3;
    }
    const auto flushed = recorder->flush();
    if (flushed) return 4;
    std::ofstream(folder / "message") << describe(*recorder->error());
    recorder->state(RunState::Failed, recorder->error()->message);
    return 0;
}

TEST(FullDiskTest, TheSentenceNamesTheFileAndWhatIsSavedAndTheEndIsRecorded) {
    const TemporaryFolder folder;
    ASSERT_EQ(in_child([&] { return record_until_full(folder.path(), 400'000); }), 0);
    const std::string message = content_of(folder.path() / "message");
    const auto reader = reader_of(folder.path());
    const auto rows = reader->read_new();
    ASSERT_TRUE(rows);
    const std::size_t saved = rows->steps.size();
    ASSERT_GT(saved, 500u);
    for (std::size_t step = 0; step < saved; ++step)
        ASSERT_EQ(rows->steps[step].step, static_cast<std::int64_t>(step));
    EXPECT_THAT(message, HasSubstr("the file size limit is reached while writing " +
                                   (folder.path() / "run.db").string()));
    EXPECT_THAT(message, HasSubstr("the last is step " + std::to_string(saved - 1)));
    EXPECT_EQ(reader->state()->state, RunState::Failed);
    EXPECT_EQ(summarize_run(folder.path())->state, RunState::Failed);
}

TEST(FullDiskTest, WithoutRoomForTheTablesOpeningFailsWithASentence) {
    const TemporaryFolder folder;
    ASSERT_EQ(in_child([&] { return record_until_full(folder.path(), 2'000); }), 2);
    EXPECT_THAT(content_of(folder.path() / "message"), HasSubstr((folder.path() / "run.db").string()));
}

}  // namespace
}  // namespace mantissa
