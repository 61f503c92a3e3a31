#include "launch/supervisor.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "launch/control_client.h"
#include "launch_fixture.h"
#include "plan/plan_file.h"

namespace mantissa::test {

using namespace std::chrono_literals;

class Supervisor : public LaunchTest {};

TEST_F(Supervisor, a_comparison_runs_to_its_end) {
    auto handle = compare("steps=40 ms=1");
    EXPECT_EQ(handle.wait(), 0);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(outcome(i).state, RunState::Finished);
        EXPECT_EQ(steps(i), 40);
        EXPECT_TRUE(fs::exists(run_folder(i) / "trial.json"));
        EXPECT_FALSE(fs::exists(run_folder(i) / "control"));
        EXPECT_FALSE(fs::exists(run_folder(i) / "reserve"));
        EXPECT_TRUE(RunLock::is_free(RunFolder{run_folder(i)}));
        std::vector<std::string> states;
        for (const auto& row : rows(run_folder(i)).states) states.emplace_back(to_string(row.state));
        EXPECT_EQ(states, (std::vector<std::string>{"queued", "trial", "running", "finished"}));
    }
    const auto record = read_comparison(handle.folder());
    ASSERT_TRUE(record) << describe(record.error());
    EXPECT_EQ(record->state, "finished");
    EXPECT_EQ(record->trials.size(), 3U);
    EXPECT_EQ(record->order, "turns");
    EXPECT_GT(record->ended_ns, record->started_ns);
    EXPECT_TRUE(fs::exists(handle.folder() / "finished.txt"));
    EXPECT_FALSE(has_supervisor(handle.folder()));
    EXPECT_TRUE(fs::is_empty(folder() / "runtime" / "mantissa"));  // no socket left
}

TEST_F(Supervisor, replicas_run_after_the_modes_one_by_one_and_without_a_trial) {
    SourcedPlan sourced = plan("steps=20 ms=1");
    sourced.plan.repetitions.control = 2;
    auto handle = start(JobKind::Comparison, sourced);
    EXPECT_EQ(handle.wait(), 0);
    const auto replicas = read_replica_runs(handle.folder());
    ASSERT_TRUE(replicas) << describe(replicas.error());
    ASSERT_EQ(replicas->size(), 2U);
    std::int64_t ended = 0;
    for (std::size_t i = 0; i < 3; ++i) ended = std::max(ended, rows(run_folder(i)).states.back().time_ns);
    for (const auto& replica : *replicas) {
        const auto all = rows(replica.run_dir);
        EXPECT_EQ(all.steps.size(), 20U);
        EXPECT_FALSE(fs::exists(replica.run_dir / "trial.json"));
        std::vector<std::string> states;
        for (const auto& row : all.states) states.emplace_back(to_string(row.state));
        EXPECT_EQ(states, (std::vector<std::string>{"queued", "running", "finished"}));
        ASSERT_EQ(all.states.size(), 3U);
        EXPECT_GT(all.states[1].time_ns, ended) << "began after all before it had ended";
        ended = all.states[2].time_ns;
    }
    EXPECT_EQ(read_comparison(handle.folder())->state, "finished");
}

TEST_F(Supervisor, a_comparison_whose_modes_have_ended_is_repeating_not_running) {
    SourcedPlan sourced = plan("steps=20 ms=1");
    sourced.plan.repetitions.control = 2;
    auto handle = start(JobKind::Comparison, sourced);
    const auto state = [&] { return state_text(*read_comparison(handle.folder())); };
    // Each replica waits before its first step, so that nothing hangs on how fast this machine is.
    for (const char* replica : {"no repetition 1", "no repetition 2"})
        ASSERT_TRUE(send_one_command(handle.folder(), "pause", replica)) << replica;
    ASSERT_TRUE(soon([&] { return state() == "repeating 1 of 2"; })) << state();
    EXPECT_FALSE(has_ended(*read_comparison(handle.folder())));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(outcome(i).state, RunState::Finished);
    auto client = ControlClient::connect(handle.folder(), ControlRole::Watch);
    ASSERT_TRUE(client) << describe(client.error());
    ASSERT_TRUE(client->ask_status());
    ASSERT_TRUE(soon([&] {
        const auto event = client->wait_event(100);
        return event && event->kind == ControlEvent::Kind::Status && event->phase == "repeating";
    }));
    ASSERT_TRUE(send_one_command(handle.folder(), "resume", "no repetition 1"));
    ASSERT_TRUE(soon([&] { return state() == "repeating 2 of 2"; })) << state();
    ASSERT_TRUE(send_one_command(handle.folder(), "resume", "no repetition 2"));
    EXPECT_EQ(handle.wait(), 0);
    EXPECT_EQ(state(), "finished");
    EXPECT_TRUE(has_ended(*read_comparison(handle.folder())));
    EXPECT_FALSE(read_comparison(handle.folder())->repeating);
}

