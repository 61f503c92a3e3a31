#include "launch/checkpoint_answer.h"
#include "launch/control_client.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <array>

#include "launch/control_server.h"
#include "launch_fixture.h"
#include "record/run_reader.h"
#include "record/meta_keys.h"

namespace mantissa::test {

using namespace std::chrono_literals;

class Control : public LaunchTest {
  protected:
    static ControlClient connect(const fs::path& folder, ControlRole role = ControlRole::Control) {
        auto client = ControlClient::connect(folder, role);
        EXPECT_TRUE(client) << describe(client.error());
        return std::move(*client);
    }
    /// The next event of a kind; others are passed over.
    static std::optional<ControlEvent> next(ControlClient& client, ControlEvent::Kind kind) {
        for (int i = 0; i < 100; ++i) {
            if (auto event = client.wait_event(100); event && event->kind == kind) return event;
        }
        return std::nullopt;
    }
    static ControlEvent answer(ControlClient& client, const std::string& command,
                               const std::string& run = {}) {
        EXPECT_TRUE(client.send(command, run));
        for (int i = 0; i < 100; ++i) {
            auto event = client.wait_event(100);
            if (event &&
                (event->kind == ControlEvent::Kind::Done || event->kind == ControlEvent::Kind::Refused))
                return *event;
        }
        ADD_FAILURE() << "no answer to " << command;
        return {};
    }
};

TEST_F(Control, pause_step_and_resume_one_run_while_the_others_go_on) {
    auto handle = compare("steps=100000 ms=2", ComparisonOrder::AtOnce);
    auto client = connect(handle.folder());
    ASSERT_TRUE(soon([&] { return steps(0) > 3 && steps(1) > 3 && steps(2) > 3; }));
    EXPECT_EQ(answer(client, "pause", "fp16").kind, ControlEvent::Kind::Done);
    ASSERT_TRUE(soon([&] { return state(1) == RunState::Paused; }));
    const auto held = steps(1), others = steps(0);
    ASSERT_TRUE(soon([&] { return steps(0) > others + 50; }));
    EXPECT_EQ(steps(1), held);
    for (int i = 1; i <= 3; ++i) {
        EXPECT_EQ(answer(client, "step", "fp16").kind, ControlEvent::Kind::Done);
        ASSERT_TRUE(soon([&] { return steps(1) == held + i; }));
    }
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(steps(1), held + 3);
    EXPECT_EQ(answer(client, "resume", "fp16").kind, ControlEvent::Kind::Done);
    ASSERT_TRUE(soon([&] { return steps(1) > held + 50; }));
    EXPECT_EQ(answer(client, "stop").kind, ControlEvent::Kind::Done);
    EXPECT_EQ(handle.wait(), 0);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(outcome(i).state, RunState::Stopped);
}

TEST_F(Control, in_turns_a_pause_of_all_holds_all_and_a_stop_of_one_leaves_the_others) {
    auto handle = compare("steps=100000 ms=1");
    auto client = connect(handle.folder());
    ASSERT_TRUE(soon([&] { return steps(0) > 3; }));
    answer(client, "pause");
    ASSERT_TRUE(soon([&] {
        return state(0) == RunState::Paused && state(1) == RunState::Paused && state(2) == RunState::Paused;
    }));
    const std::array<std::int64_t, 3> held{steps(0), steps(1), steps(2)};
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(held, (std::array<std::int64_t, 3>{steps(0), steps(1), steps(2)}));
    answer(client, "step", "bf16");
    EXPECT_TRUE(soon([&] { return steps(2) == held[2] + 1; }));
    answer(client, "stop", "no");
    ASSERT_TRUE(soon([&] { return outcome(0).state == RunState::Stopped; }));
    answer(client, "resume", "fp16");
    EXPECT_TRUE(soon([&] { return steps(1) > held[1] + 20; }));
    EXPECT_EQ(state(2), RunState::Paused);
    answer(client, "interrupt");
    EXPECT_EQ(handle.wait(), 130);
    EXPECT_EQ(outcome(0).state, RunState::Stopped);
    EXPECT_EQ(outcome(1).state, RunState::Interrupted);
    EXPECT_EQ(outcome(2).state, RunState::Interrupted);
}

TEST_F(Control, a_pause_before_the_first_step_is_kept) {
    auto handle = start(JobKind::SingleRun, plan("steps=50 ms=1"));
    auto client = connect(handle.folder());
    ASSERT_EQ(answer(client, "pause").kind, ControlEvent::Kind::Done);  // the trial has only begun
    ASSERT_TRUE(soon([&] { return state(0) == RunState::Paused; }));
    EXPECT_LE(steps(0), 1);
    answer(client, "resume");
    EXPECT_EQ(handle.wait(), 0);
    EXPECT_EQ(steps(0), 50);
}

TEST_F(Control, a_stop_during_the_trial_ends_it_at_once) {
    auto handle = compare("steps=50 no.trial=hang");
    auto client = connect(handle.folder());
    ASSERT_TRUE(soon([&] { return state(0) == RunState::Trial; }));
    EXPECT_EQ(answer(client, "stop", "fp16").kind, ControlEvent::Kind::Done);
    EXPECT_EQ(outcome(1).state, RunState::Stopped);
    EXPECT_EQ(answer(client, "interrupt").kind, ControlEvent::Kind::Done);
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(handle.wait(), 130);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
    EXPECT_EQ(outcome(0).state, RunState::Interrupted);
    EXPECT_EQ(outcome(2).state, RunState::Interrupted);
    EXPECT_EQ(steps(0), 0);
}

TEST_F(Control, the_first_controls_later_ones_watch_and_inherit) {
    auto handle = compare("steps=100000 ms=1");
    std::optional<ControlClient> first(connect(handle.folder()));
    ASSERT_TRUE(next(*first, ControlEvent::Kind::Controller)->is_controller);
    auto second = connect(run_folder(1));  // by the run's own folder
    const auto told = next(second, ControlEvent::Kind::Controller);
    ASSERT_TRUE(told);
    EXPECT_FALSE(told->is_controller);
    EXPECT_EQ(told->text, "another program (process " + std::to_string(::getpid()) + ") controls this job; you watch it");
    EXPECT_EQ(told->holder, ::getpid());
    EXPECT_EQ(answer(second, "stop").kind, ControlEvent::Kind::Refused);
    // A person at a shell is obeyed all the same, and told who else controls.
    const auto by_shell = send_one_command(handle.folder(), "watch1", "fp16");
    ASSERT_TRUE(by_shell) << describe(by_shell.error());
    EXPECT_EQ(*by_shell, "fp16: watch1 (a window controls it too: process " + std::to_string(::getpid()) + ")");
    auto watcher = connect(handle.folder(), ControlRole::Watch);
    EXPECT_FALSE(next(watcher, ControlEvent::Kind::Controller)->is_controller);
    EXPECT_TRUE(soon([&] { return steps(0) > 20; }));  // nobody stopped it
    auto status = next(
        watcher, ControlEvent::Kind::Status);  // the greeting's, then those of every half second, then ours
    ASSERT_TRUE(watcher.ask_status());
    for (int i = 0; i < 20 && status && !status->runs[1].alive; ++i)
        status = next(watcher, ControlEvent::Kind::Status);
    ASSERT_TRUE(status);
    ASSERT_EQ(status->runs.size(), 3U);
    EXPECT_EQ(status->runs[1].mode, "fp16");
    EXPECT_TRUE(status->runs[1].alive);
    first.reset();  // the controller leaves: no stop, and the next one that asked inherits
    const auto promoted = next(second, ControlEvent::Kind::Controller);
    ASSERT_TRUE(promoted);
    EXPECT_TRUE(promoted->is_controller);
    EXPECT_FALSE(watcher.is_controller());
    EXPECT_EQ(answer(second, "stop").kind, ControlEvent::Kind::Done);
    const auto ended = next(watcher, ControlEvent::Kind::Ended);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->exit_code, 0);
    EXPECT_TRUE(next(watcher, ControlEvent::Kind::Disconnected));
    EXPECT_EQ(handle.wait(), 0);
    EXPECT_FALSE(ControlClient::connect(handle.folder(), ControlRole::Watch));
}

