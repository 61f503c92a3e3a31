#include "judge/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "evidence_maker.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;

Fairness fair() {
    return {true, true, {}};
}

Decision decision_of(const ComparisonEvidence& evidence, const Fairness& fairness = fair()) {
    const Case all(evidence);
    const auto draft = decide(all, fairness);
    EXPECT_TRUE(draft.has_value());
    const auto decision = fill_decision(*draft, texts());
    EXPECT_TRUE(decision.ok()) << decision.error().message;
    EXPECT_TRUE(fill_decision(*draft, texts("zh")).ok());
    EXPECT_EQ(decision->reasons.size(), draft->reasons.size());  // no reason lost for want of a value
    EXPECT_EQ(decision->would_change_it.size(), draft->would_change_it.size());
    return *decision;
}

ComparisonEvidence emulated() {
    ComparisonEvidence evidence = healthy_comparison();
    for (RunEvidence& run : evidence.runs) {
        if (run.summary.mode != Precision::No) run.summary.support = Support::Emulated;
    }
    return evidence;
}

TEST(Decision, NativeFasterAndEqualIsTaken) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].summary.step_ms_median = 3.0;
    evidence.runs[2].summary.step_ms_median = 3.0;
    const Decision decision = decision_of(evidence);
    EXPECT_EQ(decision.mode, Precision::Bf16);  // equally fast, and it needs no loss scale
    EXPECT_EQ(decision.code, "decision_take");
    EXPECT_EQ(decision.confidence, "low");
    EXPECT_EQ(decision.would_change_it.front(), "run 3 repetitions");
    evidence.runs[1].summary.step_ms_median = 2.0;
    EXPECT_EQ(decision_of(evidence).mode, Precision::Fp16);
}

TEST(Decision, GainMustBeMoreThanFivePerCent) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[2].summary.step_ms_median = 4.8;
    EXPECT_EQ(decision_of(evidence).code, "decision_keep_no_no_gain");
    evidence.runs[2].summary.step_ms_median = 4.7;
    EXPECT_EQ(decision_of(evidence).mode, Precision::Bf16);
}

TEST(Decision, EmulatedModesProveNoGainWhateverTheirTime) {
    ComparisonEvidence evidence = emulated();
    evidence.runs[2].summary.step_ms_median = 0.1;
    const Decision decision = decision_of(evidence);
    EXPECT_EQ(decision.mode, Precision::No);
    EXPECT_EQ(decision.code, "decision_keep_no_emulated");
    EXPECT_THAT(
        decision.text,
        HasSubstr("Keep no on cpu: bf16, fp16 end equal within noise (95.0 %), but are emulated here"));
    EXPECT_THAT(decision.reasons, Contains("bf16: its speed isn't judged, since it is emulated on cpu."));
    EXPECT_THAT(decision.would_change_it, Contains(HasSubstr("natively")));
}

TEST(Decision, NativeAndEmulatedModesAreToldApart) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].summary.support = Support::Emulated;
    evidence.runs[2].summary.step_ms_median = 7.4;
    const Decision decision = decision_of(evidence);
    EXPECT_EQ(decision.code, "decision_keep_no_mixed");
    EXPECT_THAT(
        decision.text,
        HasSubstr(
            "but bf16 does not pay here (time / memory to no: bf16 ×1.48 / ×1.00), and fp16 is emulated"));
}

TEST(Decision, LessMemoryForMuchMoreTimeDoesNotPayAndTheTextSaysBoth) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs.erase(evidence.runs.begin() + 1);
    evidence.modes = {Precision::No, Precision::Bf16};
    evidence.runs[1].summary.memory_peak_bytes = 6'000'000;
    EXPECT_EQ(decision_of(evidence).mode, Precision::Bf16);
    evidence.runs[1].summary.step_ms_median = 7.4;
    EXPECT_EQ(decision_of(evidence).text,
              "Keep no: bf16 ends equal within noise (95.0 %), but does not pay here (time / memory to no: "
              "bf16 ×1.48 / ×0.500).");
}

