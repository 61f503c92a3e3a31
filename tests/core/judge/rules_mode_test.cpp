#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evidence_maker.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::HasSubstr;

TEST(ModeNotEffective, OneHalfOpKindIsEnoughNoneIsNot) {
    ComparisonEvidence evidence = healthy_comparison();
    EXPECT_TRUE(findings_of(evidence, "mode_not_effective").empty());
    evidence.runs[2].rows.op_dtypes[0].dtype = "float32";
    const auto verdicts = verdicts_of(evidence);
    ASSERT_FALSE(verdicts.empty());
    EXPECT_EQ(verdicts[0].code, "mode_not_effective");
    EXPECT_EQ(verdicts[0].mode, "bf16");
    EXPECT_EQ(verdicts[0].severity, "error");
    EXPECT_THAT(verdicts[0].text, HasSubstr("bf16 was asked for, but 0 of 2 op kinds ran in it"));
}

TEST(ModeNotEffective, AnotherEffectiveModeIsToldWithItsSource) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[2].summary.effective = Precision::No;
    evidence.runs[2].rows.op_dtypes[0].dtype = "float32";
    evidence.runs[2].plan.mode_source = "flag --mixed_precision";
    EXPECT_THAT(verdicts_of(evidence)[0].text, HasSubstr("(flag --mixed_precision)"));
    evidence.runs[2].rows.op_dtypes.clear();
    EXPECT_THAT(verdicts_of(evidence)[0].text,
                HasSubstr("bf16 was asked for, but the effective mode is no."));
}

TEST(ModeNotEffective, TheTrialCountsWhereTheRunRecordedNoOps) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].rows.op_dtypes.clear();
    EXPECT_TRUE(findings_of(evidence, "mode_not_effective").empty());  // nothing known, nothing said
    TrialReport trial;
    trial.mode = Precision::Fp16;
    trial.runs = true;
    trial.op_kinds = 9;
    trial.op_kinds_half = 0;
    evidence.runs[1].trial = trial;
    EXPECT_EQ(findings_of(evidence, "mode_not_effective").size(), 1u);
    evidence.runs[1].trial->op_kinds_half = 1;
    EXPECT_TRUE(findings_of(evidence, "mode_not_effective").empty());
}

TEST(ModeNotEffective, Fp8WithoutAProductInItIsBf16) {
    ComparisonEvidence evidence = healthy_comparison();
    RunEvidence& run = evidence.runs[2];
    run.summary.mode = run.summary.requested = run.summary.effective = Precision::Fp8;
    const auto verdicts = verdicts_of(evidence);
    ASSERT_FALSE(verdicts.empty());
    EXPECT_EQ(verdicts[0].code, "mode_not_effective");
    EXPECT_THAT(verdicts[0].text, HasSubstr("fp8 was asked for, but no product ran in it"));
    run.rows.op_dtypes[0].dtype = "float8_e4m3fn";
    EXPECT_TRUE(findings_of(evidence, "mode_not_effective").empty());
}

TEST(ModeNotEffective, TheControlIsNeverAccused) {
    ComparisonEvidence evidence;
    evidence.modes = {Precision::No};
    evidence.runs.push_back(healthy_run(Precision::No));
    EXPECT_TRUE(codes_of(evidence).empty());
}

TEST(LossInHalf, OnlyALossOpOfTheForwardPassInHalf) {
    ComparisonEvidence evidence = healthy_comparison();
    EXPECT_TRUE(findings_of(evidence, "loss_in_half").empty());
    evidence.runs[1].rows.op_dtypes.push_back({0, "forward", "mse_loss", "float16", 1, 0});
    ASSERT_EQ(findings_of(evidence, "loss_in_half").size(), 1u);
    EXPECT_EQ(findings_of(evidence, "loss_in_half")[0].mode, "fp16");
}

}  // namespace
}  // namespace mantissa
