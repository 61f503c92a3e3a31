#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evidence_maker.h"
#include "record/exponent_histogram.h"

namespace mantissa {
namespace {

using namespace test;

TensorStatRow output_row(std::int64_t step, double largest, const std::string& tensor = "gate.mul") {
    TensorStatRow row;
    row.step = step;
    row.tensor = tensor;
    row.role = TensorRole::Output;
    row.dtype = "float16";
    row.elements = 64;
    row.largest = largest;
    return row;
}

/// 100 gradients: `small` of them 2^-26 (flushed in fp16 below scale 2^2), the others 2^-10.
TensorStatRow gradient_row(std::int64_t step, std::uint64_t small) {
    const auto bin_of = [](int exponent) { return static_cast<std::uint16_t>((127 + exponent) * 16); };
    TensorStatRow row;
    row.step = step;
    row.tensor = "head.weight";
    row.role = TensorRole::Gradient;
    row.dtype = "float32";
    row.elements = 100;
    row.largest = std::ldexp(1.0, -10);
    row.smallest_nonzero = std::ldexp(1.0, small > 0 ? -26 : -10);
    ExponentHistogram histogram;
    if (small > 0) histogram.bins.push_back({bin_of(-26), small, 0});
    histogram.bins.push_back({bin_of(-10), 100 - small, 0});
    row.exponents = histogram.to_blob();
    return row;
}

TEST(HeadroomLow, OfRecordedOutputsSinceAndBefore) {
    ComparisonEvidence evidence = healthy_comparison();
    auto& records = evidence.runs[1].rows.tensor_stats;
    // 2^12 at step 0, doubled every 50 steps: 2^15 = one bit less than 65,504 at step 150.
    for (std::int64_t i = 0; i < 3; ++i) records.push_back(output_row(50 * i, std::ldexp(1.0, 12 + static_cast<int>(i))));
    EXPECT_TRUE(findings_of(evidence, "headroom_low").empty());
    records.push_back(output_row(150, 32768));
    auto found = findings_of(evidence, "headroom_low");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, "note");
    EXPECT_EQ(found[0].values.at("where"), "gate.mul");
    EXPECT_EQ(found[0].values.at("since"), "150");
    EXPECT_EQ(found[0].values.at("what"), "rising");
    EXPECT_EQ(found[0].values.at("before"), "200");
    records.push_back(output_row(200, 32760));
    records.push_back(output_row(250, 32760));
    for (std::int64_t i = 0; i < 8; ++i) records.push_back(output_row(300 + 50 * i, 32760));
    EXPECT_EQ(findings_of(evidence, "headroom_low")[0].values.at("what"), "steady");
    records.push_back(output_row(700, 30000));
    EXPECT_TRUE(findings_of(evidence, "headroom_low").empty()) << "1.13 bits again";
    records.back().dtype = "float32";
    EXPECT_TRUE(findings_of(evidence, "headroom_low").size() <= 1u);
}

TEST(HeadroomLow, OutputsInFp32HaveNoLimit) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].rows.tensor_stats = {output_row(0, 60000)};
    EXPECT_EQ(findings_of(evidence, "headroom_low").size(), 1u);
    evidence.runs[1].rows.tensor_stats[0].dtype = "float32";
    EXPECT_TRUE(findings_of(evidence, "headroom_low").empty());
    evidence.runs[1].rows.tensor_stats[0].dtype = "bfloat16";
    EXPECT_TRUE(findings_of(evidence, "headroom_low").empty());
}

/// fp16 at loss scale 1 that ends at a loss 1.32 times that of the control.
ComparisonEvidence flushed(std::uint64_t small) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[0].rows.tensor_stats = {gradient_row(250, small)};
    for (StepRow& row : evidence.runs[1].rows.steps) {
        row.loss *= 1.32;
        row.loss_scale = 1;
    }
    return evidence;
}

TEST(GradientUnderflow, IsToldWithTheScaleThatWouldKeepThem) {
    const auto found = findings_of(flushed(45), "gradient_underflow");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, "warning");
    EXPECT_EQ(found[0].values.at("share"), "45.0 %");
    EXPECT_EQ(found[0].values.at("step"), "250");
    EXPECT_EQ(found[0].values.at("next"), "raise");
    EXPECT_EQ(found[0].values.at("better"), "2^2");  // 2^-26 · 4 = 2^-24, the smallest that fp16 has
    EXPECT_EQ(found[0].values.at("better_share"), "0.0 %");
    for (const char* language : {"en", "zh"}) EXPECT_EQ(fill_findings(found, texts(language)).size(), 1u);
}

