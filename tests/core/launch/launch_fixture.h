#pragma once
// A runs folder of its own, the fake program and the fake engine.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "../../support/processes.h"
#include "launch/job.h"
#include "launch/run_lookup.h"
#include "launch/supervisor.h"
#include "plan/plan_sources.h"
#include "record/comparison_record.h"
#include "record/run_reader.h"

namespace mantissa::test {

namespace fs = std::filesystem;

class LaunchTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "mantissa-launch-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        m_folder = name;
        ::setenv("MANTISSA_PROGRAM", FAKE_MANTISSA, 1);
        ::setenv("MANTISSA_ENGINE", FAKE_FOLDER "/fake_engine.so", 1);
        fs::create_directory(m_folder / "runtime");
        ::setenv("XDG_RUNTIME_DIR", (m_folder / "runtime").c_str(), 1);
    }
    void TearDown() override {
        // What a failed test left running ends with it.
        for (const pid_t pid : m_supervisors) ::kill(pid, SIGTERM);
        std::error_code ignored;
        fs::remove_all(m_folder, ignored);
    }

    [[nodiscard]] fs::path runs() const { return m_folder / "runs"; }
    [[nodiscard]] const fs::path& folder() const { return m_folder; }

    static SourcedPlan plan(const std::string& words, std::vector<Precision> modes = {
                                                          Precision::No, Precision::Fp16, Precision::Bf16}) {
        SourcedPlan sourced;
        sourced.plan.name = words;
        sourced.plan.device = "cpu";
        sourced.plan.modes = std::move(modes);
        return sourced;
    }

    SupervisorHandle start(JobKind kind, const SourcedPlan& sourced) {
        auto job = prepare_job(kind, sourced, runs());
        EXPECT_TRUE(job) << describe(job.error());
        m_run_folders.clear();
        for (const auto& run : job->runs) m_run_folders.push_back(run.folder.path);
        auto handle = start_supervisor(std::move(*job));
        EXPECT_TRUE(handle) << describe(handle.error());
        m_supervisors.push_back(handle->pid());
        return *handle;
    }
    SupervisorHandle compare(const std::string& words, ComparisonOrder order = ComparisonOrder::Turns) {
        SourcedPlan sourced = plan(words);
        sourced.plan.launch.order = order;
        return start(JobKind::Comparison, sourced);
    }

    [[nodiscard]] const fs::path& run_folder(std::size_t i) const { return m_run_folders.at(i); }
    [[nodiscard]] RunOutcome outcome(std::size_t i) const {
        const auto result = read_run_outcome(run_folder(i));
        EXPECT_TRUE(result) << describe(result.error());
        return result ? *result : RunOutcome{};
    }
    static RunRows rows(const fs::path& run) {
        auto reader = RunReader::open(run);
        if (!reader) return {};
        auto all = (*reader)->read_new();
        return all ? std::move(*all) : RunRows{};
    }
    [[nodiscard]] std::int64_t steps(std::size_t i) const {
        return static_cast<std::int64_t>(rows(run_folder(i)).steps.size());
    }
    [[nodiscard]] RunState state(std::size_t i) const {
        const auto all = rows(run_folder(i));
        return all.states.empty() ? RunState::Queued : all.states.back().state;
    }

    static bool within(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (std::chrono::steady_clock::now() < end) {
            if (condition()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return condition();
    }
    static bool soon(const std::function<bool()>& condition) {
        return within(std::chrono::seconds(15), condition);
    }

    /// The worker process of a run: the one that `worker <run folder>` started.
    static pid_t worker_of(const fs::path& run) {
        const auto found = processes_with(std::string("worker\0", 7) + run.string() + '\0');
        return found.empty() ? -1 : found.front();
    }

  private:
    fs::path m_folder;
    std::vector<fs::path> m_run_folders;
    std::vector<pid_t> m_supervisors;
};

}  // namespace mantissa::test
