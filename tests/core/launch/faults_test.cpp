#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <memory>

#include "launch/control_client.h"
#include "launch_fixture.h"
#include "record/rank_life.h"

namespace mantissa::test {

using namespace std::chrono_literals;

class Faults : public LaunchTest {};

TEST_F(Faults, a_killed_worker_is_reported_within_a_second_and_the_others_finish) {
    auto handle = compare("steps=400 ms=2", ComparisonOrder::AtOnce);
    ASSERT_TRUE(soon([&] { return steps(1) > 40; }));
    const pid_t worker = worker_of(run_folder(1));
    ASSERT_GT(worker, 0);
    ASSERT_EQ(::kill(worker, SIGKILL), 0);
    ASSERT_TRUE(within(1000ms, [&] { return state(1) == RunState::Lost; }));
    // Its last step by its own word, which may be newer than the last row.
    const auto lives = read_lives(run_folder(1));
    ASSERT_EQ(lives.size(), 1U);
    EXPECT_FALSE(lives[0].is_alive);
    EXPECT_GE(*lives[0].last_step, steps(1) - 1);
    EXPECT_EQ(outcome(1).reason.rfind("killed by SIGKILL " + lives[0].where(), 0), 0U) << outcome(1).reason;
    EXPECT_EQ(handle.wait(), 5);
    EXPECT_EQ(outcome(0).state, RunState::Finished);
    EXPECT_EQ(outcome(2).state, RunState::Finished);
    EXPECT_EQ(steps(0), 400);
    EXPECT_EQ(steps(2), 400);
    EXPECT_EQ(read_comparison(handle.folder())->state, "finished");
}

TEST_F(Faults, a_crash_names_its_signal_and_step) {
    auto handle = compare("steps=30 bf16.crash_at=12");
    EXPECT_EQ(handle.wait(), 5);
    EXPECT_EQ(outcome(2).state, RunState::Lost);
    EXPECT_NE(outcome(2).reason.find("killed by SIGSEGV"), std::string::npos) << outcome(2).reason;
    EXPECT_EQ(outcome(0).state, RunState::Finished);
    EXPECT_EQ(outcome(1).state, RunState::Finished);
}

TEST_F(Faults, in_turns_the_death_of_the_one_whose_turn_it_is_holds_nobody_up) {
    auto handle = compare("steps=300 ms=2 no.crash_at=5");
    EXPECT_EQ(handle.wait(), 5);
    EXPECT_EQ(outcome(0).state, RunState::Lost);
    EXPECT_EQ(steps(1), 300);
    EXPECT_EQ(steps(2), 300);
}

TEST_F(Faults, a_refused_mode_is_failed_with_the_sentence_and_its_code) {
    SourcedPlan sourced = plan("steps=10", {Precision::No, Precision::Fp8});
    auto handle = start(JobKind::Comparison, sourced);
    EXPECT_EQ(handle.wait(), 3);
    EXPECT_EQ(outcome(0).state, RunState::Finished);
    EXPECT_EQ(outcome(1).state, RunState::Failed);
    EXPECT_EQ(outcome(1).exit_code, 3);
    EXPECT_NE(outcome(1).reason.find("fp8 is not supported by the fake device"), std::string::npos);
    EXPECT_EQ(steps(1), 0);
}

TEST_F(Faults, an_error_of_the_engine_is_failed_with_its_sentence) {
    auto handle = compare("steps=30 fp16.throw_at=3");
    EXPECT_EQ(handle.wait(), 1);
    EXPECT_EQ(outcome(1).state, RunState::Failed);
    EXPECT_EQ(outcome(1).reason, "the fake engine throws at step 3");
    EXPECT_EQ(steps(1), 3);
}

TEST_F(Faults, a_worker_that_ends_without_a_word_keeps_its_exit_code) {
    auto handle = start(JobKind::SingleRun, plan("steps=30 no.exit_at=3"));
    EXPECT_EQ(handle.wait(), 77);
    EXPECT_EQ(outcome(0).state, RunState::Failed);
    EXPECT_EQ(outcome(0).exit_code, 77);
    EXPECT_NE(outcome(0).reason.find("exit code 77"), std::string::npos) << outcome(0).reason;
}

TEST_F(Faults, trials_that_crash_hang_or_refuse_are_recorded_and_their_modes_not_trained) {
    ::setenv("FAKE_TRIAL_LIMIT", "1", 1);
    SourcedPlan sourced = plan("steps=10 fp16.trial=crash bf16.trial=hang fp8.trial=refuse",
                               {Precision::No, Precision::Fp16, Precision::Bf16});
    auto handle = start(JobKind::Comparison, sourced);
    EXPECT_EQ(handle.wait(), 5);  // the codes of the failed runs, the first of them
    EXPECT_EQ(outcome(0).state, RunState::Finished);
    EXPECT_NE(outcome(1).reason.find("killed by SIGABRT"), std::string::npos) << outcome(1).reason;
    EXPECT_NE(outcome(2).reason.find("did not end within 1 s"), std::string::npos) << outcome(2).reason;
    const auto record = read_comparison(handle.folder());
    ASSERT_TRUE(record);
    ASSERT_EQ(record->trials.size(), 3U);
    EXPECT_TRUE(record->trials[0].runs);
    EXPECT_FALSE(record->trials[1].runs);
    EXPECT_EQ(record->trials[2].refusal, outcome(2).reason);
    for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(outcome(i).state, RunState::Failed);
}

TEST_F(Faults, a_trial_that_refuses_gives_its_reason) {
    auto handle = compare("steps=10 bf16.trial=refuse");
    EXPECT_EQ(handle.wait(), 3);
    EXPECT_EQ(outcome(2).reason, "the fake model has an op without a kernel");
}

TEST_F(Faults, a_broken_engine_fails_every_run_with_the_loaders_sentence) {
    std::ofstream(folder() / "engine.so") << std::string(5000, '?');
    ::setenv("MANTISSA_ENGINE", (folder() / "engine.so").c_str(), 1);
    auto handle = compare("steps=10");
    EXPECT_EQ(handle.wait(), 6);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(outcome(i).state, RunState::Failed);
        EXPECT_NE(outcome(i).reason.find("invalid ELF header"), std::string::npos) << outcome(i).reason;
    }
}

