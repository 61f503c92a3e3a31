#include "judge/control_spread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evidence_maker.h"
#include "judge/decision.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::HasSubstr;

/// The healthy control with its loss moved by a constant, and a metric of its own.
RunEvidence replica(double loss_offset, double metric) {
    RunEvidence run = healthy_run(Precision::No);
    for (StepRow& row : run.rows.steps) row.loss += loss_offset;
    run.summary.metric = metric;
    return run;
}

/// Control at 0, repetitions at −0.01, 0.01 and 0: mean 0, deviation sqrt(2e-4 / 3) = 0.00816; metric 94 to 96 %.
ComparisonEvidence repeated() {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.repetitions = {replica(-0.01, 0.94), replica(0.01, 0.96), replica(0, 0.95)};
    return evidence;
}

void move_loss(RunEvidence& run, double offset, std::size_t from = 0) {
    for (std::size_t i = from; i < run.rows.steps.size(); ++i) run.rows.steps[i].loss += offset;
}

TEST(ControlSpread, IsMeanAndDeviationOfTheSmoothedLosses) {
    const ComparisonEvidence evidence = repeated();
    const ControlSpread spread = control_spread(evidence.runs[0], evidence.repetitions);
    EXPECT_TRUE(spread.is_enough());
    EXPECT_EQ(spread.runs, 4);
    ASSERT_EQ(spread.band.size(), 281u);
    EXPECT_EQ(spread.band.front().step, 19);
    const double control = smoothed_losses(evidence.runs[0].rows.steps).back().second;
    EXPECT_NEAR(spread.band.back().mean, control, 1e-9);
    EXPECT_NEAR(spread.band.back().deviation, std::sqrt(2e-4 / 3), 1e-9);
    EXPECT_EQ(*spread.lowest, 0.94);
    EXPECT_EQ(*spread.highest, 0.96);
}

TEST(ControlSpread, CountsOnlyRepetitionsThatRanToTheirEnd) {
    ComparisonEvidence evidence = repeated();
    evidence.repetitions[0].summary.state = RunState::Stopped;
    EXPECT_TRUE(control_spread(evidence.runs[0], evidence.repetitions).is_enough());
    evidence.repetitions[1].rows.steps[200].loss = NAN;
    const ControlSpread two = control_spread(evidence.runs[0], evidence.repetitions);
    EXPECT_EQ(two.runs, 2);
    EXPECT_FALSE(two.is_enough());
    EXPECT_FALSE(Case(evidence).spread());
}

TEST(ControlSpread, ASmoothedLossLeavesOutWhatIsNotFinite) {
    std::vector<StepRow> rows(25);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].step = static_cast<std::int64_t>(i);
        rows[i].loss = 2;
    }
    rows[20].loss = INFINITY;
    const auto smoothed = smoothed_losses(rows);
    ASSERT_EQ(smoothed.size(), 6u);
    EXPECT_EQ(smoothed[0].first, 19);
    for (const auto& [step, loss] : smoothed) EXPECT_NEAR(loss, 2, 1e-12) << step;
}

TEST(OutsideBand, FiftyOfTheLastSixtySmoothedSteps) {
    const ComparisonEvidence evidence = repeated();
    const ControlSpread spread = control_spread(evidence.runs[0], evidence.repetitions);
    RunEvidence run = healthy_run(Precision::Fp16);
    EXPECT_EQ(steps_outside(spread, run.rows.steps).outside, 0);
    move_loss(run, 0.0164);  // two deviations are 0.01633
    EXPECT_EQ(steps_outside(spread, run.rows.steps).outside, 60);
    // The smoothed loss follows a jump by 1 within one step, so `from` decides how many steps lie outside.
    run = healthy_run(Precision::Fp16);
    move_loss(run, 1, 250);
    EXPECT_EQ(steps_outside(spread, run.rows.steps).outside, 50);
    EXPECT_TRUE(steps_outside(spread, run.rows.steps).is_outside());
    run = healthy_run(Precision::Fp16);
    move_loss(run, 1, 251);
    EXPECT_EQ(steps_outside(spread, run.rows.steps).outside, 49);
    EXPECT_FALSE(steps_outside(spread, run.rows.steps).is_outside());
}

