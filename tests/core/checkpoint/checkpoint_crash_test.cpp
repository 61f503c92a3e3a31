// A save that dies, at whatever point, leaves the former checkpoints whole and no half one; a full disk is a sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "tests/core/checkpoint/checkpoint_maker.h"
#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;
using mantissa::testing::content_of;
using mantissa::testing::small_checkpoint;
using mantissa::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A child has none of its parent's OpenMP threads, and would wait for them.
template <typename Body>
pid_t start_child(Body&& body) {
    at::set_num_threads(1);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    return child;
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

TEST(CheckpointCrashTest, AKillAtAnyTimeLeavesWholeCheckpointsOnly) {
    at::set_num_threads(1);
    const TemporaryFolder folder;
    ASSERT_TRUE(write_checkpoint(checkpoint_path(folder.path(), 0), small_checkpoint(0, 200'000)));
    int in_the_middle = 0;
    std::int64_t next = 1;
    for (int turn = 0; turn < 24; ++turn) {
        const pid_t child = start_child([&] {
            for (std::int64_t number = next;; ++number) {
                if (!write_checkpoint(checkpoint_path(folder.path(), number), small_checkpoint(number, 200'000))) return 1;
                if (!remove_old_checkpoints(folder.path(), 2)) return 2;
            }
        });
        std::this_thread::sleep_for(std::chrono::microseconds(3'000 + 4'321 * turn));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
        for (const std::string& name : names_in(folder.path())) in_the_middle += name.starts_with(".");
        const auto numbers = checkpoint_numbers(folder.path());
        ASSERT_FALSE(numbers.empty());
        for (const std::int64_t number : numbers) {
            const auto read = read_checkpoint(checkpoint_path(folder.path(), number));
            ASSERT_TRUE(read) << read.error().message;
            EXPECT_EQ(read->step, number);
            EXPECT_EQ(read->models.at(0).at(0).second[7].item<double>(), static_cast<double>(number));
        }
        next = numbers.back() + 1;
    }
    EXPECT_GT(in_the_middle, 5);  // the kills did come within saves
    std::cout << "kills within a save: " << in_the_middle << " of 24\n";
    ASSERT_TRUE(write_checkpoint(checkpoint_path(folder.path(), next), small_checkpoint(next)));
    for (const std::string& name : names_in(folder.path())) EXPECT_FALSE(name.starts_with(".")) << name << " was left";
}

TEST(CheckpointCrashTest, AFullDiskIsASentenceAndLeavesNothing) {
    const TemporaryFolder folder;
    ASSERT_TRUE(write_checkpoint(checkpoint_path(folder.path(), 0), small_checkpoint(0)));
    const pid_t child = start_child([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit size{50'000, 50'000};
        ::setrlimit(RLIMIT_FSIZE, &size);
        const auto written = write_checkpoint(checkpoint_path(folder.path(), 1), small_checkpoint(1, 200'000));
        if (written) return 1;
        std::ofstream(folder.path() / "message") << written.error().message;
        return 0;
    });
    int status = -1;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    EXPECT_THAT(content_of(folder.path() / "message"), HasSubstr("model.safetensors can't be written: File too large"));
    EXPECT_THAT(names_in(folder.path()), ElementsAre("checkpoint_0", "message"));
    EXPECT_TRUE(read_checkpoint(checkpoint_path(folder.path(), 0)));
}

TEST(CheckpointCrashTest, WhatALivingProcessIsWritingStays) {
    const TemporaryFolder folder;
    auto writer = CheckpointWriter::begin(checkpoint_path(folder.path(), 4));
    ASSERT_TRUE(writer);
    ASSERT_TRUE(write_checkpoint(checkpoint_path(folder.path(), 5), small_checkpoint()));
    EXPECT_TRUE(fs::exists(writer->folder()));
    EXPECT_THAT(checkpoint_numbers(folder.path()), ElementsAre(5));
}

TEST(CheckpointCrashTest, AFolderThatCannotBeMadeIsNamed) {
    const TemporaryFolder folder;
    const fs::path file = folder.file("file", "");
    const auto written = write_checkpoint(file / "checkpoint_0", small_checkpoint());
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().message, HasSubstr(file.string() + " can't be made"));
}

}  // namespace
}  // namespace mantissa
