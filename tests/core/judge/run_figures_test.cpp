#include "judge/run_figures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evidence_maker.h"

namespace mantissa {
namespace {

using namespace test;

RunFigures figures_of(const RunEvidence& run) {
    return run_figures(run.rows.steps, run.plan.loss_scale_floor);
}

TEST(RunFigures, StartSkipsAndLaterSkipsAreToldApart) {
    RunEvidence run = healthy_run(Precision::Fp16, 100);
    for (std::int64_t step = 0; step < 15; ++step) {
        run.rows.steps[step].loss_scale = std::ldexp(1.0, static_cast<int>(32 - step));
        skip(run, step, SkipKind::Probing);
    }
    for (std::int64_t step = 15; step < 100; ++step) run.rows.steps[step].loss_scale = std::ldexp(1.0, 17);
    skip(run, 60, SkipKind::Probing);
    skip(run, 61, SkipKind::Probing);
    const RunFigures figures = figures_of(run);
    EXPECT_EQ(figures.skips_at_start, 15);
    EXPECT_EQ(figures.skips_later_probing, 2);
    EXPECT_EQ(figures.longest_later_skip_row, 2);
    EXPECT_EQ(figures.applied, 83);
    EXPECT_EQ(figures.scale_first, std::ldexp(1.0, 32));
    EXPECT_EQ(figures.scale_settled, std::ldexp(1.0, 17));
    EXPECT_FALSE(figures.in_trouble());
}

TEST(RunFigures, ARunThatGoesOnCountsItsOwnStepsAndItsFirstSkipIsNoStart) {
    RunEvidence run = healthy_run(Precision::Fp16, 40);
    skip(run, 0, SkipKind::Probing);
    for (StepRow& row : run.rows.steps) {
        row.step += 300;
        row.applied_step += 290;
    }
    const auto figures = run_figures(run.rows.steps, run.plan.loss_scale_floor, true);
    EXPECT_EQ(figures.attempts, 40);
    EXPECT_EQ(figures.applied, 39);
    EXPECT_EQ(figures.last_step, 339);
    EXPECT_EQ(figures.skips_at_start, 0);
    EXPECT_EQ(figures.skips_later_probing, 1);
    // A scale that starts anew looks for its place once more.
    EXPECT_EQ(figures_of(run).skips_at_start, 1);
}

TEST(RunFigures, SevenFaultsInARowAreNotPersistentEightAre) {
    RunEvidence run = healthy_run(Precision::Fp16, 100);
    for (std::int64_t step = 20; step < 27; ++step) skip(run, step, SkipKind::Fault);
    EXPECT_FALSE(figures_of(run).persistent);
    skip(run, 27, SkipKind::Fault);
    EXPECT_TRUE(figures_of(run).persistent);
    EXPECT_EQ(figures_of(run).first_fault_step, 20);
}

TEST(RunFigures, TenFaultsWithinFiftyStepsArePersistentAcrossFiftyOneNot) {
    RunEvidence run = healthy_run(Precision::Fp16, 200);
    for (std::int64_t i = 0; i < 9; ++i) skip(run, 20 + 5 * i, SkipKind::Fault);
    EXPECT_FALSE(figures_of(run).persistent);
    RunEvidence other = run;
    skip(other, 70, SkipKind::Fault);  // 20..70 are 51 steps
    EXPECT_FALSE(figures_of(other).persistent);
    skip(run, 69, SkipKind::Fault);  // 20..69 are 50
    EXPECT_TRUE(figures_of(run).persistent);
}

TEST(RunFigures, AGradientThatOverflowsUnderTheScalerIsNoBadStep) {
    RunEvidence fp16 = healthy_run(Precision::Fp16, 10);
    fp16.rows.steps[3].nonfinite_grads = 7;
    skip(fp16, 3, SkipKind::Probing);
    EXPECT_FALSE(figures_of(fp16).first_bad_step());
    RunEvidence control = healthy_run(Precision::No, 10);
    control.rows.steps[3].nonfinite_grads = 7;
    EXPECT_EQ(figures_of(control).first_bad_step(), 3);
}

TEST(RunFigures, AStopAtABadStepAppliesNothingThere) {
    RunEvidence run = healthy_run(Precision::Bf16, 50);
    stop_at(run, 20);
    const RunFigures figures = figures_of(run);
    EXPECT_EQ(figures.attempts, 21);
    EXPECT_EQ(figures.applied, 20);
    EXPECT_EQ(figures.first_nonfinite_loss, 20);
    EXPECT_TRUE(std::isnan(*figures.first_nonfinite_value));
}

}  // namespace
}  // namespace mantissa
