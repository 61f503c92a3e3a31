#include "launch/job.h"

#include <fstream>

#include "launch/device_memory.h"
#include "launch_fixture.h"
#include "plan/plan_file.h"

namespace mantissa::test {

class Job : public LaunchTest {};

TEST_F(Job, a_comparison_has_one_run_folder_per_mode_with_the_control_first) {
    const auto job =
        prepare_job(JobKind::Comparison, plan("steps=5", {Precision::Bf16, Precision::Fp16}), runs());
    ASSERT_TRUE(job) << describe(job.error());
    ASSERT_EQ(job->runs.size(), 3U);
    EXPECT_EQ(job->runs[0].mode, Precision::No);
    EXPECT_EQ(job->runs[1].mode, Precision::Bf16);
    EXPECT_EQ(job->runs[2].mode, Precision::Fp16);
    for (const auto& run : job->runs) {
        const auto written = read_plan_file(run.folder.plan());
        ASSERT_TRUE(written) << describe(written.error());
        EXPECT_EQ(written->plan.mixed_precision, run.mode);
        EXPECT_EQ(job_folder_of(run.folder.path), job->folder);
    }
    const auto record = read_comparison(job->folder);
    ASSERT_TRUE(record) << describe(record.error());
    EXPECT_EQ(record->state, "trial");
    EXPECT_EQ(record->run_dirs.size(), 3U);
    EXPECT_EQ(record->id, job->comparison_id);
}

TEST_F(Job, a_queued_run_is_locked_and_never_looks_lost) {
    auto job = prepare_job(JobKind::SingleRun, plan("steps=5"), runs());
    ASSERT_TRUE(job);
    EXPECT_FALSE(RunLock::is_free(job->runs[0].folder));
    const auto before = read_run_outcome(job->folder);
    ASSERT_TRUE(before) << describe(before.error());
    EXPECT_EQ(before->state, RunState::Queued);
    job->claims.clear();  // the program that prepared it is gone
    EXPECT_TRUE(RunLock::is_free(job->runs[0].folder));
    EXPECT_EQ(read_run_outcome(job->folder)->state, RunState::Lost);
    EXPECT_EQ(read_run_outcome(job->folder)->exit_code, 5);
}

TEST_F(Job, reading_gives_the_same_job_back_also_after_the_runs_folder_moved) {
    SourcedPlan sourced = plan("steps=5");
    sourced.plan.launch.order = ComparisonOrder::OneByOne;
    const auto job = prepare_job(JobKind::Comparison, sourced, runs());
    ASSERT_TRUE(job);
    const auto moved = folder() / "elsewhere";
    fs::rename(runs(), moved);
    const auto again = read_job(moved / "comparisons" / job->comparison_id);
    ASSERT_TRUE(again) << describe(again.error());
    EXPECT_EQ(again->kind, JobKind::Comparison);
    EXPECT_EQ(again->order, ComparisonOrder::OneByOne);
    ASSERT_EQ(again->runs.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(again->runs[i].mode, job->runs[i].mode);
        EXPECT_EQ(again->runs[i].folder.path, moved / job->runs[i].folder.path.filename());
    }
}

TEST_F(Job, replicas_of_the_control_stand_beside_the_modes) {
    SourcedPlan sourced = plan("steps=5");
    sourced.plan.repetitions.control = 2;
    sourced.plan.repetitions.rounding = 1;
    const auto job = prepare_job(JobKind::Comparison, sourced, runs());
    ASSERT_TRUE(job) << describe(job.error());
    EXPECT_EQ(job->runs.size(), 3U);
    ASSERT_EQ(job->replicas.size(), 3U);
    EXPECT_EQ(job->claims.size(), 6U);
    EXPECT_EQ(job->replicas[0].replica.label(), "repetition 1");
    EXPECT_EQ(job->replicas[2].replica.label(), "rounding 1");
    for (const auto& run : job->replicas) {
        EXPECT_EQ(run.mode, Precision::No);
        EXPECT_EQ(*read_replica(run.folder.path), run.replica);
        const auto written = read_plan_file(run.folder.plan());
        ASSERT_TRUE(written) << describe(written.error());
        EXPECT_EQ(written->plan.training.seed, sourced.plan.training.seed);
        EXPECT_EQ(written->plan.name, "steps=5 " + run.replica.label());
        EXPECT_EQ(job_folder_of(run.folder.path), job->folder);
    }
    EXPECT_FALSE(read_replica(job->runs[0].folder.path)->is_replica());
    EXPECT_EQ(read_comparison(job->folder)->run_dirs.size(), 3U) << "tables and windows see the modes alone";
    // The list survives a record that is written again, and a runs folder that moved.
    ASSERT_TRUE(write_comparison(job->folder, *read_comparison(job->folder)));
    const auto moved = folder() / "elsewhere";
    fs::rename(runs(), moved);
    const auto again = read_job(moved / "comparisons" / job->comparison_id);
    ASSERT_TRUE(again) << describe(again.error());
    ASSERT_EQ(again->replicas.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(again->replicas[i].replica, job->replicas[i].replica);
        EXPECT_EQ(again->replicas[i].folder.path, moved / job->replicas[i].folder.path.filename());
    }
}

TEST_F(Job, a_single_run_has_no_replicas) {
    SourcedPlan sourced = plan("steps=5");
    sourced.plan.repetitions.control = 2;
    const auto job = prepare_job(JobKind::SingleRun, sourced, runs());
    ASSERT_TRUE(job) << describe(job.error());
    EXPECT_TRUE(job->replicas.empty());
    EXPECT_EQ(job->claims.size(), 1U);
}

TEST_F(Job, comparisons_in_a_thread_or_in_a_launch_are_refused) {
    SourcedPlan sourced = plan("steps=5");
    sourced.plan.launch.scope = LaunchScope::Thread;
    const auto in_thread = prepare_job(JobKind::Comparison, sourced, runs());
    ASSERT_FALSE(in_thread);
    EXPECT_EQ(in_thread.error().code, ErrorCode::BadPlan);
    EXPECT_NE(in_thread.error().message.find("fresh process"), std::string::npos);
    sourced.plan.launch.scope = LaunchScope::Join;
    const auto in_launch = prepare_job(JobKind::Comparison, sourced, runs());
    ASSERT_FALSE(in_launch);
    EXPECT_EQ(in_launch.error().code, ErrorCode::BadPlan);
    EXPECT_NE(in_launch.error().message.find("a fresh launch for each"), std::string::npos);
    EXPECT_FALSE(fs::exists(runs()));
}

TEST_F(Job, a_runs_folder_that_cannot_be_written_is_an_error_with_its_name_and_leaves_nothing) {
    std::ofstream(folder() / "a-file") << "not a folder";
    for (const fs::path& bad : {folder() / "a-file" / "runs", fs::path("/proc/runs")}) {
        const auto job = prepare_job(JobKind::Comparison, plan("steps=5"), bad);
        ASSERT_FALSE(job);
        EXPECT_EQ(job.error().code, ErrorCode::InputOutput);
        EXPECT_NE(job.error().message.find(bad.parent_path().string()), std::string::npos)
            << job.error().message;
        EXPECT_FALSE(job.error().hint.empty());
    }
}

TEST(MemoryRule, all_modes_together_above_80_percent_go_one_by_one_with_the_reason) {
    EXPECT_EQ(reason_for_one_by_one(800, 1000), "");
    const auto reason = reason_for_one_by_one(801'000'000, 1'000'000'000);
    EXPECT_NE(reason.find("80 %"), std::string::npos);
    EXPECT_NE(reason.find("801"), std::string::npos) << reason;
    EXPECT_EQ(reason_for_one_by_one(1'000'000, 0), "");  // memory of the device not known
    EXPECT_GT(machine_memory_bytes(), 1 << 26);
}

}  // namespace mantissa::test
