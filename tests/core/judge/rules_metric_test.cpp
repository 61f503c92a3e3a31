#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evidence_maker.h"
#include "judge/metric_ruler.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TwoStandardErrors, IsBinomialAndNeverZero) {
    EXPECT_NEAR(two_standard_errors(0.95, 360), 2 * std::sqrt(0.95 * 0.05 / 360), 1e-15);
    EXPECT_GT(two_standard_errors(1.0, 360), 1.0 / 360);  // one sample more or less is no difference
    EXPECT_DOUBLE_EQ(two_standard_errors(0.5, 0), 1.0);
}

TEST(Metric, WithinTwoErrorsTheSameBeyondThemDifferent) {
    ComparisonEvidence evidence = healthy_comparison();
    const double noise = two_standard_errors(0.95, 360);
    evidence.runs[2].summary.metric = 0.95 - noise + 1e-9;
    EXPECT_EQ(findings_of(evidence, "same_within_noise").size(), 2u);
    EXPECT_TRUE(findings_of(evidence, "differs").empty());
    evidence.runs[2].summary.metric = 0.95 - noise - 1e-9;
    EXPECT_EQ(findings_of(evidence, "same_within_noise").size(), 1u);
    ASSERT_EQ(findings_of(evidence, "differs").size(), 1u);
    EXPECT_EQ(findings_of(evidence, "differs")[0].severity, "warning");
    evidence.runs[2].summary.metric = 0.95 + noise + 1e-9;
    EXPECT_EQ(findings_of(evidence, "differs")[0].severity, "note");
}

TEST(Metric, IsNotComparedAcrossLengthsOrWithoutSamples) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].summary.steps = 299;
    evidence.runs[2].summary.validation_samples = 0;
    EXPECT_THAT(codes_of(evidence), Not(Contains("same_within_noise")));
    EXPECT_THAT(codes_of(evidence), Not(Contains("differs")));
}

TEST(Metric, OfARunThatBrokeIsNotCompared) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].summary.metric = 0.37;
    EXPECT_THAT(codes_of(evidence), Contains("differs"));
    evidence.runs[1].rows.steps[20].nonfinite_loss = true;
    EXPECT_THAT(codes_of(evidence), Not(Contains("differs")));
}

TEST(Metric, OfARunThatNeverMovedAWeightIsNotCompared) {
    ComparisonEvidence evidence = healthy_comparison(40);
    evidence.runs[1].summary.metric = 0.1;
    EXPECT_EQ(findings_of(evidence, "differs").size(), 1u);
    for (std::int64_t i = 0; i < 40; ++i) skip(evidence.runs[1], i, SkipKind::Probing);
    EXPECT_TRUE(findings_of(evidence, "differs").empty());
    EXPECT_EQ(findings_of(evidence, "steps_not_applied").size(), 1u);
}

TEST(Metric, TheSpeedOfAnEmulatedModeSaysNothing) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[2].summary.support = Support::Emulated;
    const auto found = findings_of(evidence, "same_within_noise");
    EXPECT_EQ(found[0].values.at("next"), "measured");
    EXPECT_EQ(found[1].values.at("next"), "emulated");
    EXPECT_THAT(verdicts_of(evidence)[1].text,
                HasSubstr("Its speed here says nothing: bf16 is emulated on cpu."));
}

TEST(Slower, OnlyANativeModeAboveTheLimit) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[2].summary.step_ms_median = 5.5;
    EXPECT_TRUE(findings_of(evidence, "slower").empty());
    evidence.runs[2].summary.step_ms_median = 5.51;
    ASSERT_EQ(findings_of(evidence, "slower").size(), 1u);
    EXPECT_EQ(findings_of(evidence, "slower")[0].severity, "note");
    evidence.runs[2].summary.support = Support::Emulated;
    EXPECT_TRUE(findings_of(evidence, "slower").empty());
    evidence.runs[2].summary.support = Support::Native;
    evidence.order = "at-once";
    EXPECT_TRUE(findings_of(evidence, "slower").empty());
}

TEST(Cost, OfABrokenRunOrControlIsNotJudged) {
    ComparisonEvidence evidence = healthy_comparison();
    EXPECT_EQ(findings_of(evidence, "memory_not_lower").size(), 2u);
    stop_at(evidence.runs[1], 144);
    EXPECT_EQ(findings_of(evidence, "memory_not_lower").size(), 1u);
    stop_at(evidence.runs[0], 200);
    EXPECT_TRUE(findings_of(evidence, "memory_not_lower").empty());
}

TEST(MemoryNotLower, OneByteLessIsLower) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].summary.memory_peak_bytes = 11'999'999;
    evidence.runs[2].summary.memory_peak_bytes = 12'000'000;
    const auto found = findings_of(evidence, "memory_not_lower");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].mode, "bf16");
    EXPECT_EQ(found[0].severity, "note");
}

}  // namespace
}  // namespace mantissa
