// Recordings in places that can't be written: as on a read-only medium, or in somebody else's home.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <set>

#include "record/run_summary.h"
#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;
namespace fs = std::filesystem;

class ReadOnlyTest : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::permissions(m_folder.path(), fs::perms(0755));
        m_run = m_folder.path() / "run";
        fs::create_directory(m_run);
        // Copies of logs go here, where this test alone looks for what is left.
        fs::create_directory(m_folder.path() / "tmp");
        fs::permissions(m_folder.path() / "tmp", fs::perms(0777));
        if (const char* before = ::getenv("TMPDIR")) m_before = before;
        ::setenv("TMPDIR", (m_folder.path() / "tmp").c_str(), 1);
    }
    void TearDown() override {
        fs::permissions(m_run, fs::perms(0755));
        if (m_before.empty()) {
            ::unsetenv("TMPDIR");
        } else {
            ::setenv("TMPDIR", m_before.c_str(), 1);
        }
    }

    /// A killed writer: log and shared memory are left behind.
    void write_and_die(std::int64_t steps) {
        const int status = in_child([&] {
            auto recorder = RunRecorder::open(m_run);
            if (!recorder) return 1;
            for (std::int64_t step = 0; step < steps; ++step) (*recorder)->step(step_row(step));
            if (!(*recorder)->flush()) return 2;
            ::kill(::getpid(), SIGKILL);
            return 3;
        });
        ASSERT_EQ(status, 128 + SIGKILL);
        ASSERT_GT(fs::file_size(m_run / "run.db-wal"), 0u);
    }
    void forbid_writing() {
        for (const auto& entry : fs::directory_iterator(m_run))
            fs::permissions(entry.path(), fs::perms(0444));
        fs::permissions(m_run, fs::perms(0555));
    }
    /// Steps that somebody without the right to write sees, or an exit code of 200 and above.
    int steps_seen_by_another_user() {
        return in_child([&] {
            if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 200;
            if (::access(m_run.c_str(), W_OK) == 0) return 201;
            auto reader = RunReader::open(m_run);
            if (!reader) {
                ADD_FAILURE() << describe(reader.error());
                return 202;
            }
            const auto rows = (*reader)->read_new();
            if (!rows || !(*reader)->meta() || !(*reader)->state()) return 203;
            return static_cast<int>(rows->steps.size());
        });
    }
    std::set<std::string> files() {
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(m_run))
            names.insert(entry.path().filename().string());
        return names;
    }

    TemporaryFolder m_folder;
    fs::path m_run;
    std::string m_before;  // TMPDIR
};

TEST_F(ReadOnlyTest, AFinishedRecording) {
    {
        auto recorder = recorder_in(m_run);
        for (int row = 0; row < 20; ++row) recorder->step(step_row(row));
    }
    const auto before = files();
    ASSERT_FALSE(before.contains("run.db-wal"));
    forbid_writing();
    EXPECT_EQ(steps_seen_by_another_user(), 20);
    EXPECT_EQ(files(), before);
}

TEST_F(ReadOnlyTest, ALostRunWithItsLog) {
    write_and_die(30);
    forbid_writing();
    EXPECT_EQ(steps_seen_by_another_user(), 30);
}

TEST_F(ReadOnlyTest, ALostRunWithItsLogButWithoutSharedMemory) {
    write_and_die(40);
    fs::remove(m_run / "run.db-shm");
    forbid_writing();
    EXPECT_EQ(steps_seen_by_another_user(), 40);
    EXPECT_FALSE(files().contains("run.db-shm"));
    EXPECT_TRUE(fs::is_empty(m_folder.path() / "tmp")) << "a copy was left behind";
}

TEST_F(ReadOnlyTest, ALiveWriterOfAnotherUser) {
    auto recorder = recorder_in(m_run);
    for (int row = 0; row < 50; ++row) recorder->step(step_row(row));
    ASSERT_TRUE(recorder->flush());
    forbid_writing();
    EXPECT_EQ(steps_seen_by_another_user(), 50);
    recorder->step(step_row(50));
    ASSERT_TRUE(recorder->flush());
    EXPECT_EQ(steps_seen_by_another_user(), 51);
}

TEST_F(ReadOnlyTest, ASnapshotIsTakenAnewWhenTheFileChanges) {
    write_and_die(10);
    fs::remove(m_run / "run.db-shm");
    forbid_writing();
    int to_child[2], to_parent[2];
    ASSERT_EQ(::pipe(to_child), 0);
    ASSERT_EQ(::pipe(to_parent), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(200);
        auto reader = RunReader::open(m_run);
        if (!reader || (*reader)->read_new()->steps.size() != 10) ::_exit(201);
        char go = 0;
        if (::write(to_parent[1], "1", 1) != 1 || ::read(to_child[0], &go, 1) != 1) ::_exit(202);
        const auto rows = (*reader)->read_new();
        const int status = rows ? static_cast<int>(rows->steps.size()) : 203;
        reader.value().reset();
        ::_exit(status);
    }
    char ready = 0;
    ASSERT_EQ(::read(to_parent[0], &ready, 1), 1);
    fs::permissions(m_run, fs::perms(0755));
    for (const auto& entry : fs::directory_iterator(m_run)) fs::permissions(entry.path(), fs::perms(0644));
    {
        auto recorder = recorder_in(m_run);
        for (int row = 10; row < 17; ++row) recorder->step(step_row(row));
    }
    forbid_writing();
    ASSERT_EQ(::write(to_child[1], "1", 1), 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    for (const int end : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) ::close(end);
}

TEST_F(ReadOnlyTest, SummariesWorkThereToo) {
    write_and_die(30);
    forbid_writing();
    const int steps = in_child([&] {
        if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 200;
        const auto summary = summarize_run(m_run);
        return summary ? static_cast<int>(summary->steps) : 201;
    });
    EXPECT_EQ(steps, 30);
}

}  // namespace
}  // namespace mantissa
