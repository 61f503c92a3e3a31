#pragma once
// Trains, also in a process of its own, and replays steps of what was trained.
#include <sys/wait.h>
#include <unistd.h>

#include "plan/plan_file.h"
#include "training_fixture.h"

namespace mantissa {

class Replaying : public Training {
  protected:
    void SetUp() override {
        Training::SetUp();
        m_prepare = [this](const RunFolder& folder) {
            EXPECT_TRUE(write_plan_file(folder.plan(), {m_trained_plan, {}, {}}).ok());
        };
    }

    Trained train_planned(const RunPlan& plan) {
        m_trained_plan = plan;
        return train(plan);
    }

    /// What `work` does in a process of its own: this one keeps its mode open. False when something failed there.
    [[nodiscard]] static bool elsewhere(const std::function<void()>& work) {
        const pid_t child = fork();
        if (child == 0) {
            work();
            _exit(::testing::Test::HasFailure() ? 1 : 0);
        }
        int status = -1;
        return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }

    [[nodiscard]] std::filesystem::path only_run() const {
        const auto folders = list_run_folders(m_runs);
        return folders.ok() && folders->size() == 1 ? folders->front().path : std::filesystem::path();
    }

    static ReplayRequest request_of(const std::filesystem::path& run, const RunPlan& plan, std::int64_t step, const char* id) {
        ReplayRequest request;
        request.run = run;
        request.plan = plan;
        request.step = step;
        request.variant.id = id;
        return request;
    }

    static ReplayAnswer replayed(const ReplayRequest& request) {
        const Result<ReplayAnswer> answer = mantissa_engine_api()->replay(request);
        EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : describe(answer.error()));
        return answer.ok() ? *answer : ReplayAnswer{};
    }
    static Error refused_replay(const ReplayRequest& request) {
        const Result<ReplayAnswer> answer = mantissa_engine_api()->replay(request);
        EXPECT_FALSE(answer.ok());
        return answer.ok() ? Error{} : answer.error();
    }

    RunPlan m_trained_plan;
};

}  // namespace mantissa
