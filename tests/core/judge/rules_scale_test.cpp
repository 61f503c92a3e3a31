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

/// Lesson 4: 15 skips from 2^32 down to 2^17, then single ones.
ComparisonEvidence probing() {
    ComparisonEvidence evidence = healthy_comparison(400);
    RunEvidence& run = evidence.runs[1];
    for (std::int64_t step = 0; step < 400; ++step) {
        run.rows.steps[step].loss_scale = std::ldexp(1.0, static_cast<int>(step < 15 ? 32 - step : 17));
    }
    for (std::int64_t step = 0; step < 15; ++step) skip(run, step, SkipKind::Probing);
    for (const std::int64_t step : {66, 169, 239, 304, 385}) skip(run, step, SkipKind::Probing);
    run.summary.final_scale = std::ldexp(1.0, 18);
    return evidence;
}

void fault_row(RunEvidence& run, std::int64_t from, std::int64_t to) {
    for (std::int64_t step = from; step < to; ++step) skip(run, step, SkipKind::Fault);
}

TEST(ScaleProbing, TellsStartAndLaterSkipsWithTheirScales) {
    const auto verdicts = verdicts_of(probing());
    ASSERT_FALSE(verdicts.empty());
    EXPECT_EQ(verdicts[0].code, "scale_probing");
    EXPECT_EQ(verdicts[0].severity, "ok");
    EXPECT_EQ(verdicts[0].text,
              "Loss scale settled: the first 15 steps were skipped while it fell from 2^32 to 2^17, and 5 "
              "later skips, never more "
              "than 1 in a row, kept it in range (now 2^18). Nothing to do; if the lost start matters, begin "
              "at 2^17.");
    EXPECT_THAT(verdicts[0].evidence, Contains("fp16: 20 skips while probing and 0 by faults in 400 steps"));
}

TEST(ScaleProbing, OneSkipIsSingular) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].rows.steps[0].loss_scale = 131072.0;
    skip(evidence.runs[1], 0, SkipKind::Probing);
    EXPECT_THAT(verdicts_of(evidence)[0].text,
                HasSubstr("the first 1 step was skipped while it fell from 2^17 to 2^16, and none since"));
}

TEST(ScaleProbing, NoSkipsOrAnyFaultGiveNothing) {
    EXPECT_TRUE(findings_of(healthy_comparison(), "scale_probing").empty());
    ComparisonEvidence evidence = probing();
    skip(evidence.runs[1], 200, SkipKind::Fault);
    EXPECT_TRUE(findings_of(evidence, "scale_probing").empty());
}

TEST(PersistentOverflow, FiresAtEightInARowAndAsksTheControl) {
    ComparisonEvidence evidence = healthy_comparison();
    fault_row(evidence.runs[1], 100, 107);
    EXPECT_TRUE(findings_of(evidence, "persistent_overflow").empty());
    skip(evidence.runs[1], 107, SkipKind::Fault);
    const auto found = findings_of(evidence, "persistent_overflow");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, "error");
    EXPECT_EQ(found[0].values.at("next"), "healthy_bf16");
    EXPECT_EQ(found[0].values.at("row"), "8");

    ComparisonEvidence alone;
    alone.modes = {Precision::Fp16};
    alone.runs.push_back(evidence.runs[1]);
    EXPECT_EQ(findings_of(alone, "persistent_overflow")[0].values.at("next"), "no_control");

    for (std::int64_t step = 50; step <= 100; ++step) evidence.runs[0].rows.steps[step].loss = 1e6;
    EXPECT_EQ(findings_of(evidence, "persistent_overflow")[0].values.at("next"), "control_grows");
}

TEST(PersistentOverflow, TheScaleFallsAwayWhenTheFloorHoldsIt) {
    ComparisonEvidence evidence = healthy_comparison();
    fault_row(evidence.runs[1], 100, 120);
    EXPECT_EQ(findings_of(evidence, "persistent_overflow")[0].values.at("what"), "scale");
    evidence.runs[1].summary.final_scale = std::ldexp(1.0, -14);
    EXPECT_EQ(findings_of(evidence, "persistent_overflow")[0].values.at("what"), "floor");
}

