#include "judge/precision_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "evidence_maker.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;

PrecisionAnswer answer(const RunEvidence& run, const char* language = "en") {
    return precision_answer(precision_evidence(run), texts(language));
}

const PrecisionCheck& check(const PrecisionAnswer& answer, std::string_view id) {
    for (const PrecisionCheck& one : answer.checks)
        if (one.id == id) return one;
    throw std::out_of_range("no check " + std::string(id));
}

constexpr const char* sourced_plan = R"({"mantissa_plan": 1, "plan": {}, "sources": {
    "mixed_precision": {"source": "flag", "detail": "--mixed_precision", "value": "fp16", "overruled": [
        {"source": "environment", "detail": "ACCELERATE_MIXED_PRECISION", "value": "bf16"},
        {"source": "preset", "detail": "preset digits-mlp", "value": "fp16"}]},
    "device": {"source": "config", "detail": "/c.yaml", "value": "cpu", "overruled": []}}})";

TEST(PrecisionAnswer, AHealthyHalfRunIsOnWithItsProof) {
    const PrecisionAnswer yes = answer(healthy_run(Precision::Fp16));
    EXPECT_EQ(yes.mark, CheckMark::Passed);
    EXPECT_EQ(yes.title, "Is fp16 really on?");
    EXPECT_EQ(yes.sentence, "Yes: 100 % of the multiply-adds and 1 of 2 kinds of op gave float16 results in step 0.");
    EXPECT_THAT(yes.facts, ::testing::ElementsAre("Products in float16: linear.",
                                                  "Kept in float32 by autocast’s rules: nll_loss."));
    ASSERT_EQ(yes.checks.size(), 4u);
    EXPECT_EQ(check(yes, "sources").mark, CheckMark::Passed);
    EXPECT_EQ(check(yes, "sources").sentence, "fp16 was asked for and fp16 is in effect on cpu.");
    EXPECT_EQ(check(yes, "support").sentence, "Native on cpu.");
    EXPECT_EQ(check(yes, "numbers").sentence, "All 300 steps finite and applied.");
    EXPECT_THAT(check(yes, "numbers").facts, Contains("Loss 2.30 at the start, 0.0513 now."));
    EXPECT_THAT(check(yes, "numbers").facts, Contains("Loss scale 2^16 at the start, 2^16 now."));
    EXPECT_EQ(check(yes, "fp8").mark, CheckMark::NotNeeded);
}

TEST(PrecisionAnswer, SourcesAndWhatTheyOverruled) {
    RunEvidence run = healthy_run(Precision::Fp16);
    run.plan_json = sourced_plan;
    EXPECT_THAT(check(answer(run), "sources").facts,
                ::testing::ElementsAre("The mode comes from the flag --mixed_precision.",
                                       "Overruled: bf16 from the environment variable ACCELERATE_MIXED_PRECISION.",
                                       "The device (cpu) comes from Accelerate’s configuration file /c.yaml."));
    run.plan_json = R"({"sources": {"modes": {"source": "default", "detail": "", "value": "no,fp16,bf16",
        "overruled": [{"source": "environment", "detail": "ACCELERATE_MIXED_PRECISION", "value": "mixed_precision fp16"}]}}})";
    EXPECT_THAT(check(answer(run), "sources").facts,
                ::testing::ElementsAre(
                    "The mode is one of the list no,fp16,bf16, from the built-in default.",
                    "Overruled: mixed_precision fp16 from the environment variable ACCELERATE_MIXED_PRECISION.",
                    "The device (auto) comes from the built-in default."));
    for (const char* broken : {"", "[1]", R"({"sources": 3})", R"({"sources": {"mixed_precision": 3}})",
                               R"({"sources": {"device": {"overruled": {"a": 1}, "value": 5}}})"}) {
        run.plan_json = broken;
        EXPECT_EQ(check(answer(run), "sources").mark, CheckMark::Passed) << broken;
    }
}

TEST(PrecisionAnswer, AnotherModeOrNoHalfOpIsANo) {
    RunEvidence run = healthy_run(Precision::Bf16);
    run.rows.op_dtypes[0].dtype = "float32";
    EXPECT_EQ(answer(run).mark, CheckMark::Failed);
    EXPECT_EQ(answer(run).sentence, "No: bf16 is in effect, but 0 of 2 kinds of op gave a half-width result in step 0.");
    run.rows.op_dtypes[0].dtype = "float16";
    EXPECT_EQ(answer(run).sentence, "No: bf16 is in effect, but the half-width results of step 0 are float16.");
    run.summary.effective = Precision::No;
    EXPECT_EQ(answer(run).sentence, "No: bf16 was asked for, but no is in effect.");
    EXPECT_EQ(check(answer(run), "sources").mark, CheckMark::Failed);
}

