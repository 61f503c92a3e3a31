#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evidence_maker.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Lesson 8: linear model, learning rate 1. fp16 breaks at 60, no and bf16 at 172, all growing from the
/// start.
ComparisonEvidence too_fast() {
    ComparisonEvidence evidence = healthy_comparison();
    for (RunEvidence& run : evidence.runs) {
        for (StepRow& row : run.rows.steps) row.loss = 1.2 * std::pow(1.635, static_cast<double>(row.step));
        run.plan.learning_rate = 1.0;
    }
    stop_at(evidence.runs[0], 172);
    stop_at(evidence.runs[1], 60);
    stop_at(evidence.runs[2], 172);
    return evidence;
}

TEST(LearningRate, TellsGrowthWhoWasFirstAndWhoFollowed) {
    const auto verdicts = verdicts_of(too_fast());
    const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                    [](const Verdict& v) { return v.code == "learning_rate"; });
    ASSERT_NE(found, verdicts.end());
    EXPECT_EQ(found->mode, "");
    EXPECT_THAT(found->text, HasSubstr("in the first 61 steps; fp16 merely reached its limit first (step "
                                       "60), `no` followed at step 172."));
    EXPECT_THAT(found->text,
                HasSubstr("Lower the learning rate from 1 (the cheapest trial: the same plan at 0.5)"));
    EXPECT_THAT(codes_of(too_fast()), Not(Contains("not_precision")));
    EXPECT_THAT(codes_of(too_fast()), Not(Contains("unknown")));
}

TEST(LearningRate, AHalfRunThatFailedAtOnceDoesNotHideTheGrowthOfTheControl) {
    ComparisonEvidence evidence = healthy_comparison();
    stop_at(evidence.runs[1], 0);
    for (std::int64_t i = 1; i < 5; ++i) evidence.runs[0].rows.steps[i].loss = std::pow(1e5, i);
    stop_at(evidence.runs[0], 5);
    EXPECT_THAT(codes_of(evidence), Contains("learning_rate"));
    EXPECT_THAT(codes_of(evidence), Not(Contains("not_precision")));
}

TEST(LearningRate, BelowAThousandfoldItIsNotThat) {
    ComparisonEvidence evidence = healthy_comparison();
    const double start = evidence.runs[0].rows.steps[0].loss;
    stop_at(evidence.runs[1], 100);
    evidence.runs[0].rows.steps[95].loss = start * 999;
    EXPECT_THAT(codes_of(evidence), Not(Contains("learning_rate")));
    evidence.runs[0].rows.steps[95].loss = start * 1000;
    EXPECT_THAT(codes_of(evidence), Contains("learning_rate"));
}

TEST(LearningRate, ASpikeThatIsLongOverIsNoDivergence) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[0].rows.steps[95].loss = 1e9;
    EXPECT_THAT(codes_of(evidence), Not(Contains("learning_rate")));
}

TEST(NotPrecision, AControlThatFailsWithoutGrowing) {
    ComparisonEvidence evidence = healthy_comparison();
    EXPECT_THAT(codes_of(evidence), Not(Contains("not_precision")));
    stop_at(evidence.runs[0], 5);
    evidence.runs[0].rows.steps[4].nonfinite_grads = 60;
    const auto found = findings_of(evidence, "not_precision");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].values.at("what"), "gradient_then_loss");
    EXPECT_EQ(found[0].values.at("step"), "4");
    EXPECT_EQ(found[0].values.at("loss_step"), "5");
    EXPECT_EQ(found[0].values.at("next"), "plain");
}

TEST(NotPrecision, TellsTheParameterOfTheFirstBadGradient) {
    ComparisonEvidence evidence = healthy_comparison();
    stop_at(evidence.runs[0], 5);
    IncidentRow incident;
    incident.step = 5;
    incident.phase = "backward";
    incident.kind = "unknown";
    incident.tensor = "head.weight";
    evidence.runs[0].rows.incidents.push_back(incident);
    EXPECT_EQ(findings_of(evidence, "not_precision")[0].values.at("next"), "tensor");
    EXPECT_EQ(findings_of(evidence, "not_precision")[0].values.at("tensor"), "head.weight");
}

TEST(NotPrecision, TellsTheLogarithmAndItsSample) {
    ComparisonEvidence evidence = healthy_comparison();
    stop_at(evidence.runs[0], 5);
    evidence.runs[0].rows.steps[4].nonfinite_grads = 60;
    IncidentRow incident;
    incident.step = 4;
    incident.kind = "log_of_zero";
    incident.severity = "error";
    incident.module = "loss";
    incident.op = "log";
    incident.detail_json = R"({"operands": [2.5e-44], "sample": 43})";
    evidence.runs[0].rows.incidents.push_back(incident);
    const auto found = findings_of(evidence, "not_precision");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].values.at("next"), "log");
    EXPECT_EQ(found[0].values.at("sample"), "43");
    EXPECT_EQ(found[0].values.at("where"), "loss.log");
    // In the loss itself it is the logarithm, not its backward.
    evidence.runs[0].rows.incidents.back().phase = "loss";
    EXPECT_EQ(findings_of(evidence, "not_precision")[0].values.at("next"), "log_loss");
}

TEST(SurvivedBySkipping, OnlyTheRunThatSkippedTheVeryStepOfTheControl) {
    ComparisonEvidence evidence = healthy_comparison();
    stop_at(evidence.runs[0], 4);
    EXPECT_TRUE(findings_of(evidence, "survived_by_skipping").empty());
    skip(evidence.runs[1], 5, SkipKind::Probing);
    EXPECT_TRUE(findings_of(evidence, "survived_by_skipping").empty());
    skip(evidence.runs[1], 4, SkipKind::Probing);
    const auto found = findings_of(evidence, "survived_by_skipping");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].mode, "fp16");
    EXPECT_EQ(found[0].values.at("skipped"), "2");
}

TEST(WeightsPoisoned, OnlyWithTheIncidentOrTheMark) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[0].rows.steps[172].nonfinite_loss = true;
    EXPECT_THAT(codes_of(evidence), Not(Contains("weights_poisoned")));
    IncidentRow incident;
    incident.step = 172;
    incident.kind = "weights_poisoned";
    incident.tensor = "0.weight";
    evidence.runs[0].rows.incidents.push_back(incident);
    const auto found = findings_of(evidence, "weights_poisoned");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].values.at("after"), "127");
    EXPECT_EQ(found[0].values.at("tensor"), "0.weight");
}

}  // namespace
}  // namespace mantissa
