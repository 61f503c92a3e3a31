#pragma once
// The real `mantissa` as a child process, with a runs folder of its own.
#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "record/rows.h"
#include "record/run_reader.h"

namespace mantissa::test {

namespace fs = std::filesystem;

class ProgramTest : public ::testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;

    /// Starts `mantissa <words> --runs-dir …`; standard output and error go to files.
    void start(std::vector<std::string> words);
    [[nodiscard]] pid_t program() const { return m_program; }
    /// Exit code; 128 + signal when it was killed.
    int wait();
    [[nodiscard]] std::string output() const;
    [[nodiscard]] std::string errors() const;
    [[nodiscard]] const fs::path& folder() const { return m_folder; }
    [[nodiscard]] fs::path runs() const { return m_folder / "runs"; }

    /// The comparison's folder and the run folder of a mode, once they are there.
    [[nodiscard]] fs::path comparison() const;
    [[nodiscard]] fs::path run_of(const std::string& mode) const;
    static RunRows rows(const fs::path& run);
    static std::int64_t steps(const fs::path& run) {
        return static_cast<std::int64_t>(rows(run).steps.size());
    }
    static pid_t worker_of(const fs::path& run);
    static bool within(std::chrono::milliseconds limit, const std::function<bool()>& condition);
    static bool soon(const std::function<bool()>& condition) {
        return within(std::chrono::seconds(60), condition);
    }

  private:
    fs::path m_folder;
    pid_t m_program = -1;
};

}  // namespace mantissa::test
