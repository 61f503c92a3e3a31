#include "launch/thread_run.h"

#include "launch/control_client.h"
#include "launch/engine_module.h"
#include "launch_fixture.h"

namespace mantissa::test {

using namespace std::chrono_literals;

class ThreadScope : public LaunchTest {
  protected:
    Result<std::unique_ptr<ThreadRun>> run(const std::string& words, Precision mode = Precision::No,
                                           const EngineLoader& loader = {}) {
        SourcedPlan sourced = plan(words, {});
        sourced.plan.mixed_precision = mode;
        sourced.plan.launch.scope = LaunchScope::Thread;
        auto job = prepare_job(JobKind::SingleRun, sourced, runs());
        if (!job) return job.error();
        return ThreadRun::start(std::move(*job), loader, [this](const fs::path& done) {
            m_finished = done;
            return Result<void>();
        });
    }
    fs::path m_finished;
};

TEST_F(ThreadScope, runs_in_this_process_with_the_same_recording) {
    auto thread = run("steps=25");
    ASSERT_TRUE(thread) << describe(thread.error());
    EXPECT_TRUE(has_supervisor((*thread)->folder()));
    EXPECT_EQ((*thread)->wait(), 0);
    EXPECT_TRUE((*thread)->has_ended());
    EXPECT_EQ(rows((*thread)->folder()).steps.size(), 25U);
    EXPECT_EQ(read_run_outcome((*thread)->folder())->state, RunState::Finished);
    EXPECT_EQ(m_finished, (*thread)->folder());
    std::ifstream log((*thread)->folder() / "worker.log");
    std::string first;
    std::getline(log, first);
    EXPECT_NE(first.find("device cpu, requested precision no, effective precision no"), std::string::npos)
        << first;
    EXPECT_FALSE(has_supervisor((*thread)->folder()));
    EXPECT_TRUE(RunLock::is_free(RunFolder{(*thread)->folder()}));
}

TEST_F(ThreadScope, control_works_directly) {
    auto thread = run("steps=100000 ms=1");
    ASSERT_TRUE(thread);
    const auto folder = (*thread)->folder();
    (*thread)->control().post(ControlCommand::Pause);
    ASSERT_TRUE(soon([&] {
        const auto all = rows(folder);
        return !all.states.empty() && all.states.back().state == RunState::Paused;
    }));
    const auto held = rows(folder).steps.size();
    (*thread)->control().post(ControlCommand::Step);
    EXPECT_TRUE(soon([&] { return rows(folder).steps.size() == held + 1; }));
    (*thread)->control().post(ControlCommand::Stop);
    EXPECT_EQ((*thread)->wait(), 0);
    EXPECT_EQ(read_run_outcome(folder)->state, RunState::Stopped);
}

// As in the scopes with a supervisor: by the folder, from a shell and from another window.
TEST_F(ThreadScope, is_controlled_by_its_folder_too) {
    auto thread = run("steps=100000 ms=1");
    ASSERT_TRUE(thread);
    const auto folder = (*thread)->folder();
    const auto in = [&](RunState wanted) {
        return soon([&] {
            const auto all = rows(folder);
            return !all.states.empty() && all.states.back().state == wanted;
        });
    };
    const auto paused = send_one_command(folder, "pause", "no");
    ASSERT_TRUE(paused) << describe(paused.error());
    EXPECT_EQ(*paused, "no: pause");
    ASSERT_TRUE(in(RunState::Paused));
    const auto held = rows(folder).steps.size();
    ASSERT_TRUE(send_one_command(folder, "step", ""));
    EXPECT_TRUE(soon([&] { return rows(folder).steps.size() == held + 1; }));
    EXPECT_FALSE(send_one_command(folder, "pause", "fp16"));
    EXPECT_FALSE(send_one_command(folder, "explode", ""));
    auto window = ControlClient::connect(folder, ControlRole::Control);
    ASSERT_TRUE(window);
    ASSERT_TRUE(soon([&] {
        while (window->take_event()) {
        }
        return window->is_controller();
    }));
    ASSERT_TRUE(window->send("resume", "no"));
    EXPECT_TRUE(soon([&] { return rows(folder).steps.size() > held + 5; }));
    ASSERT_TRUE(send_one_command(folder, "abort", ""));
    EXPECT_TRUE(soon([&] { return (*thread)->must_leave().find("aborted at step ") == 0; }));
    EXPECT_EQ(read_run_outcome(folder)->state, RunState::Interrupted);
    EXPECT_FALSE(ControlClient::connect(folder, ControlRole::Watch));
    (*thread)->end_by(ControlCommand::Stop);
    (*thread)->wait();
}

TEST_F(ThreadScope, in_a_window_others_watch_and_a_shell_may_act) {
    SourcedPlan sourced = plan("steps=100000 ms=1", {});
    sourced.plan.launch.scope = LaunchScope::Thread;
    auto job = prepare_job(JobKind::SingleRun, sourced, runs());
    ASSERT_TRUE(job);
    auto thread = ThreadRun::start(std::move(*job), {}, {}, {}, ThreadRun::Owner::Window);
    ASSERT_TRUE(thread);
    const auto folder = (*thread)->folder();
    auto other = ControlClient::connect(folder, ControlRole::Control);
    ASSERT_TRUE(other);
    std::optional<ControlEvent> told;
    for (int i = 0; i < 50 && !(told && told->kind == ControlEvent::Kind::Controller); ++i) told = other->wait_event(100);
    ASSERT_TRUE(told);
    EXPECT_FALSE(told->is_controller);
    EXPECT_EQ(told->holder, ::getpid());
    const auto refused = send_one_command(folder, "abort", "");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("inside the window"), std::string::npos) << refused.error().message;
    ASSERT_TRUE(send_one_command(folder, "stop", ""));
    EXPECT_EQ((*thread)->wait(), 0);
    const auto late = send_one_command(folder, "pause", "");
    EXPECT_FALSE(late);
}