TEST_F(Control, abort_kills_at_once) {
    auto handle = start(JobKind::SingleRun, plan("steps=10 ms=60000"));  // hangs in its first step
    ASSERT_TRUE(soon([&] { return state(0) == RunState::Running; }));
    EXPECT_TRUE(send_one_command(handle.folder(), "stop", ""));
    std::this_thread::sleep_for(200ms);
    EXPECT_FALSE(handle.poll());
    const auto done = send_one_command(handle.folder(), "abort", "");
    ASSERT_TRUE(done) << describe(done.error());
    EXPECT_EQ(handle.wait(), 130);
    EXPECT_EQ(outcome(0).state, RunState::Interrupted);
    EXPECT_NE(outcome(0).reason.find("aborted before its first step"), std::string::npos)
        << outcome(0).reason;
}

TEST_F(Control, the_level_of_tensor_records_is_switched_while_a_run_goes_on) {
    auto handle = compare("steps=100000 ms=2", ComparisonOrder::AtOnce);
    const auto level = [this](std::size_t run) -> std::string {
        auto reader = RunReader::open(run_folder(run));
        const auto found = reader ? (*reader)->meta() : Result<std::map<std::string, std::string>>(reader.error());
        return found && found->contains(meta::watch_level) ? found->at(meta::watch_level) : "";
    };
    ASSERT_TRUE(soon([&] { return steps(0) > 3 && steps(1) > 3; }));
    const auto answer_of_one = send_one_command(handle.folder(), "watch2", "fp16");
    ASSERT_TRUE(answer_of_one) << describe(answer_of_one.error());
    EXPECT_EQ(*answer_of_one, "fp16: watch2");
    EXPECT_TRUE(soon([&] { return level(1) == "2"; }));
    EXPECT_EQ(level(0), "");
    ASSERT_TRUE(send_one_command(handle.folder(), "watch0", ""));
    EXPECT_TRUE(soon([&] { return level(0) == "0" && level(1) == "0" && level(2) == "0"; }));
    EXPECT_FALSE(send_one_command(handle.folder(), "watch3", ""));
    ASSERT_TRUE(send_one_command(handle.folder(), "stop", ""));
    EXPECT_EQ(handle.wait(), 0);
}