TEST(PrecisionAnswer, TheControlIsProvenToo) {
    const PrecisionAnswer control = answer(healthy_run(Precision::No));
    EXPECT_EQ(control.mark, CheckMark::Passed);
    EXPECT_EQ(control.sentence, "Yes: mode no is in effect, and 0 of 2 kinds of op gave a half-width result in step 0.");
    EXPECT_THAT(check(control, "numbers").facts, Contains("No loss scale: only fp16 needs one."));
    RunEvidence half = healthy_run(Precision::No);
    half.rows.op_dtypes[0].dtype = "bfloat16";
    EXPECT_EQ(answer(half).mark, CheckMark::Failed);
}

TEST(PrecisionAnswer, WithoutCountsThereIsNoProofAndTheTrialCounts) {
    RunEvidence run = healthy_run(Precision::Fp16);
    run.rows.op_dtypes.clear();
    EXPECT_EQ(answer(run).mark, CheckMark::Open);
    run.trial = TrialReport{};
    run.trial->mode = Precision::Fp16;
    run.trial->runs = true;
    run.trial->op_kinds = 9;
    run.trial->op_kinds_half = 5;
    run.trial->multiply_adds = 200;
    run.trial->multiply_adds_half = 194;
    run.trial->headroom_bits = 3.2;
    run.trial->headroom_module = "gate";
    EXPECT_EQ(answer(run).sentence,
              "Yes: 97 % of the multiply-adds and 5 of 9 kinds of op gave float16 results in the trial batch.");
    EXPECT_THAT(check(answer(run), "support").facts, Contains("3.20 bits of headroom in the trial, least at gate."));
}

TEST(PrecisionAnswer, ProbingIsNoFaultAndFaultsAre) {
    RunEvidence run = healthy_run(Precision::Fp16);
    skip(run, 0, SkipKind::Probing);
    recount(run);
    EXPECT_EQ(check(answer(run), "numbers").mark, CheckMark::Passed);
    EXPECT_EQ(check(answer(run), "numbers").sentence,
              "All finite. 1 of 300 steps skipped while the loss scale looked for its place.");
    skip(run, 200, SkipKind::Fault);
    recount(run);
    EXPECT_EQ(check(answer(run), "numbers").mark, CheckMark::Failed);
    EXPECT_THAT(check(answer(run), "numbers").sentence, HasSubstr("1 of 300 steps skipped as faults"));
    EXPECT_THAT(check(answer(run), "numbers").facts,
                Contains("Applied: 298 of 300. Skipped: 1 while probing, 1 as faults."));
}

TEST(PrecisionAnswer, ARunThatSkipsAllTheTimeSaysThatNoWeightMoved) {
    RunEvidence run = healthy_run(Precision::Fp16, 12);
    for (std::int64_t step = 0; step < 12; ++step) skip(run, step, step < 3 ? SkipKind::Probing : SkipKind::Fault);
    recount(run);
    const PrecisionAnswer said = answer(run);
    EXPECT_EQ(said.mark, CheckMark::Passed);  // the mode is on; its numbers aren't well
    EXPECT_EQ(check(said, "numbers").mark, CheckMark::Failed);
    EXPECT_THAT(check(said, "numbers").sentence, HasSubstr("0 of 12 steps applied, so the weights have not moved"));
    RunEvidence early = healthy_run(Precision::Fp16, 2);
    skip(early, 0, SkipKind::Probing);
    skip(early, 1, SkipKind::Probing);
    recount(early);
    EXPECT_EQ(check(answer(early), "numbers").mark, CheckMark::Open);
}

TEST(PrecisionAnswer, NonFiniteStepsAreCountedWithTheFirst) {
    RunEvidence run = healthy_run(Precision::Bf16);
    stop_at(run, 144);
    const PrecisionAnswer said = answer(run);
    EXPECT_EQ(check(said, "numbers").mark, CheckMark::Failed);
    EXPECT_THAT(check(said, "numbers").sentence, HasSubstr("1 of 145 steps not finite, the first at step 144"));
    EXPECT_THAT(check(said, "numbers").facts, Contains("Loss 2.30 at the start, NaN now."));
}

