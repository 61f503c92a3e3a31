#include "base/file_stamp.h"
#include "base/files.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "base/paths.h"

namespace mantissa {
namespace {
namespace fs = std::filesystem;

class Files : public testing::Test {
  protected:
    void SetUp() override {
        m_folder = fs::path(testing::TempDir()) / ("files-" + std::to_string(::getpid()));
        ASSERT_TRUE(make_folders(m_folder).ok());
    }
    void TearDown() override { fs::remove_all(m_folder); }
    fs::path m_folder;
};

TEST_F(Files, WritesBesideAndRenames) {
    const fs::path file = m_folder / "plan.json";
    ASSERT_TRUE(write_file_atomically(file, "one").ok());
    ASSERT_TRUE(write_file_atomically(file, "two").ok());
    EXPECT_EQ(read_file(file).value(), "two");
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), fs::directory_iterator()), 1);
}

TEST_F(Files, AFolderIsSyncedAndOneThatIsNotThereIsNamed) {
    EXPECT_TRUE(sync_folder(m_folder).ok());
    const Result<void> missing = sync_folder(m_folder / "gone");
    ASSERT_FALSE(missing.ok());
    EXPECT_NE(missing.error().message.find("gone can't be synced: No such file"), std::string::npos);
}

TEST_F(Files, AFullDiskLeavesTheOldContent) {
    const fs::path file = m_folder / "plan.json";
    ASSERT_TRUE(write_file_atomically(file, "old").ok());
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1024, 1024};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const Result<void> written = write_file_atomically(file, std::string(4096, 'x'));
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, ErrorCode::InputOutput);
    EXPECT_NE(written.error().message.find("plan.json can't be written: File too large"), std::string::npos);
    EXPECT_EQ(read_file(file).value(), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), fs::directory_iterator()), 1);
}

TEST_F(Files, ErrorsNameTheFile) {
    EXPECT_NE(read_file(m_folder / "absent").error().message.find("absent can't be read: No such file"), std::string::npos);
    EXPECT_NE(read_file(m_folder).error().message.find("Is a directory"), std::string::npos);
    std::ofstream(m_folder / "large") << std::string(100, 'x');
    EXPECT_NE(read_file(m_folder / "large", 99).error().message.find("larger than the 99 bytes"), std::string::npos);
    EXPECT_TRUE(read_file(m_folder / "large", 100).ok());
}

TEST(Paths, ArgumentThenEnvironmentThenXdg) {
    ::setenv("MANTISSA_RUNS_DIR", "/srv/runs", 1);
    ::setenv("XDG_DATA_HOME", "/data", 1);
    EXPECT_EQ(runs_folder("/mine"), "/mine");
    EXPECT_EQ(runs_folder(), "/srv/runs");
    ::unsetenv("MANTISSA_RUNS_DIR");
    EXPECT_EQ(runs_folder(), "/data/mantissa/runs");
    ::unsetenv("XDG_DATA_HOME");
    ::setenv("HOME", "/home/someone", 1);
    EXPECT_EQ(runs_folder(), "/home/someone/.local/share/mantissa/runs");
}

TEST(FileStamp, TwoRenamesWithinOneTickAreTwoFiles) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / ("mantissa-stamp-" + std::to_string(::getpid()));
    EXPECT_FALSE(file_stamp(file).has_value());
    std::optional<FileStamp> before;
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(write_file_atomically(file, i % 2 == 0 ? "even" : "odd!").ok());
        const auto now = file_stamp(file);
        ASSERT_TRUE(now.has_value());
        EXPECT_EQ(now, file_stamp(file));
        EXPECT_NE(now, before) << i;
        before = now;
    }
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace mantissa