TEST(ScaleCollapse, ASkipAtTheFloorCountsOneAboveItDoesNot) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].rows.steps[40].loss_scale = std::ldexp(1.0, -13);
    skip(evidence.runs[1], 40, SkipKind::Fault);
    EXPECT_TRUE(findings_of(evidence, "scale_collapse").empty());
    evidence.runs[1].rows.steps[41].loss_scale = std::ldexp(1.0, -14);
    skip(evidence.runs[1], 41, SkipKind::Fault);
    ASSERT_EQ(findings_of(evidence, "scale_collapse").size(), 1u);
    EXPECT_EQ(findings_of(evidence, "scale_collapse")[0].values.at("step"), "41");
    EXPECT_EQ(findings_of(evidence, "scale_collapse")[0].values.at("skipped"),
              "2");  // until then, not of the whole run
    EXPECT_EQ(findings_of(evidence, "scale_collapse")[0].values.at("attempts"), "42");
    EXPECT_EQ(findings_of(evidence, "scale_collapse")[0].values.at("next"), "low_floor");
}

TEST(ScaleCollapse, AnAlarmOnTheWayDownIsNotTheCollapse) {
    ComparisonEvidence evidence = healthy_comparison();
    IncidentRow alarm;
    alarm.step = 16;
    alarm.kind = "scale_collapse";
    alarm.severity = "warning";
    evidence.runs[1].rows.incidents.push_back(alarm);
    EXPECT_TRUE(findings_of(evidence, "scale_collapse").empty());
    IncidentRow collapse = alarm;
    collapse.step = 30;
    collapse.severity = "error";
    evidence.runs[1].rows.incidents.push_back(collapse);
    ASSERT_EQ(findings_of(evidence, "scale_collapse").size(), 1u);
    EXPECT_EQ(findings_of(evidence, "scale_collapse")[0].values.at("step"), "30");
}

TEST(ScaleCollapse, AFloorAboveOneIsToldAsTheReason) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].plan.loss_scale_floor = std::ldexp(1.0, 16);
    skip(evidence.runs[1], 0, SkipKind::Probing);
    const auto found = findings_of(evidence, "scale_collapse");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].values.at("next"), "high_floor");
}

TEST(StepsNotApplied, BelowNineTenthsOnly) {
    ComparisonEvidence evidence = healthy_comparison(100);
    for (std::int64_t i = 0; i < 10; ++i) skip(evidence.runs[1], i, SkipKind::Probing);
    EXPECT_TRUE(findings_of(evidence, "steps_not_applied").empty());
    skip(evidence.runs[1], 10, SkipKind::Probing);
    const auto found = findings_of(evidence, "steps_not_applied");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, "warning");
    EXPECT_EQ(found[0].values.at("applied"), "89");
    EXPECT_EQ(found[0].values.at("what"), "some");
}

TEST(StepsNotApplied, NoneWithAScaleThatStaysNamesTheScale) {
    ComparisonEvidence evidence = healthy_comparison(100);
    for (std::int64_t i = 0; i < 100; ++i) skip(evidence.runs[1], i, SkipKind::Probing);
    auto found = findings_of(evidence, "steps_not_applied");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, "error");
    EXPECT_EQ(found[0].values.at("what"), "none");
    EXPECT_EQ(found[0].values.at("next"), "fixed");
    EXPECT_EQ(found[0].values.at("now"), "2^16");
    evidence.runs[1].summary.final_scale = 1024;
    EXPECT_EQ(findings_of(evidence, "steps_not_applied")[0].values.at("next"), "longer_search");
}

TEST(StepsNotApplied, IsSilentWherePersistentOverflowSpeaks) {
    ComparisonEvidence evidence = healthy_comparison(100);
    fault_row(evidence.runs[1], 0, 100);
    EXPECT_THAT(codes_of(evidence), Contains("persistent_overflow"));
    EXPECT_THAT(codes_of(evidence), Not(Contains("steps_not_applied")));
}

}  // namespace
}  // namespace mantissa