TEST_F(Faults, workers_finish_when_their_supervisor_is_killed) {
    auto handle = compare("steps=200 ms=2", ComparisonOrder::AtOnce);
    ASSERT_TRUE(soon([&] { return steps(0) > 10 && steps(1) > 10 && steps(2) > 10; }));
    ::kill(handle.pid(), SIGKILL);
    EXPECT_EQ(handle.wait(), 128 + SIGKILL);
    EXPECT_FALSE(has_supervisor(handle.folder()));
    const auto client = ControlClient::connect(handle.folder(), ControlRole::Control);
    ASSERT_FALSE(client);
    EXPECT_NE(client.error().message.find("no supervisor works on"), std::string::npos);
    for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_TRUE(soon([&] { return outcome(i).state == RunState::Finished; }));
        EXPECT_EQ(steps(i), 200);
        EXPECT_TRUE(soon([&] { return !fs::exists(run_folder(i) / "reserve"); }));
    }
}

TEST_F(Faults, a_paused_run_stops_when_nobody_could_resume_it) {
    auto handle = start(JobKind::SingleRun, plan("steps=100000 ms=1"));
    ASSERT_TRUE(soon([&] { return steps(0) > 10; }));
    ASSERT_TRUE(send_one_command(handle.folder(), "pause", ""));
    ASSERT_TRUE(soon([&] { return state(0) == RunState::Paused; }));
    ::kill(handle.pid(), SIGKILL);
    EXPECT_EQ(handle.wait(), 128 + SIGKILL);
    EXPECT_TRUE(soon([&] { return outcome(0).state == RunState::Stopped; }));
}

TEST_F(Faults, a_worker_without_its_supervisor_is_told_of) {
    auto handle = start(JobKind::SingleRun, plan("steps=100000 ms=1"));
    ASSERT_TRUE(soon([&] { return steps(0) > 10; }));
    const pid_t worker = worker_of(run_folder(0));
    ::kill(handle.pid(), SIGKILL);
    handle.wait();
    const auto alive = send_one_command(handle.folder(), "stop", "");
    ASSERT_FALSE(alive);
    EXPECT_NE(alive.error().hint.find("SIGTERM to that process stops it"), std::string::npos);
    ::kill(worker, SIGTERM);
    ASSERT_TRUE(soon([&] { return outcome(0).state == RunState::Stopped; }));
    ASSERT_TRUE(soon([&] {
        const auto ended = send_one_command(handle.folder(), "stop", "");
        return !ended && ended.error().hint.find("the job has ended") != std::string::npos;
    }));
}