TEST(Decision, SharedTimesAreNotJudged) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.order = "at-once";
    evidence.runs[2].summary.step_ms_median = 0.1;
    EXPECT_EQ(decision_of(evidence).mode, Precision::No);
    EXPECT_EQ(decision_of(evidence).code, "decision_keep_no_untimed");
    EXPECT_THAT(decision_of(evidence).text, HasSubstr("no gain is proven, since times weren't judged"));
    evidence.runs[2].summary.memory_peak_bytes = 6'000'000;
    EXPECT_EQ(decision_of(evidence).code, "decision_take_for_memory");
    EXPECT_THAT(decision_of(evidence).would_change_it, Contains(HasSubstr("in turns")));
}

TEST(Decision, AModeThatLeavesItsRangeIsOutAndNamed) {
    ComparisonEvidence evidence = emulated();
    stop_at(evidence.runs[1], 144);
    evidence.runs[1].rows.incidents.push_back(overflow_incident(144));
    const Decision decision = decision_of(evidence);
    EXPECT_EQ(decision.mode, Precision::No);
    EXPECT_EQ(decision.code, "decision_keep_no_emulated_some_failed");
    EXPECT_THAT(decision.text, HasSubstr("fp16 fails; bf16 ends equal within noise"));
    EXPECT_THAT(decision.reasons, Contains("fp16: non-finite from step 144 (1 of 145 steps)."));
    EXPECT_THAT(decision.would_change_it, Contains("keep gate in fp32 and run fp16 again"));
}

TEST(Decision, OneFaultFailsTheRangeGateProbingDoesNot) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[1].summary.step_ms_median = 2.0;
    for (std::int64_t i = 0; i < 5; ++i) skip(evidence.runs[1], i, SkipKind::Probing);
    EXPECT_EQ(decision_of(evidence).mode, Precision::Fp16);
    skip(evidence.runs[1], 100, SkipKind::Fault);
    EXPECT_EQ(decision_of(evidence).mode, Precision::No);
}

TEST(Decision, AFewStepsAreNoMeasureOfTime) {
    ComparisonEvidence evidence = healthy_comparison(5);
    evidence.runs[2].summary.step_ms_median = 0.1;
    evidence.runs[2].summary.memory_peak_bytes = 6'000'000;
    Decision decision = decision_of(evidence);
    EXPECT_EQ(decision.code, "decision_keep_no_untimed");
    EXPECT_THAT(decision.reasons, Contains(HasSubstr("bf16: its time isn't judged after 5 steps")));
    EXPECT_THAT(decision.would_change_it, Contains(HasSubstr("run more steps")));
    decision = decision_of(healthy_comparison(1));
    EXPECT_THAT(decision.reasons, Contains("bf16: finite for all 1 step, 0 skips while probing, no fault."));
    EXPECT_EQ(decision_of(healthy_comparison(30)).code, "decision_keep_no_no_gain");
}

TEST(Decision, ACollapseOfTheScaleFailsTheRangeGate) {
    ComparisonEvidence evidence = healthy_comparison();
    RunEvidence& half = evidence.runs[1];
    half.rows.steps.resize(2);
    for (StepRow& row : half.rows.steps) skip(half, row.step, SkipKind::Probing);
    half.summary.state = RunState::StoppedNonfinite;
    half.summary.steps = 2;
    IncidentRow incident;
    incident.step = 1;
    incident.kind = "scale_collapse";
    incident.severity = "error";
    half.rows.incidents.push_back(incident);
    half.plan.loss_scale_floor = std::ldexp(1.0, 25);
    const Decision decision = decision_of(evidence);
    EXPECT_EQ(decision.code, "decision_keep_no_no_gain_some_failed");
    EXPECT_THAT(
        decision.reasons,
        Contains("fp16: gradients still overflowed at step 1 with the loss scale at its floor, 2^25."));
}

TEST(Decision, AModeThatNeverMovedAWeightIsNotEqualByChance) {
    ComparisonEvidence evidence = healthy_comparison(5);
    for (std::int64_t i = 0; i < 5; ++i) skip(evidence.runs[1], i, SkipKind::Probing);
    const Decision decision = decision_of(evidence);
    EXPECT_EQ(decision.code, "decision_keep_no_untimed_some_failed");
    EXPECT_THAT(decision.reasons, Contains("fp16: none of 5 steps was applied, all were skipped."));
    EXPECT_THAT(decision.would_change_it, Contains(HasSubstr("lower loss_scale.initial")));
}

