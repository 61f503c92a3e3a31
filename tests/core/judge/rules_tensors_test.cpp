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
    const auto bin_of = [](int exponent) { return static_cast<std::uint16_t>(histogram_place(std::ldexp(1.0, exponent)).index); };
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

/// A trial with half multiply-adds whose clocked step spent so much in products.
TrialReport clocked(double products_ms, double step_ms) {
    TrialReport trial;
    trial.runs = true;
    trial.multiply_adds = trial.multiply_adds_half = 1000;
    trial.op_time = {products_ms, step_ms};
    return trial;
}

/// bf16 at 6 ms a step where `no` has 5.
ComparisonEvidence slow(const TrialReport& control, const TrialReport& bf16) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[2].summary.step_ms_median = 6;
    evidence.runs[0].trial = control;
    evidence.runs[2].trial = bf16;
    return evidence;
}

std::string cause_of(const ComparisonEvidence& evidence) {
    const auto found = findings_of(evidence, "slower");
    if (found.size() != 1) return std::to_string(found.size()) + " verdicts";
    for (const char* language : {"en", "zh"}) EXPECT_EQ(fill_findings(found, texts(language)).size(), 1u);
    return found[0].values.at("next");
}

TEST(Slower, NamesTheLoaderAboveAFifthOfTheStep) {
    ComparisonEvidence evidence = slow(clocked(4, 5), clocked(4.8, 6));
    const auto data_takes = [&](std::int64_t ns) {
        for (StepRow& row : evidence.runs[2].rows.steps) row.data_ns = ns;
    };
    data_takes(1'250'000);  // a fifth of 6.25 ms
    EXPECT_EQ(cause_of(evidence), "products");
    data_takes(1'260'000);
    EXPECT_EQ(cause_of(evidence), "loader");
    EXPECT_EQ(findings_of(evidence, "slower")[0].values.at("loader"), "20 %");
}

TEST(Slower, NamesWhatLiesOutsideProductsAboveThirtyPerCent) {
    // The products are no slower than those of `no`: what grew is the rest.
    EXPECT_EQ(cause_of(slow(clocked(4.2, 5), clocked(4.2, 6.01))), "outside");  // 30.1 %
    EXPECT_EQ(cause_of(slow(clocked(4.2, 5), clocked(4.2, 6))), "none");        // 30 %
    const auto found = findings_of(slow(clocked(4.2, 5), clocked(3, 6)), "slower");
    EXPECT_EQ(found[0].values.at("outside"), "50 %");
    EXPECT_EQ(fill_findings(found, texts())[0].text,
              "bf16 took 6.00 ms a step where `no` takes 5.00 ms (×1.20, medians of 300 steps on cpu). 50 % of a step lies outside matrix "
              "products and convolutions (3.00 of 6.00 ms in the trial), where half precision saves little and its casts cost: try a larger "
              "batch or wider layers, or keep `no`.");
}

TEST(Slower, NamesHalfProductsThatAreSlowerThemselves) {
    EXPECT_EQ(cause_of(slow(clocked(4, 5), clocked(4.4, 5.6))), "none");
    EXPECT_EQ(cause_of(slow(clocked(4, 5), clocked(4.5, 5.6))), "products");
    ComparisonEvidence evidence = slow(clocked(4, 5), clocked(4.5, 5.6));
    evidence.runs[2].trial->multiply_adds_half = 0;
    EXPECT_EQ(cause_of(evidence), "none") << "no product ran in half";
}

TEST(Slower, OfTwoCausesTheOneWithTheLargerPartOfTheExtraTime) {
    EXPECT_EQ(cause_of(slow(clocked(2, 4), clocked(3, 5.9))), "products");  // 1.0 ms more in products, 0.9 outside
    EXPECT_EQ(cause_of(slow(clocked(2, 4), clocked(3, 6.1))), "outside");   // 1.1 outside
}

TEST(Slower, NamesNoCauseThatWasNotMeasured) {
    EXPECT_EQ(cause_of(slow(clocked(4, 5), TrialReport{})), "plain");
    EXPECT_EQ(cause_of(slow(TrialReport{}, clocked(3, 6))), "plain");
    ComparisonEvidence evidence = slow(clocked(4, 5), clocked(3, 6));
    evidence.runs[2].trial->runs = false;
    EXPECT_EQ(cause_of(evidence), "plain");
    evidence.runs[0].trial.reset();
    EXPECT_EQ(cause_of(evidence), "plain");
}

}  // namespace
}  // namespace mantissa