TEST(PrecisionAnswer, RefusedFailedAndWaitingRuns) {
    RunEvidence run = healthy_run(Precision::Bf16, 0);
    run.rows.op_dtypes.clear();
    run.summary.device.clear();
    run.summary.state = RunState::Trial;
    run.summary.steps = 0;
    EXPECT_EQ(answer(run).mark, CheckMark::Open);
    for (const PrecisionCheck& one : answer(run).checks) {
        EXPECT_EQ(one.mark, one.id == "fp8" ? CheckMark::NotNeeded : CheckMark::Open) << one.id;
    }
    run.trial = TrialReport{};
    run.trial->refusal = "conv2d has no bf16 kernel here";
    run.trial->refused_op = "conv2d";
    run.summary.state = RunState::Failed;
    run.summary.state_reason = "the trial was refused";
    const PrecisionAnswer refused = answer(run);
    EXPECT_EQ(refused.sentence, "No: bf16 was refused before training, so nothing ran in it.");
    EXPECT_EQ(check(refused, "support").sentence, "One batch of this model was refused: conv2d has no bf16 kernel here");
    EXPECT_THAT(check(refused, "support").facts, Contains("Refused at conv2d in module –."));
    EXPECT_EQ(check(refused, "sources").mark, CheckMark::Failed);
    EXPECT_EQ(check(refused, "numbers").sentence, "No step was made. the trial was refused");
    run.trial.reset();
    EXPECT_EQ(answer(run).sentence, "No: the run ended before its first step, so nothing ran in bf16.");
}

TEST(PrecisionAnswer, Fp8NamesItsBackend) {
    RunEvidence run = healthy_run(Precision::Fp8);
    run.rows.op_dtypes[0].dtype = "float8_e4m3fn";
    run.summary.device_name = "H100";
    EXPECT_EQ(check(answer(run), "fp8").sentence, "Hardware: cpu (H100) has fp8 units.");
    EXPECT_EQ(answer(run).mark, CheckMark::Passed);
    run.summary.support = Support::Emulated;
    EXPECT_EQ(check(answer(run), "fp8").mark, CheckMark::Note);
    EXPECT_EQ(check(answer(run), "support").mark, CheckMark::Note);
    run.summary.support = Support::Unsupported;
    EXPECT_EQ(check(answer(run), "fp8").mark, CheckMark::Failed);
    EXPECT_THAT(check(answer(run), "fp8").sentence, HasSubstr("Take bf16 or fp16"));
}

TEST(PrecisionAnswer, Fp8SaysWhichLayersComputeInItAndWhyOthersDoNot) {
    RunEvidence run = healthy_run(Precision::Fp8);
    run.rows.op_dtypes = {{0, "forward", "_scaled_mm", "float8_e4m3fn", 2, 900},
                          {0, "forward", "addmm", "bfloat16", 1, 100},
                          {0, "forward", "cross_entropy_loss", "float32", 1, 0}};
    run.summary.linear_layers = {{"hidden", 64, 128, true}, {"head", 128, 10, false}};
    const PrecisionAnswer said = answer(run);
    EXPECT_EQ(said.mark, CheckMark::Passed);
    EXPECT_EQ(said.sentence, "Yes: 90 % of the multiply-adds were computed in fp8 in step 0; 2 of 3 kinds of op gave bfloat16 or fp8 results.");
    EXPECT_THAT(said.facts, Contains("Products in float8_e4m3fn: _scaled_mm."));
    EXPECT_THAT(said.facts, Contains("Products in bfloat16: addmm."));
    EXPECT_THAT(check(said, "fp8").facts,
                ::testing::ElementsAre("1 of 2 linear layers compute in fp8.",
                                       "head (128 to 10) stays in bf16: fp8 takes sizes that are multiples of 16."));
    EXPECT_THAT(check(answer(run, "zh"), "fp8").facts, Contains(HasSubstr("head（128 到 10）")));
    run.rows.op_dtypes.erase(run.rows.op_dtypes.begin());
    EXPECT_EQ(answer(run).mark, CheckMark::Failed);
    EXPECT_THAT(answer(run).sentence, HasSubstr("no product of step 0 was computed in fp8"));
    EXPECT_TRUE(check(answer(healthy_run(Precision::Bf16)), "fp8").facts.empty());
}

TEST(PrecisionAnswer, SpeaksChineseAndCanBeCopied) {
    const PrecisionAnswer said = answer(healthy_run(Precision::Fp16), "zh");
    EXPECT_EQ(said.title, "fp16 真的生效了吗？");
    EXPECT_THAT(said.sentence, HasSubstr("第 0 步中 100 % 的乘加运算"));
    EXPECT_THAT(to_plain_text(answer(healthy_run(Precision::Fp16))),
                ::testing::StartsWith("Is fp16 really on?\n✓ Yes: 100 %"));
    EXPECT_THAT(to_plain_text(answer(healthy_run(Precision::Fp16))), HasSubstr("\n– fp8 backend: Not asked for: this run is fp16.\n"));
}

}  // namespace
}  // namespace mantissa
