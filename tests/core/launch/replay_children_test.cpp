// Runs that a replay leads to: the one with the fix, and the control.
#include "launch/incident_states.h"
#include "launch/replay_apply.h"
#include "replay_fixture.h"

namespace mantissa::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ReplayTest, AChangeThatHeldIsAChildThatGoesOnFromTheKeptState) {
    const fs::path run = make_run("apply");
    make_incident(run, 12, {4, 12});
    const ReplayReport report = replay(run);
    const auto job = prepare_applied_run(report, "island");
    ASSERT_TRUE(job) << describe(job.error());
    EXPECT_EQ(job->folder.parent_path(), runs());
    const auto plan = read_plan_file(job->folder / "plan.json");
    ASSERT_TRUE(plan);
    EXPECT_THAT(plan->plan.fp32_islands, ElementsAre("gate.mul"));
    EXPECT_EQ(plan->plan.mixed_precision, Precision::Fp16);
    EXPECT_EQ(plan->plan.checkpoint.resume_from, (incident_folder(run, 12) / "state_12").string());
    EXPECT_EQ(plan->origins.at("fp32_islands").detail, "replay of step 12");
    const auto parent = read_parent(job->folder);
    ASSERT_TRUE(parent);
    EXPECT_EQ(parent->run, run);
    EXPECT_EQ(parent->purpose, "fix");
    EXPECT_EQ(parent->step, 12);
    EXPECT_EQ(parent->change, "island gate.mul");
    auto reader = RunReader::open(job->folder);
    ASSERT_TRUE(reader);
    const auto keys = (*reader)->meta();
    EXPECT_EQ(keys->at(meta::resumed_run), run.string());
    EXPECT_EQ(keys->at(meta::resumed_step), "12");

    const auto slower = prepare_applied_run(report, "half_rate");
    ASSERT_TRUE(slower) << describe(slower.error());
    const auto half = read_plan_file(slower->folder / "plan.json");
    EXPECT_DOUBLE_EQ(half->plan.training.optimizer.learning_rate, 5e-4);
    EXPECT_EQ(half->plan.checkpoint.resume_from, (incident_folder(run, 12) / "state_4").string());
    const auto other = prepare_applied_run(report, "bf16");
    ASSERT_TRUE(other) << describe(other.error());
    EXPECT_EQ(read_plan_file(other->folder / "plan.json")->plan.mixed_precision, Precision::Bf16);
}

TEST_F(ReplayTest, WhatDoesNotHoldOrIsNoSettingIsNotApplied) {
    const fs::path run = make_run("refuse replay.bf16=later replay.no=throw");
    const ReplayReport report = replay(run);
    const auto refused = [&](const std::string& id) {
        const auto job = prepare_applied_run(report, id);
        EXPECT_FALSE(job) << id;
        return job ? "" : describe(job.error());
    };
    EXPECT_THAT(refused("as_was"), HasSubstr("as_was does not hold: step 12 is NaN, bad again after 1 steps"));
    EXPECT_THAT(refused("bf16"), HasSubstr("bad again after 4 steps"));
    EXPECT_THAT(refused("no"), HasSubstr("no is failed: the fake engine throws"));
    EXPECT_THAT(refused("scale_1"), HasSubstr("takes up the saved loss scale"));
    EXPECT_THAT(refused("previous_batch"), HasSubstr("no setting of a run"));
    EXPECT_THAT(refused("fp8"), HasSubstr("no variant \"fp8\""));
    EXPECT_EQ(list_run_folders(runs())->size(), 1u) << "nothing is left behind";
}

TEST_F(ReplayTest, AStateThatIsNotKeptIsMadeBeforeARunGoesOn) {
    const fs::path run = make_run("made", 80);
    ReplayOptions options;
    options.variants = {"half_rate"};
    const ReplayReport report = replay(run, {}, options);
    EXPECT_EQ(variant(report, "half_rate").from_step, 30);
    const auto job = prepare_applied_run(report, "half_rate");
    ASSERT_FALSE(job) << "the fake state has no plan, which a run needs to go on";
    const auto kept = incident_states(run);
    ASSERT_EQ(kept.checkpoints.size(), 2u) << describe(job.error());
    EXPECT_EQ(kept.checkpoints[0].step, 80);
    EXPECT_EQ(kept.checkpoints[1].step, 30);
}

TEST_F(ReplayTest, AControlIsFoundInTheComparisonOrAmongTheChildren) {
    const fs::path alone = make_run("alone");
    EXPECT_EQ(find_control(alone), fs::path());
    fs::path control;
    {
        const auto job = prepare_control_run(alone);
        ASSERT_TRUE(job) << describe(job.error());
        control = job->folder;
        EXPECT_EQ(read_plan_file(control / "plan.json")->plan.mixed_precision, Precision::No);
        EXPECT_EQ(read_parent(control)->purpose, "control");
    }
    EXPECT_EQ(find_control(alone), control);
    EXPECT_EQ(find_control(control), control);
    EXPECT_FALSE(prepare_control_run(control));
    EXPECT_FALSE(find_replay_subject(alone, {})->control_finite) << "it has done nothing yet";
    record_steps(control, -1);
    EXPECT_EQ(find_replay_subject(alone, {})->control_finite, true);
    EXPECT_EQ(find_replay_subject(alone, {})->control_run, control);

    auto comparison = prepare_job(JobKind::Comparison, plan("both"), runs());
    ASSERT_TRUE(comparison);
    EXPECT_EQ(find_control(comparison->runs[1].folder.path), comparison->runs[0].folder.path);
}

}  // namespace
}  // namespace mantissa::test
