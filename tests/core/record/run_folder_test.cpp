#include "record/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "record/comparison_record.h"
#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
namespace fs = std::filesystem;

std::vector<std::string> names(const Result<std::vector<RunFolder>>& folders) {
    std::vector<std::string> result;
    if (!folders) {
        ADD_FAILURE() << describe(folders.error());
        return result;
    }
    for (const RunFolder& folder : *folders) result.push_back(folder.path.filename().string());
    return result;
}

TEST(RunFolderTest, ARunsFolderThatCantBeWrittenIsNamed) {
    const TemporaryFolder folder;
    const auto file = folder.file("runs", "a file, not a folder");
    const auto run = create_run_folder(file, "digits", Precision::No);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, ErrorCode::InputOutput);
    EXPECT_THAT(run.error().message, HasSubstr(file.string()));
    EXPECT_THAT(run.error().hint, HasSubstr("--runs-dir"));
    const int status = in_child([&] {
        fs::permissions(folder.path(), fs::perms(0555));
        if (::getuid() == 0 && ::setuid(65534) != 0) return 1;
        const auto made = create_run_folder(folder.path() / "mine", "digits", Precision::No);
        const auto lock = RunLock::take(RunFolder{folder.path()});
        return !made && made.error().message.find("Permission denied") != std::string::npos && !lock ? 0 : 2;
    });
    EXPECT_EQ(status, 0);
    fs::permissions(folder.path(), fs::perms(0755));
}

TEST(RunFolderTest, NamesAreSafeAndUnique) {
    const TemporaryFolder folder;
    const auto first = create_run_folder(folder.path() / "a" / "runs", "digits-mlp", Precision::Fp16);
    ASSERT_TRUE(first);
    EXPECT_THAT(first->path.filename().string(), MatchesRegex("[0-9]{8}-[0-9]{6}-digits-mlp-fp16"));
    EXPECT_TRUE(fs::is_directory(first->path));
    EXPECT_EQ(folder_name_part("../../etc/passwd"), "..-..-etc-passwd");
    EXPECT_EQ(folder_name_part("  a  b\n"), "a-b");
    EXPECT_EQ(folder_name_part("///"), "run");
    EXPECT_EQ(folder_name_part("数字"), "数字");
    std::string longest;
    for (int letter = 0; letter < 40; ++letter) longest += "数";  // 3 bytes each
    EXPECT_EQ(folder_name_part(longest), longest.substr(0, 60));
    EXPECT_EQ(folder_name_part("x" + longest), "x" + longest.substr(0, 57));  // not in the middle of a letter
    EXPECT_EQ(create_unique_folder(folder.path(), "same")->filename(), "same");
    EXPECT_EQ(create_unique_folder(folder.path(), "same")->filename(), "same-2");
    EXPECT_EQ(create_unique_folder(folder.path(), "same")->filename(), "same-3");
}

TEST(RunFolderTest, ListsRunsNewestFirstAndNothingElse) {
    const TemporaryFolder folder;
    EXPECT_TRUE(names(list_run_folders(folder.path() / "none")).empty());
    for (const char* name : {"20261130-120000-b-no", "20261130-120001-a-no", "20251130-235959-z-fp16",
                             "20261130-120000-b-no-2", "comparisons", "notes", "2026113-120000-short"}) {
        fs::create_directories(folder.path() / name);
    }
    static_cast<void>(folder.file("20271130-120000-a-file", ""));
    fs::create_directory(folder.path() / "renamed");
    recorder_in(folder.path() / "renamed");
    EXPECT_THAT(names(list_run_folders(folder.path())),
                ElementsAre("renamed", "20261130-120001-a-no", "20261130-120000-b-no-2",
                            "20261130-120000-b-no", "20251130-235959-z-fp16"));
    const auto file = folder.file("plain", "");
    EXPECT_THAT(list_run_folders(file).error().message, HasSubstr(file.string() + " can't be read"));
}

TEST(RunFolderTest, RunsOfTheSameSecondStandInTheOrderInWhichTheyWereMade) {
    const TemporaryFolder folder;
    const auto now = fs::file_time_type::clock::now();
    const std::vector<std::string> made{"20261130-120000-z-no", "20261130-120000-a-no", "20261130-120000-m-no"};
    for (std::size_t i = 0; i < made.size(); ++i) {
        fs::create_directories(folder.path() / made[i]);
        const auto plan = folder.file(made[i] + "/plan.json", "{}");
        fs::last_write_time(plan, now + std::chrono::milliseconds(i));
    }
    EXPECT_THAT(names(list_run_folders(folder.path())), ElementsAre(made[2], made[1], made[0]));
}

TEST(RunFolderTest, ListsComparisonsNewestFirst) {
    const TemporaryFolder folder;
    EXPECT_TRUE(list_comparisons(folder.path())->empty());
    const auto id = create_comparison_folder(folder.path(), "digits cnn");
    ASSERT_TRUE(id);
    EXPECT_THAT(*id, MatchesRegex("[0-9]{8}-[0-9]{6}-digits-cnn"));
    EXPECT_TRUE(list_comparisons(folder.path())->empty());  // nothing written yet
    ASSERT_TRUE(write_comparison(comparison_folder(folder.path(), *id), {}));
    fs::create_directory(comparison_folder(folder.path(), "20200101-000000-old"));
    ASSERT_TRUE(write_comparison(comparison_folder(folder.path(), "20200101-000000-old"), {}));
    EXPECT_THAT(*list_comparisons(folder.path()), ElementsAre(*id, "20200101-000000-old"));
}

TEST(RunLockTest, OneHolderAtATimeFreedByItsDeath) {
    const TemporaryFolder folder;
    const RunFolder run{folder.path()};
    EXPECT_TRUE(RunLock::is_free(run));
    EXPECT_FALSE(RunLock::was_ever_taken(run));
    auto lock = RunLock::take(run);
    ASSERT_TRUE(lock);
    EXPECT_FALSE(RunLock::is_free(run));
    const auto second = RunLock::take(run);
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("is already running in another process"));
    {
        RunLock moved = std::move(*lock);
        EXPECT_FALSE(RunLock::is_free(run));
    }
    EXPECT_TRUE(RunLock::is_free(run));
    EXPECT_TRUE(RunLock::was_ever_taken(run));

    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto held = RunLock::take(run);
        if (::write(ready[1], held ? "1" : "0", 1) != 1) ::_exit(1);
        ::pause();
    }
    char answer = 0;
    ASSERT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, '1');
    EXPECT_FALSE(RunLock::is_free(run));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(RunLock::is_free(run));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST(RunLockTest, AskingWhetherItIsFreeNeverStopsAWorkerFromTakingIt) {
    const TemporaryFolder folder;
    const RunFolder run{folder.path()};
    { ASSERT_TRUE(RunLock::take(run)); }
    std::atomic<bool> done{false};
    std::vector<std::thread> askers;
    for (int asker = 0; asker < 3; ++asker) {
        askers.emplace_back([&] {
            while (!done) {
                static_cast<void>(RunLock::is_free(run));
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
        });
    }
    int failures = 0;
    for (int attempt = 0; attempt < 200; ++attempt) failures += RunLock::take(run) ? 0 : 1;
    done = true;
    for (std::thread& asker : askers) asker.join();
    EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace mantissa