TEST_F(ThreadScope, one_at_a_time_one_precision_no_comparison) {
    auto first = run("steps=100000 ms=1");
    ASSERT_TRUE(first);
    const auto second = run("steps=5");
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("one at a time"), std::string::npos);
    (*first)->control().post(ControlCommand::Stop);
    (*first)->wait();
    const auto other = run("steps=5", Precision::Bf16);
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("bf16 needs a fresh process"), std::string::npos)
        << other.error().message;
    auto same = run("steps=5");
    ASSERT_TRUE(same);
    EXPECT_EQ((*same)->wait(), 0);
    EXPECT_NE(thread_scope_refusal(JobKind::Comparison, Precision::No).find("fresh process"),
              std::string::npos);
}

TEST_F(ThreadScope, closing_the_window_interrupts_the_run) {
    fs::path folder;
    {
        auto thread = run("steps=100000 ms=1");
        ASSERT_TRUE(thread);
        folder = (*thread)->folder();
        ASSERT_TRUE(soon([&] { return rows(folder).steps.size() > 5; }));
    }
    EXPECT_EQ(read_run_outcome(folder)->state, RunState::Interrupted);
}

TEST_F(ThreadScope, a_broken_engine_is_a_message) {
    auto thread = run("steps=5", Precision::No, [] { return load_engine_from("/nowhere/engine.so"); });
    ASSERT_TRUE(thread);
    EXPECT_EQ((*thread)->wait(), 6);
    const auto end = read_run_outcome((*thread)->folder());
    EXPECT_EQ(end->state, RunState::Failed);
    EXPECT_NE(end->reason.find("/nowhere/engine.so"), std::string::npos);
    EXPECT_EQ(thread_scope_refusal(JobKind::SingleRun, Precision::No), "");
}

}  // namespace mantissa::test