TEST_F(Control, a_checkpoint_is_saved_by_a_running_and_by_a_paused_run_which_goes_on_waiting) {
    auto handle = start(JobKind::SingleRun, plan("steps=100000 ms=1"));
    ASSERT_TRUE(soon([&] { return steps(0) > 3; }));
    const auto nothing = last_checkpoint_answer(run_folder(0));
    EXPECT_EQ(nothing.time_ns, 0);
    ASSERT_TRUE(send_one_command(handle.folder(), "checkpoint", ""));
    const auto first = wait_for_checkpoint(run_folder(0), nothing, 15'000);
    ASSERT_TRUE(first) << describe(first.error());
    EXPECT_EQ(first->parent_path(), run_folder(0) / "checkpoints");

    ASSERT_TRUE(send_one_command(handle.folder(), "pause", ""));
    ASSERT_TRUE(soon([&] { return state(0) == RunState::Paused; }));
    const auto held = steps(0);
    const auto before = last_checkpoint_answer(run_folder(0));
    ASSERT_TRUE(send_one_command(handle.folder(), "checkpoint", ""));
    const auto second = wait_for_checkpoint(run_folder(0), before, 15'000);
    ASSERT_TRUE(second) << describe(second.error());
    EXPECT_EQ(second->filename(), "checkpoint_" + std::to_string(held));
    EXPECT_EQ(state(0), RunState::Paused);
    EXPECT_EQ(steps(0), held);
    ASSERT_TRUE(send_one_command(handle.folder(), "stop", ""));
    EXPECT_EQ(handle.wait(), 0);
    const auto late = wait_for_checkpoint(run_folder(0), last_checkpoint_answer(run_folder(0)), 15'000);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().message, "the run ended (stopped) before the checkpoint was saved");
}

TEST_F(Control, a_checkpoint_that_fails_is_told_and_ends_nothing) {
    auto handle = start(JobKind::SingleRun, plan("steps=100000 ms=1 save=fail"));
    ASSERT_TRUE(soon([&] { return steps(0) > 3; }));
    ASSERT_TRUE(send_one_command(handle.folder(), "checkpoint", ""));
    const auto saved = wait_for_checkpoint(run_folder(0), {}, 15'000);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().message, "the checkpoint could not be saved: no space left");
    const auto held = steps(0);
    EXPECT_TRUE(soon([&] { return steps(0) > held + 3; }));
    ASSERT_TRUE(send_one_command(handle.folder(), "stop", ""));
    EXPECT_EQ(handle.wait(), 0);
}

TEST_F(Control, bad_commands_are_refused_with_a_sentence_and_harm_nothing) {
    auto handle = compare("steps=100000 ms=1");
    auto client = connect(handle.folder());
    EXPECT_NE(answer(client, "explode").text.find("unknown command 'explode'"), std::string::npos);
    EXPECT_NE(answer(client, "pause", "fp8").text.find("no run 'fp8'"), std::string::npos);
    // Raw garbage and an endless line: that client is thrown out, the job goes on.
    for (const std::string& junk :
         {std::string("not json\n[1,2]\n{\"command\":5}\n"), std::string(100'000, 'x')}) {
        auto rude = connect(handle.folder(), ControlRole::Watch);
        EXPECT_GE(::send(rude.descriptor(), junk.data(), junk.size(), MSG_NOSIGNAL), 0);
    }
    const auto before = steps(0);
    EXPECT_TRUE(soon([&] { return steps(0) > before + 20; }));
    EXPECT_EQ(answer(client, "stop").kind, ControlEvent::Kind::Done);
    EXPECT_EQ(handle.wait(), 0);
}

TEST_F(Control, the_socket_lies_in_a_folder_that_only_this_user_can_enter) {
    auto handle = start(JobKind::SingleRun, plan("steps=100000 ms=1"));
    std::ifstream file(handle.folder() / "control");
    std::string path;
    std::getline(file, path);
    EXPECT_LE(path.size(), 100U);
    struct stat info {};
    ASSERT_EQ(::stat(fs::path(path).parent_path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700U);
    ::kill(handle.pid(), SIGTERM);
    handle.wait();
}

TEST_F(Control, a_socket_folder_of_somebody_else_is_refused) {
    fs::create_directory(folder() / "runtime" / "mantissa");
    fs::permissions(folder() / "runtime" / "mantissa", fs::perms::all);
    // The second place is tried; with a name too long for a socket there is no first.
    const auto server = ControlServer::open([](auto&, auto&) { return Result<std::string>(std::string()); },
                                            [](auto&) { return std::vector<RunStatus>(); });
    ASSERT_TRUE(server) << describe(server.error());
    EXPECT_EQ(server->path().string().find((folder() / "runtime").string()), std::string::npos);
}

}  // namespace mantissa::test
