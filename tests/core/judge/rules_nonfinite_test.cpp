#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "evidence_maker.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// The preset gated-overflow: fp16 stops at step 144, the product is named.
ComparisonEvidence gated() {
    ComparisonEvidence evidence = healthy_comparison();
    stop_at(evidence.runs[1], 144);
    evidence.runs[1].rows.incidents.push_back(overflow_incident(144));
    return evidence;
}

TrialReport trial(double bits) {
    TrialReport report;
    report.mode = Precision::Fp16;
    report.runs = true;
    report.op_kinds = 9;
    report.op_kinds_half = 5;
    report.headroom_bits = bits;
    report.headroom_module = "square";
    return report;
}

TEST(ActivationOverflow, NamesThePlaceTheNumbersAndTheWayOut) {
    const auto verdicts = verdicts_of(gated());
    const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                    [](const Verdict& v) { return v.code == "activation_overflow"; });
    ASSERT_NE(found, verdicts.end());
    EXPECT_EQ(found->severity, "error");
    EXPECT_EQ(
        found->text,
        "At step 144 gate.mul turned finite inputs (261 × 256) into +Inf, because fp16 ends at 65,504, and "
        "the loss became NaN "
        "at step 144; `no` stayed finite and healthy for 300 steps. Train in bf16 (finite for all 300 steps "
        "here) or "
        "keep gate in fp32; lowering the loss scale cannot help, since it doesn't act on the forward pass.");
}

TEST(ActivationOverflow, NeedsAHealthyControl) {
    ComparisonEvidence evidence = gated();
    for (std::int64_t step = 100; step < 300; ++step) evidence.runs[0].rows.steps[step].loss = 1e5;
    EXPECT_THAT(codes_of(evidence), Not(Contains("activation_overflow")));
    EXPECT_THAT(codes_of(evidence), Contains("learning_rate"));
}

TEST(ActivationOverflow, AControlThatFailsOnlyLaterStillCounts) {
    ComparisonEvidence evidence = gated();
    stop_at(evidence.runs[0], 200);
    EXPECT_THAT(codes_of(evidence), Contains("activation_overflow"));
    EXPECT_THAT(codes_of(evidence), Contains("not_precision"));
}

TEST(ActivationOverflow, WithoutAPlaceItIsUnknownWithTheCheapestExperiment) {
    ComparisonEvidence evidence = gated();
    evidence.runs[1].rows.incidents.clear();
    EXPECT_THAT(codes_of(evidence), Not(Contains("activation_overflow")));
    const auto found = findings_of(evidence, "unknown");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].values.at("what"), "bf16_finite");
    EXPECT_EQ(found[0].values.at("next"), "scale_one");
    EXPECT_TRUE(findings_of(gated(), "unknown").empty());
}

TEST(ActivationOverflow, AnOverflowOfTheLossInFp32IsNotOneOfTheFormat) {
    ComparisonEvidence evidence = gated();
    evidence.runs[1].rows.incidents[0].module = "loss";
    EXPECT_THAT(codes_of(evidence), Not(Contains("activation_overflow")));
    evidence = gated();
    evidence.runs[1].rows.incidents[0].detail_json = R"({"dtype": "float32"})";
    EXPECT_THAT(codes_of(evidence), Not(Contains("activation_overflow")));
}

TEST(ActivationOverflow, AHiddenOneIsAWarning) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].rows.incidents.push_back(overflow_incident(66));
    const auto found = findings_of(evidence, "activation_overflow");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, "warning");
    EXPECT_EQ(found[0].values.at("what"), "hidden_seen");
}

TEST(ActivationOverflow, TheTrialNamesThePlaceWhereTheRunDidNot) {
    ComparisonEvidence evidence = gated();
    evidence.runs[1].rows.incidents.clear();
    evidence.runs[1].trial = trial(0.0);
    EXPECT_TRUE(findings_of(evidence, "activation_overflow").empty());
    evidence.runs[1].trial = trial(-0.1);
    ASSERT_EQ(findings_of(evidence, "activation_overflow").size(), 1u);
    EXPECT_EQ(findings_of(evidence, "activation_overflow")[0].values.at("where"), "square");
    evidence.runs[1].trial = trial(-std::numeric_limits<double>::infinity());
    EXPECT_EQ(findings_of(evidence, "activation_overflow").size(), 1u);
}

TEST(ActivationOverflow, AdviceFollowsWhatBf16Did) {
    ComparisonEvidence evidence = gated();
    stop_at(evidence.runs[2], 250);
    EXPECT_EQ(findings_of(evidence, "activation_overflow")[0].values.at("next"), "island");
    evidence.runs.pop_back();
    EXPECT_EQ(findings_of(evidence, "activation_overflow")[0].values.at("next"), "try_bf16");
}

TEST(HeadroomLow, OneBitIsANoteMoreIsNot) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].trial = trial(1.01);
    EXPECT_TRUE(findings_of(evidence, "headroom_low").empty());
    evidence.runs[1].trial = trial(1.0);
    ASSERT_EQ(findings_of(evidence, "headroom_low").size(), 1u);
    EXPECT_EQ(findings_of(evidence, "headroom_low")[0].severity, "note");
    EXPECT_THAT(verdicts_of(evidence)[0].text,
                HasSubstr("square is 1.0 bits below the limit of fp16 (65,504)"));
}

TEST(CauseOpen, WithoutAControlTheFirstThingIsToRunIt) {
    ComparisonEvidence evidence;
    evidence.modes = {Precision::Fp16};
    evidence.runs.push_back(healthy_run(Precision::Fp16));
    EXPECT_TRUE(codes_of(evidence).empty());
    stop_at(evidence.runs[0], 144);
    EXPECT_THAT(codes_of(evidence), ::testing::ElementsAre("cause_open"));
    EXPECT_THAT(verdicts_of(evidence)[0].text, HasSubstr("Run `no` with the same plan"));
    // Nor is a place taken for a cause without the control.
    evidence.runs[0].rows.incidents.push_back(overflow_incident(144));
    EXPECT_THAT(codes_of(evidence), ::testing::ElementsAre("cause_open"));
    EXPECT_THAT(verdicts_of(evidence)[0].text, HasSubstr("gate.mul"));
}

TEST(CauseOpen, AControlThatHasNotMadeAStepIsNone) {
    ComparisonEvidence evidence = gated();
    evidence.runs[0].rows.steps.clear();
    EXPECT_THAT(codes_of(evidence), Contains("cause_open"));
}

TEST(NamedIncidents, AreShownOnlyWithTheirPlace) {
    ComparisonEvidence evidence = healthy_comparison();
    IncidentRow incident;
    incident.step = 4;
    incident.kind = "masked_row";
    incident.severity = "error";
    evidence.runs[2].rows.incidents.push_back(incident);
    EXPECT_TRUE(findings_of(evidence, "masked_row").empty());
    evidence.runs[2].rows.incidents[0].op = "softmax";
    ASSERT_EQ(findings_of(evidence, "masked_row").size(), 1u);
    EXPECT_THAT(verdicts_of(evidence)[0].text,
                HasSubstr("bf16 met a row masked in full at step 4 in softmax"));
}

}  // namespace
}  // namespace mantissa