TEST(Decision, ABetterMetricAloneIsNotCalledEqual) {
    ComparisonEvidence evidence = emulated();
    evidence.runs[1].summary.metric = 0.99;
    const Decision decision = decision_of(evidence);
    EXPECT_EQ(decision.mode, Precision::No);
    EXPECT_EQ(decision.code, "decision_keep_no_better");
    EXPECT_THAT(decision.text,
                HasSubstr("no worse than `no` (95.0 %), fp16 even better by more than the noise"));
}

TEST(Decision, AWorseMetricFailsTheThirdGate) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[2].summary.step_ms_median = 2.0;
    evidence.runs[2].summary.metric = 0.90;
    const Decision decision = decision_of(evidence);
    EXPECT_EQ(decision.mode, Precision::No);
    EXPECT_EQ(decision.code, "decision_keep_no_no_gain_some_worse");
    EXPECT_THAT(decision.text, HasSubstr("Keep no: bf16 ends worse; fp16 ends equal within noise"));
    EXPECT_THAT(decision.reasons,
                Contains(HasSubstr("bf16: 90.0 % where `no` has 95.0 %, worse by more than 2.3 points")));
}

TEST(Decision, AllFailedKeepsNo) {
    ComparisonEvidence evidence = healthy_comparison();
    stop_at(evidence.runs[1], 10);
    stop_at(evidence.runs[2], 20);
    EXPECT_EQ(decision_of(evidence).code, "decision_keep_no_all_failed");
    EXPECT_EQ(decision_of(evidence).mode, Precision::No);
}

TEST(Decision, ARefusedModeIsASupportReason) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.modes.push_back(Precision::Fp8);
    TrialReport trial;
    trial.mode = Precision::Fp8;
    trial.refusal = "fp8 needs CUDA 8.9";
    evidence.trials.push_back(trial);
    EXPECT_THAT(decision_of(evidence).reasons, Contains("fp8: refused before training – fp8 needs CUDA 8.9"));
}

TEST(Decision, NotDecidableCases) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs.erase(evidence.runs.begin());
    EXPECT_EQ(decision_of(evidence).code, "decision_no_control");
    EXPECT_FALSE(decision_of(evidence).mode.has_value());

    evidence = healthy_comparison();
    stop_at(evidence.runs[0], 5);
    EXPECT_EQ(decision_of(evidence).code, "decision_control_nonfinite");
    EXPECT_FALSE(decision_of(evidence).mode.has_value());

    evidence = healthy_comparison();
    for (std::int64_t i = 280; i < 300; ++i) evidence.runs[0].rows.steps[i].grad_norm = 11;
    EXPECT_EQ(decision_of(evidence).code, "decision_control_grown");

    evidence = healthy_comparison();
    evidence.runs[0].summary.state = RunState::Interrupted;
    EXPECT_EQ(decision_of(evidence).code, "decision_control_unfinished");

    evidence = healthy_comparison();
    evidence.runs[2].summary.state = RunState::Stopped;
    evidence.runs[2].summary.steps = 100;
    EXPECT_EQ(decision_of(evidence).code, "decision_unfinished");

    evidence = healthy_comparison();
    EXPECT_EQ(decision_of(evidence, {true, false, {"x"}}).code, "decision_unfair");
}

TEST(Decision, WithoutValidationDataItSaysSo) {
    ComparisonEvidence evidence = healthy_comparison();
    for (RunEvidence& run : evidence.runs) {
        run.summary.metric_name.clear();
        run.summary.metric.reset();
        run.summary.validation_samples = 0;
    }
    EXPECT_EQ(decision_of(evidence).code, "decision_no_validation");
    EXPECT_FALSE(decision_of(evidence).mode.has_value());
    for (RunEvidence& run : evidence.runs) {
        run.summary.metric_name = "loss";
        run.summary.metric = 0.1;
        run.summary.validation_samples = 360;
    }
    EXPECT_EQ(decision_of(evidence).code, "decision_no_ruler");
    EXPECT_EQ(decision_of(evidence).would_change_it.front(), "run 3 repetitions");
}

TEST(Decision, NoneWhileARunGoesOnOrWithoutAHalfMode) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[2].summary.state = RunState::Running;
    EXPECT_FALSE(decide(Case(evidence), fair()));
    evidence.runs.resize(1);
    evidence.modes = {Precision::No};
    EXPECT_FALSE(decide(Case(evidence), fair()));
}

}  // namespace
}  // namespace mantissa