TEST_F(Supervisor, replicas_of_a_control_that_broke_do_not_run) {
    SourcedPlan sourced = plan("steps=20 nonfinite_at=5");
    sourced.plan.repetitions.control = 1;
    auto handle = start(JobKind::Comparison, sourced);
    EXPECT_EQ(handle.wait(), 0);
    const auto replicas = read_replica_runs(handle.folder());
    ASSERT_TRUE(replicas && replicas->size() == 1U);
    const auto all = rows(replicas->front().run_dir);
    EXPECT_TRUE(all.steps.empty());
    ASSERT_FALSE(all.states.empty());
    EXPECT_EQ(all.states.back().state, RunState::Stopped);
    EXPECT_NE(all.states.back().reason.find("the control did not run to its end"), std::string::npos);
}

TEST_F(Supervisor, a_single_run_runs_to_its_end) {
    auto handle = start(JobKind::SingleRun, plan("steps=10"));
    EXPECT_EQ(handle.wait(), 0);
    EXPECT_EQ(outcome(0).state, RunState::Finished);
    EXPECT_EQ(handle.folder(), run_folder(0));
    EXPECT_TRUE(fs::exists(run_folder(0) / "finished.txt"));
}

TEST_F(Supervisor, is_found_while_it_works) {
    auto handle = compare("steps=100000 ms=1");
    ASSERT_TRUE(soon([&] { return steps(0) > 3; }));
    EXPECT_TRUE(has_supervisor(handle.folder()));
    EXPECT_TRUE(has_supervisor(run_folder(1)));  // by way of its comparison
    EXPECT_EQ(find_running_jobs(runs()), std::vector{handle.folder()});
    ::kill(handle.pid(), SIGTERM);
    EXPECT_EQ(handle.wait(), 0);
    EXPECT_TRUE(find_running_jobs(runs()).empty());
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(outcome(i).state, RunState::Stopped);
    EXPECT_EQ(read_comparison(handle.folder())->state, "stopped");
}

TEST_F(Supervisor, sigint_interrupts_all_runs) {
    auto handle = compare("steps=100000 ms=1", ComparisonOrder::AtOnce);
    ASSERT_TRUE(soon([&] { return steps(0) > 3 && steps(1) > 3 && steps(2) > 3; }));
    ::kill(handle.pid(), SIGINT);
    EXPECT_EQ(handle.wait(), 130);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(outcome(i).state, RunState::Interrupted);
        EXPECT_EQ(outcome(i).exit_code, 130);
    }
    EXPECT_EQ(read_comparison(handle.folder())->state, "interrupted");
    EXPECT_TRUE(fs::exists(handle.folder() / "finished.txt"));
}

TEST_F(Supervisor, hang_up_of_the_terminal_changes_nothing) {
    auto handle = compare("steps=150 ms=2", ComparisonOrder::AtOnce);
    ::kill(handle.pid(), SIGHUP);
    EXPECT_EQ(handle.wait(), 0);
    EXPECT_EQ(outcome(2).state, RunState::Finished);
}

TEST_F(Supervisor, survives_the_death_of_its_starter) {
    fs::create_directories(runs());
    const auto file = folder() / "plan.json";
    ASSERT_TRUE(write_plan_file(file, plan("steps=100 ms=5")));
    const std::string command =
        std::string(FAKE_MANTISSA) + " start " + file.string() + " " + runs().string();
    FILE* starter = ::popen(command.c_str(), "r");
    char line[4096] = "";
    ASSERT_NE(std::fgets(line, sizeof line, starter), nullptr);
    EXPECT_EQ(::pclose(starter), 0);  // it has died without a word to anybody
    std::string job(line);
    job.pop_back();
    EXPECT_TRUE(has_supervisor(job));
    ASSERT_TRUE(soon([&] { return !has_supervisor(job); }));
    EXPECT_EQ(job_exit_code(job), 0);
    const auto again = read_job(job);
    ASSERT_TRUE(again);
    for (const auto& run : again->runs) EXPECT_EQ(rows(run.folder.path).steps.size(), 100U);
    EXPECT_TRUE(fs::exists(fs::path(job) / "finished.txt"));
}

TEST_F(Supervisor, runs_in_turns_never_overlap_and_grow_together) {
    // Turns last half a second: 3 x 600 steps of 2 ms are about seven turns.
    auto handle = compare("steps=600 ms=2");
    EXPECT_EQ(handle.wait(), 0);
    std::vector<std::pair<std::int64_t, std::size_t>> all;  // time, run
    for (std::size_t i = 0; i < 3; ++i) {
        for (const auto& row : rows(run_folder(i)).steps) all.emplace_back(row.time_ns, i);
    }
    ASSERT_EQ(all.size(), 1800U);
    std::sort(all.begin(), all.end());
    std::size_t turns = 1;
    for (std::size_t i = 1; i < all.size(); ++i) turns += all[i].second != all[i - 1].second;
    EXPECT_GE(turns, 5U);
    EXPECT_LE(turns, 12U);  // at once they would mix hundreds of times
}

