#include "judge/self_test_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mantissa {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// fp16 with one overflow in the first of four steps, as it should be.
SelfTestRun healthy() {
    SelfTestRun run;
    run.mode = Precision::Fp16;
    run.planned_steps = 4;
    run.gamma = 0.5;
    run.control_loss = 2.0;
    for (std::int64_t i = 0; i < 4; ++i) {
        StepRow row;
        row.step = i;
        row.applied_step = i;
        row.loss = 2.01 - 0.1 * static_cast<double>(i);
        row.learning_rate = i < 2 ? 0.1 : 0.1 * std::pow(0.5, static_cast<double>(i - 1));
        row.skipped = i == 0;
        row.grad_norm = i == 0 ? std::numeric_limits<double>::infinity() : 1.0;
        row.loss_scale = i == 0 ? 1024 : 512;
        run.steps.push_back(row);
    }
    run.op_dtypes.push_back({0, "forward", "addmm", "float16", 1, 100});
    run.op_dtypes.push_back({0, "forward", "relu", "float32", 1, 0});
    return run;
}

TEST(SelfTestChecks, AHealthyRunBreaksNothing) {
    EXPECT_THAT(broken_promises(healthy()), IsEmpty());
    SelfTestRun control = healthy();
    control.mode = Precision::No;
    control.op_dtypes.erase(control.op_dtypes.begin());
    control.steps.erase(control.steps.begin());
    control.planned_steps = 3;
    control.control_loss = control.steps.front().loss;
    for (StepRow& row : control.steps) row.loss_scale.reset();
    EXPECT_THAT(broken_promises(control), IsEmpty());
}

TEST(SelfTestChecks, Fp8RunsInBothPassesAndMayLeaveBf16Beside) {
    SelfTestRun run = healthy();
    run.mode = Precision::Fp8;
    run.steps.erase(run.steps.begin());
    run.planned_steps = 3;
    run.control_loss = run.steps.front().loss;
    for (StepRow& row : run.steps) row.loss_scale.reset();
    run.op_dtypes = {{0, "forward", "_scaled_mm", "float8_e4m3fn", 1, 100}, {0, "forward", "addmm", "bfloat16", 1, 10}};
    EXPECT_THAT(broken_promises(run), Contains("0 multiply-adds ran in fp8"));
    run.op_dtypes.push_back({0, "backward", "_scaled_mm", "float8_e5m2", 2, 200});
    EXPECT_THAT(broken_promises(run), IsEmpty());
    run.mode = Precision::Bf16;
    EXPECT_THAT(broken_promises(run), Contains("100 multiply-adds ran in fp8"));
}

TEST(SelfTestChecks, EachBrokenPromiseIsNamed) {
    const auto broken = [](void (*harm)(SelfTestRun&)) {
        SelfTestRun run = healthy();
        harm(run);
        return broken_promises(run);
    };
    EXPECT_THAT(broken([](SelfTestRun& run) { run.steps.pop_back(); }),
                Contains("3 of 4 steps were recorded"));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.op_dtypes.clear(); }),
                Contains("0 multiply-adds ran in float16"));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.mode = Precision::Bf16; }),
                Contains("100 multiply-adds ran in float16"));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.steps[1].learning_rate = 0.05; }),
                Contains("step 0: the schedule moved although the step was skipped"));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.steps[3].learning_rate = 0.05; }),
                Contains("step 2: the schedule did not move"));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.steps[1].loss_scale = 1024; }),
                Contains("step 0: the loss scale did not back off after the overflow"));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.steps[2].loss_scale = 256; }),
                Contains("step 1: the loss scale moved without an overflow"));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.steps[0].skipped = false; }),
                Contains("step 0: applied with gradients that are not finite"));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.steps[2].applied_step = 1; }),
                Contains("step 1: the count of applied steps is wrong after it"));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.control_loss = 3; }),
                Contains(HasSubstr("that of no is 3")));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.steps[3].loss = 2.5; }),
                Contains(HasSubstr("the loss did not fall")));
    EXPECT_THAT(broken([](SelfTestRun& run) { run.steps[3].loss = std::nan(""); }),
                Contains(HasSubstr("the loss did not fall")));
}

TEST(SelfTestChecks, ATrainingThatWentOnIsHeldAgainstTheUncutOne) {
    const std::vector<StepRow> uncut = healthy().steps;
    const std::vector<StepRow> rest(uncut.begin() + 2, uncut.end());
    EXPECT_THAT(differences_after_resume(uncut, rest), IsEmpty());
    EXPECT_THAT(differences_after_resume(uncut, {uncut[0]}), testing::ElementsAre(HasSubstr("it ended at step 0")));
    EXPECT_THAT(differences_after_resume(uncut, {}), testing::ElementsAre(HasSubstr("recorded no step")));
    auto other = rest;
    other[0].loss = std::nextafter(other[0].loss, 1.0);  // one bit is enough, and it is told once
    other[1].loss += 1;
    EXPECT_THAT(differences_after_resume(uncut, other), testing::ElementsAre("step 2 is another after going on from a checkpoint"));
    for (const auto change : {+[](StepRow& row) { row.grad_norm = 2; }, +[](StepRow& row) { row.loss_scale = 1024; },
                              +[](StepRow& row) { row.growth_tracker = 7; }, +[](StepRow& row) { row.skipped = true; },
                              +[](StepRow& row) { row.learning_rate *= 2; }, +[](StepRow& row) { row.applied_step = 9; }}) {
        auto changed = rest;
        change(changed[1]);
        EXPECT_THAT(differences_after_resume(uncut, changed), testing::ElementsAre(HasSubstr("step 3 is another")));
    }
}

TEST(SelfTestChecks, AGpuIsHeldAgainstTheCpu) {
    const std::vector<StepRow> cpu = healthy().steps;
    EXPECT_THAT(differences_from_cpu(Precision::No, cpu, cpu), IsEmpty());
    EXPECT_THAT(differences_from_cpu(Precision::No, cpu, {cpu[0]}), testing::ElementsAre(HasSubstr("the GPU 1")));
    auto gpu = cpu;
    gpu[2].loss += 0.01;
    EXPECT_THAT(differences_from_cpu(Precision::Fp16, cpu, gpu), IsEmpty());
    EXPECT_THAT(differences_from_cpu(Precision::No, cpu, gpu), testing::ElementsAre(HasSubstr("step 2 has the loss")));
    gpu[2].loss = std::nan("");
    EXPECT_THAT(differences_from_cpu(Precision::Bf16, cpu, gpu), testing::ElementsAre(HasSubstr("step 2 has the loss NaN on the GPU")));
    gpu = cpu;
    gpu[1].skipped = !gpu[1].skipped;
    EXPECT_THAT(differences_from_cpu(Precision::Fp16, cpu, gpu), testing::ElementsAre(HasSubstr("alone")));
}

}  // namespace
}  // namespace mantissa
