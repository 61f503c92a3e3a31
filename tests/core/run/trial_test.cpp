// One batch of a model in one mode: what a trial finds.
#include <limits>

#include "training_fixture.h"

namespace mantissa {
namespace {

TEST_F(Training, TrialMeasuresThisModel) {
    const auto report =
        mantissa_engine_api()->trial(preset("gated-overflow", Precision::No), Precision::Bf16);
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->runs);
    EXPECT_TRUE(report->loss_finite && report->outputs_finite);
    EXPECT_GT(report->step_ms, 0);
    EXPECT_GT(report->memory_peak_bytes, 100'000);
    EXPECT_EQ(report->multiply_adds, report->multiply_adds_half);
    EXPECT_GE(report->op_kinds_half, 5);
    EXPECT_LT(report->op_kinds_half, report->op_kinds);
    ASSERT_TRUE(report->headroom_bits.has_value());
    EXPECT_GT(*report->headroom_bits, 100);
    EXPECT_EQ(report->headroom_module, "gate.mul");
}

// Where the time of a step goes. Most of this model's step is no product: its squares, its loss, the casts and the update.
TEST_F(Training, TrialClocksTheProductsOfAStep) {
    const auto report = mantissa_engine_api()->trial(preset("cancer-overflow", Precision::No), Precision::Bf16);
    ASSERT_TRUE(report.ok() && report->runs);
    ASSERT_TRUE(report->op_time.has_value());
    EXPECT_GT(report->op_time->products_ms, 0);
    EXPECT_LE(report->op_time->products_ms, report->op_time->step_ms);
    EXPECT_EQ(report->op_time->step_ms, report->step_ms);
}

TEST_F(Training, AnIslandThatTheFirstStepDoesNotRunIsAFaultOfThePlanNotOfTheMode) {
    RunPlan plan = preset("digits-mlp", Precision::No);
    plan.fp32_islands = {"hidden.softmax"};
    const auto report = mantissa_engine_api()->trial(plan, Precision::Bf16);
    ASSERT_TRUE(!report && report.error().code == ErrorCode::BadPlan);
    EXPECT_EQ(report.error().message, "fp32_islands[0] is \"hidden.softmax\", but hidden ran no softmax in the first step");
}

TEST_F(Training, TrialSeesTheOverflow) {
    const auto report =
        mantissa_engine_api()->trial(preset("cancer-overflow", Precision::No), Precision::Fp16);
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->runs);
    EXPECT_FALSE(report->loss_finite);
    EXPECT_FALSE(report->outputs_finite);
    EXPECT_EQ(*report->headroom_bits, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(report->headroom_module, "square.mul");
}

TEST_F(Training, WhatAnIslandGivesIsNotMeasuredAgainstTheLimitOfTheMode) {
    RunPlan plan = preset("cancer-overflow", Precision::No);
    plan.fp32_islands = {"square", "head"};
    const auto report = mantissa_engine_api()->trial(plan, Precision::Fp16);
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->loss_finite && report->outputs_finite);
    EXPECT_GT(*report->headroom_bits, 0);
    EXPECT_EQ(report->headroom_module, "hidden");
}

}  // namespace
}  // namespace mantissa