TEST(Differs, NeedsTheLossAndTheMetric) {
    ComparisonEvidence evidence = repeated();
    evidence.runs[1].summary.metric = 0.93;
    EXPECT_TRUE(findings_of(evidence, "differs").empty()) << "the loss is that of the control";
    const auto same = findings_of(evidence, "same_within_noise");
    ASSERT_EQ(same.size(), 2u);
    EXPECT_EQ(same[0].values.at("what"), "repeated_loss");
    EXPECT_EQ(same[1].values.at("what"), "repeated");
    move_loss(evidence.runs[1], 0.5);
    auto found = findings_of(evidence, "differs");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].severity, "warning");
    EXPECT_EQ(found[0].values.at("what"), "worse_repeated");
    EXPECT_EQ(found[0].values.at("outside"), "60");
    evidence.runs[1].summary.metric = 0.97;
    EXPECT_EQ(findings_of(evidence, "differs")[0].values.at("what"), "better_repeated");
    evidence.runs[1].summary.metric = 0.94;
    EXPECT_TRUE(findings_of(evidence, "differs").empty()) << "the metric lies in the range";
    for (const char* language : {"en", "zh"}) {
        const auto all = apply_rules(Case(evidence));
        EXPECT_EQ(fill_findings(all, texts(language)).size(), all.size()) << language;
    }
}

TEST(Differs, ALossAsMetricCanBeJudgedOnceThereIsASpread) {
    ComparisonEvidence evidence = healthy_comparison();
    const auto use_loss = [](RunEvidence& run, double value) {
        run.summary.metric_name = "loss";
        run.summary.metric = value;
    };
    for (RunEvidence& run : evidence.runs) use_loss(run, 0.30);
    EXPECT_TRUE(findings_of(evidence, "same_within_noise").empty());
    evidence.repetitions = {replica(-0.01, 0), replica(0.01, 0)};
    use_loss(evidence.repetitions[0], 0.28);
    use_loss(evidence.repetitions[1], 0.32);
    EXPECT_EQ(findings_of(evidence, "same_within_noise").size(), 2u);
    use_loss(evidence.runs[1], 0.40);
    move_loss(evidence.runs[1], 0.5);
    ASSERT_EQ(findings_of(evidence, "differs").size(), 1u);
    EXPECT_EQ(findings_of(evidence, "differs")[0].values.at("what"), "worse_repeated") << "a higher loss is worse";
}

TEST(Decision, RepetitionsGiveConfidence) {
    ComparisonEvidence evidence = repeated();
    Fairness fair;
    fair.known = fair.fair = true;
    const auto confidence = [&] { return fill_decision(*decide(Case(evidence), fair), texts())->confidence; };
    const auto asks_for_more = [&] {
        const auto draft = decide(Case(evidence), fair);
        for (const Sentence& fact : draft->would_change_it) {
            if (fact.key == "decisions.change.repetitions") return true;
        }
        return false;
    };
    EXPECT_EQ(confidence(), "high");
    EXPECT_FALSE(asks_for_more());
    evidence.repetitions.pop_back();
    EXPECT_EQ(confidence(), "medium");
    EXPECT_TRUE(asks_for_more());
    evidence.repetitions.pop_back();
    EXPECT_EQ(confidence(), "low");
    evidence = repeated();
    const auto reasons = fill_decision(*decide(Case(evidence), fair), texts())->reasons;
    EXPECT_THAT(reasons, ::testing::Contains(HasSubstr("4 runs of `no` in other batch orders span 94.0 %–96.0 %")));
}

TEST(Decision, OfAControlThatHadGrownWhenAnotherRunBrokeIsNotKeepNo) {
    ComparisonEvidence evidence = healthy_comparison();
    stop_at(evidence.runs[1], 100);
    evidence.runs[0].rows.steps[95].loss = evidence.runs[0].rows.steps[0].loss * 31897;  // and it ends low again
    ASSERT_EQ(findings_of(evidence, "learning_rate").size(), 1u);
    Fairness fair;
    fair.known = fair.fair = true;
    const auto decision = decide(Case(evidence), fair);
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->code, "control_grown");
    EXPECT_FALSE(decision->mode);
}

TEST(BandLines, SayWhatRoundingIsFor) {
    ComparisonEvidence evidence = repeated();
    EXPECT_TRUE(band_lines(healthy_comparison(), texts()).empty());
    evidence.rounding = {replica(1e-6, 0.95)};
    const auto lines = band_lines(evidence, texts());
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_THAT(lines[0], HasSubstr("3 of 3 ended; with `no` they span 94.0 %–96.0 %"));
    EXPECT_THAT(lines[1], HasSubstr("shown, never used for a verdict"));
    EXPECT_EQ(band_lines(evidence, texts("zh")).size(), 2u);
    evidence.repetitions.clear();
    EXPECT_FALSE(Case(evidence).spread()) << "rounding replicas are no spread to judge by";
}

}  // namespace
}  // namespace mantissa