TEST(GradientUnderflow, NeedsTheShareAndTheLoss) {
    EXPECT_EQ(findings_of(flushed(10), "gradient_underflow").size(), 1u);
    EXPECT_TRUE(findings_of(flushed(9), "gradient_underflow").empty());
    ComparisonEvidence evidence = flushed(45);
    for (StepRow& row : evidence.runs[1].rows.steps) row.loss *= 1.04 / 1.32;
    EXPECT_TRUE(findings_of(evidence, "gradient_underflow").empty()) << "the loss doesn't lag";
    evidence = flushed(45);
    for (StepRow& row : evidence.runs[1].rows.steps) row.loss_scale = 4;
    EXPECT_TRUE(findings_of(evidence, "gradient_underflow").empty()) << "nothing is flushed at that scale";
    evidence = flushed(45);
    evidence.runs[0].rows.tensor_stats.clear();
    EXPECT_TRUE(findings_of(evidence, "gradient_underflow").empty()) << "no record, no verdict";
}

/// fp16 with batch norm, one skipped step, and an evaluation ten times worse than the control's.
ComparisonEvidence spoilt_statistics(double evaluated) {
    ComparisonEvidence evidence = healthy_comparison();
    for (RunEvidence& run : evidence.runs) {
        run.rows.op_dtypes.push_back({0, "forward", "batch_norm", "float32", 1, 0});
        run.rows.evaluations.push_back({300, "validation", "loss", 0.2, "fp32", 360});
        run.plan.batch_norm_on_skip = "keep";
    }
    skip(evidence.runs[1], 0, SkipKind::Probing);
    evidence.runs[1].rows.evaluations[0].value = evaluated;
    return evidence;
}

TEST(BatchNormPoisoned, FiniteStatisticsFarOffTraining) {
    const auto found = findings_of(spoilt_statistics(2.01), "batchnorm_poisoned");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].mode, "fp16");
    EXPECT_EQ(found[0].values.at("evaluated"), "2.01");
    for (const char* language : {"en", "zh"}) EXPECT_EQ(fill_findings(found, texts(language)).size(), 1u);
    EXPECT_EQ(findings_of(spoilt_statistics(NAN), "batchnorm_poisoned").size(), 1u);
    EXPECT_TRUE(findings_of(spoilt_statistics(1.99), "batchnorm_poisoned").empty());
}

TEST(BatchNormPoisoned, NeedsASkipABatchNormAndKeep) {
    ComparisonEvidence evidence = spoilt_statistics(5);
    evidence.runs[1].plan.batch_norm_on_skip = "restore";
    EXPECT_TRUE(findings_of(evidence, "batchnorm_poisoned").empty());
    evidence = spoilt_statistics(5);
    evidence.runs[1].rows.op_dtypes.pop_back();
    EXPECT_TRUE(findings_of(evidence, "batchnorm_poisoned").empty());
    evidence = spoilt_statistics(5);
    evidence.runs[1].rows.steps[0].skipped = false;
    evidence.runs[1].rows.steps[0].skip_kind = SkipKind::None;
    EXPECT_TRUE(findings_of(evidence, "batchnorm_poisoned").empty());
}

TEST(Slower, NamesTheLoaderTheProductsOrNothing) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[2].summary.step_ms_median = 6;
    EXPECT_EQ(findings_of(evidence, "slower")[0].values.at("next"), "plain");
    for (StepRow& row : evidence.runs[2].rows.steps) row.data_ns = 1'250'000;  // a fifth of 6.25 ms
    EXPECT_EQ(findings_of(evidence, "slower")[0].values.at("next"), "plain");
    for (StepRow& row : evidence.runs[2].rows.steps) row.data_ns = 1'260'000;
    EXPECT_EQ(findings_of(evidence, "slower")[0].values.at("next"), "loader");
    EXPECT_EQ(findings_of(evidence, "slower")[0].values.at("loader"), "20 %");
    for (StepRow& row : evidence.runs[2].rows.steps) row.data_ns = 0;
    TrialReport trial;
    trial.runs = true;
    trial.step_ms = 4;
    evidence.runs[0].trial = trial;
    trial.multiply_adds = trial.multiply_adds_half = 1000;
    trial.step_ms = 4.4;
    evidence.runs[2].trial = trial;
    EXPECT_EQ(findings_of(evidence, "slower")[0].values.at("next"), "plain");
    evidence.runs[2].trial->step_ms = 4.5;
    EXPECT_EQ(findings_of(evidence, "slower")[0].values.at("next"), "products");
    const auto found = findings_of(evidence, "slower");
    for (const char* language : {"en", "zh"}) EXPECT_EQ(fill_findings(found, texts(language)).size(), 1u);
}

}  // namespace
}  // namespace mantissa