TEST_F(Supervisor, one_by_one_starts_a_run_after_the_end_of_the_one_before) {
    auto handle = compare("steps=20 ms=2", ComparisonOrder::OneByOne);
    EXPECT_EQ(handle.wait(), 0);
    for (std::size_t i = 1; i < 3; ++i) {
        EXPECT_GT(rows(run_folder(i)).steps.front().time_ns, rows(run_folder(i - 1)).states.back().time_ns);
    }
    EXPECT_EQ(read_comparison(handle.folder())->order, "one-by-one");
}

TEST_F(Supervisor, modes_that_need_too_much_memory_together_go_one_by_one_and_say_why) {
    auto handle = compare("steps=5 peak=400000000000000");
    EXPECT_EQ(handle.wait(), 0);
    const auto record = read_comparison(handle.folder());
    ASSERT_TRUE(record);
    EXPECT_EQ(record->order, "one-by-one");
    EXPECT_NE(record->order_reason.find("80 %"), std::string::npos) << record->order_reason;
}

TEST_F(Supervisor, stopped_by_a_non_finite_value_is_an_end_by_the_runs_own_rule) {
    auto handle = compare("steps=20 fp16.nonfinite_at=7");
    EXPECT_EQ(handle.wait(), 0);
    EXPECT_EQ(outcome(1).state, RunState::StoppedNonfinite);
    EXPECT_EQ(outcome(1).exit_code, 4);
    EXPECT_EQ(outcome(2).state, RunState::Finished);
    EXPECT_EQ(job_exit_code(handle.folder(), true), 4);
    auto single = start(JobKind::SingleRun, plan("steps=20 no.nonfinite_at=7"));
    EXPECT_EQ(single.wait(), 4);
}

TEST_F(Supervisor, in_turns_a_slow_start_of_one_mode_does_not_overlap_with_the_steps_of_another) {
    auto handle = compare("steps=30 ms=1 bf16.start_ms=600");
    EXPECT_EQ(handle.wait(), 0);
    const auto first_of = [&](std::size_t i) { return rows(run_folder(i)).steps.front().time_ns; };
    const auto all_there =
        rows(run_folder(2)).states[2].time_ns + 600'000'000;  // bf16: queued, trial, running
    EXPECT_GT(first_of(0), all_there);
    EXPECT_GT(first_of(1), all_there);
}

TEST_F(Supervisor, a_job_has_one_supervisor) {
    auto handle = compare("steps=100000 ms=1");
    auto again = read_job(handle.folder());
    ASSERT_TRUE(again);
    const auto second = start_supervisor(std::move(*again));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::InputOutput);
    EXPECT_TRUE(has_supervisor(handle.folder()));
    ::kill(handle.pid(), SIGTERM);
    handle.wait();
}

TEST_F(Supervisor, two_programs_share_a_runs_folder) {
    fs::create_directories(runs());
    const auto file = folder() / "plan.json";
    ASSERT_TRUE(write_plan_file(file, plan("steps=30 ms=1")));
    const std::string one = std::string(FAKE_MANTISSA) + " start " + file.string() + " " + runs().string();
    ASSERT_EQ(std::system(("(" + one + " & " + one + " & " + one + " & wait) > /dev/null").c_str()), 0);
    ASSERT_TRUE(soon([&] { return find_running_jobs(runs()).empty(); }));
    const auto ids = list_comparisons(runs());
    ASSERT_TRUE(ids);
    ASSERT_EQ(ids->size(), 3U);
    std::set<fs::path> run_folders;
    for (const auto& id : *ids) {
        const auto record = read_comparison(comparison_folder(runs(), id));
        ASSERT_TRUE(record);
        EXPECT_EQ(record->state, "finished");
        for (const auto& run : record->run_dirs) {
            run_folders.insert(run);
            EXPECT_EQ(rows(run).steps.size(), 30U);
        }
    }
    EXPECT_EQ(run_folders.size(), 9U);
}

TEST_F(Supervisor, a_missing_program_is_an_error_with_its_path) {
    ::setenv("MANTISSA_PROGRAM", "/nowhere/mantissa", 1);
    auto job = prepare_job(JobKind::SingleRun, plan("steps=1"), runs());
    ASSERT_TRUE(job);
    const auto handle = start_supervisor(std::move(*job));
    ASSERT_FALSE(handle);
    EXPECT_NE(handle.error().message.find("/nowhere/mantissa"), std::string::npos);
    const auto left = list_run_folders(runs());
    ASSERT_TRUE(left);
    ASSERT_EQ(left->size(), 1U);
    for (const auto& run : *left) {
        const auto end = read_run_outcome(run.path);
        EXPECT_EQ(end->state, RunState::Failed);  // not lost: it says why
        EXPECT_NE(end->reason.find("/nowhere/mantissa"), std::string::npos);
    }
}

}  // namespace mantissa::test