TEST_F(Faults, queued_runs_of_a_killed_supervisor_are_lost) {
    auto handle = compare("steps=100000 ms=1", ComparisonOrder::OneByOne);
    ASSERT_TRUE(soon([&] { return steps(0) > 10; }));
    const pid_t worker = worker_of(run_folder(0));
    ::kill(handle.pid(), SIGKILL);
    handle.wait();
    EXPECT_EQ(outcome(2).state, RunState::Lost);
    EXPECT_EQ(state(0), RunState::Running);
    ::kill(worker, SIGTERM);  // signals reach a worker without a supervisor
    EXPECT_TRUE(soon([&] { return outcome(0).state == RunState::Stopped; }));
}

/// Runs with a limit on the size of any file it writes: as a full disk does, writes fail in the middle of the
/// run.
class FileSizeLimit : public LaunchTest {
  protected:
    SupervisorHandle start_limited(const std::string& words, rlim_t bytes) {
        rlimit before{};
        EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
        const rlimit small{bytes, before.rlim_max};
        EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
        auto handle = start(JobKind::SingleRun, plan(words));
        EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
        return handle;
    }
    [[nodiscard]] std::string log(const std::string& name) const {
        std::ifstream file(run_folder(0) / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

TEST_F(FileSizeLimit, fails_the_run_with_a_sentence_and_keeps_what_was_written) {
    auto handle = start_limited("steps=200000 ms=1", 250'000);
    EXPECT_EQ(handle.wait(), 6);
    EXPECT_GT(steps(0), 100);
    EXPECT_EQ(outcome(0).state, RunState::Failed) << log("supervisor.log");
    EXPECT_NE(outcome(0).reason.find("file size limit"), std::string::npos) << outcome(0).reason;
}

TEST_F(FileSizeLimit, with_no_byte_left_in_the_recording_the_sentence_stands_in_the_logs) {
    // Transactions as large as the limit itself: now and then neither run.db nor its log can take one more
    // page.
    auto handle = start_limited("steps=200000 ms=0", 400'000);
    EXPECT_EQ(handle.wait(), 6);
    EXPECT_GT(steps(0), 100);
    const auto state = outcome(0).state;
    EXPECT_TRUE(state == RunState::Failed || state == RunState::Lost) << to_string(state);
    EXPECT_NE(log("worker.log").find("end: failed: the file size limit is reached"), std::string::npos);
    EXPECT_NE(log("supervisor.log").find("no: failed: the file size limit is reached"), std::string::npos);
}

TEST_F(Faults, a_full_disk_fails_the_run_with_a_sentence_and_keeps_what_was_written) {
    fs::create_directories(runs());
    if (::mount("none", runs().c_str(), "tmpfs", 0, "size=1m") != 0)
        GTEST_SKIP() << "mounting a small tmpfs needs root";
    const std::shared_ptr<void> unmount(nullptr, [this](void*) { ::umount2(runs().c_str(), MNT_DETACH); });
    auto handle = start(JobKind::SingleRun, plan("steps=200000 ms=0"));
    EXPECT_EQ(handle.wait(), 6);
    EXPECT_GT(steps(0), 100);
    const auto end = outcome(0);
    EXPECT_EQ(end.state, RunState::Failed);
    EXPECT_FALSE(fs::exists(run_folder(0) / "reserve"));
    EXPECT_NE(end.reason.find("full"), std::string::npos) << end.reason;
}

/// Somebody else takes the last byte of the disk: the run's own reserve is what its last words are written
/// on.
TEST_F(Faults, on_a_disk_filled_by_others_the_end_state_has_its_place) {
    fs::create_directories(runs());
    if (::mount("none", runs().c_str(), "tmpfs", 0, "size=2m") != 0)
        GTEST_SKIP() << "mounting a small tmpfs needs root";
    const std::shared_ptr<void> unmount(nullptr, [this](void*) { ::umount2(runs().c_str(), MNT_DETACH); });
    auto handle = start(JobKind::SingleRun, plan("steps=200000 ms=1"));
    ASSERT_TRUE(soon([&] { return steps(0) > 100; }));
    std::ofstream filler(runs() / "filler", std::ios::binary);
    const std::string block(1024, 'x');
    while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
    EXPECT_EQ(handle.wait(), 6);
    EXPECT_EQ(outcome(0).state, RunState::Failed);
    EXPECT_NE(outcome(0).reason.find("full"), std::string::npos) << outcome(0).reason;
    EXPECT_EQ(outcome(0).exit_code, 6);
}

}  // namespace mantissa::test
