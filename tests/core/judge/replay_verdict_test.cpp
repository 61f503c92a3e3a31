#include "judge/replay_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evidence_maker.h"
#include "replay_maker.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string code_of(const ReplayReport& report, const ReplayFacts& facts = {}) {
    return judge_replay(report, facts)->finding.code;
}

ReplayFinding found_in(const ReplayReport& report, const ReplayFacts& facts = {}) { return *judge_replay(report, facts); }

TEST(ReplayVerdict, GatedOverflowIsToldWithItsNumbers) {
    ReplayReport report = gated_replay();
    ASSERT_TRUE(give_verdict(report, {.control = healthy_control()}, "en").ok());
    ASSERT_TRUE(report.verdict);
    EXPECT_EQ(report.verdict->code, "activation_overflow");
    EXPECT_EQ(report.verdict->severity, "error");
    EXPECT_EQ(report.verdict->values.at("confidence"), "high");
    EXPECT_EQ(report.verdict->values.at("cause"), "activation_overflow");
    EXPECT_EQ(report.best, "island");
    EXPECT_EQ(report.verdict->text,
              "At step 144 gate.mul turned finite inputs (261 × 256) into +Inf, because fp16 ends at 65,504; the same step is finite in "
              "`no`, bf16 and stays bad at loss scale 1, which doesn't act on the forward pass. Keep gate.mul in fp32 (held for 20 steps "
              "here) or train in bf16 (held for 20).");
    EXPECT_THAT(report.verdict->evidence, Contains("step 144 was done again from the state of step 94, bit for bit"));
    EXPECT_THAT(report.verdict->evidence, Contains("with gate.mul in fp32: finite, and for 20 steps more"));
    EXPECT_THAT(report.verdict->evidence, Contains("at loss scale 1: Inf, born in the same place"));
    EXPECT_THAT(*verdict_text(*report.verdict, texts("zh")), HasSubstr("请让 gate.mul 保持 fp32（在此验证 20 步有效）"));
}

TEST(ReplayVerdict, AnOverflowNeedsAllItsEvidence) {
    ReplayReport report = gated_replay();
    report.birth->producer.operands[0] = inf_reading();
    EXPECT_EQ(code_of(report), "unknown") << "an operand was bad already";
    report = gated_replay();
    report.birth->producer.result.pos_inf = 0;
    report.birth->producer.result.nan = 1;
    EXPECT_EQ(code_of(report), "unknown") << "NaN isn't beyond the end of fp16";
    report = gated_replay();
    report.birth->producer.result.dtype = "float32";
    EXPECT_EQ(code_of(report), "unknown") << "not in the format";
    report = gated_replay();
    variant(report, "scale_1") = finite_variant("scale_1");
    EXPECT_EQ(code_of(report), "unknown") << "a forward pass that a scale mends fits nothing";
    report = gated_replay();
    variant(report, "no").state = "failed";
    EXPECT_EQ(code_of(report), "cause_open") << "without `no` nothing is known of the precision";
    report = gated_replay();
    variant(report, "scale_1").state = "waiting";
    EXPECT_EQ(code_of(report), "cause_open") << "the scale was not tried";
    ASSERT_TRUE(give_verdict(report, {}, "en"));
    EXPECT_THAT(report.verdict->text, HasSubstr("what it gives at loss scale 1 is not known: the cause is open"));
}

TEST(ReplayVerdict, AnOverflowOfBf16HasNoScaleToTry) {
    ReplayReport report = gated_replay();
    report.mode = Precision::Bf16;
    report.birth->producer.result.dtype = "bfloat16";
    report.variants = {bad_variant("as_was"), finite_variant("no")};
    const ReplayFinding found = found_in(report);
    EXPECT_EQ(found.finding.code, "activation_overflow");
    EXPECT_EQ(found.best, "no");
    EXPECT_EQ(found.finding.values.at("finite_in"), "`no`");
}

TEST(ReplayVerdict, ACureCountsOnlyWhenItHeld) {
    ReplayReport report = gated_replay();
    variant(report, "island").later_bad_at = 3;
    EXPECT_EQ(found_in(report).best, "bf16");
    variant(report, "bf16").later_bad_at = 3;
    EXPECT_EQ(found_in(report).best, "no");
    variant(report, "no").later_steps = 0;
    const ReplayFinding none = found_in(report);
    EXPECT_EQ(none.best, "");
    EXPECT_EQ(none.finding.code, "activation_overflow");
    EXPECT_EQ(none.confidence, "medium");
    report.birth->step = 7;
    ASSERT_TRUE(give_verdict(report, {}, "en").ok());
    EXPECT_THAT(report.verdict->evidence, Contains("in bf16: finite here, bad again 3 steps later"));
    EXPECT_THAT(report.verdict->evidence, Contains("the weights went bad in the update of step 7: gate.mul"));
}

TEST(ReplayVerdict, NotReproducedMeansOpenWithTheNextExperiment) {
    ReplayReport report = gated_replay();
    report.reproduced = Reproduced::No;
    report.reproduced_reason = "the CPU's instruction set is AVX2 here, AVX512 there";
    ASSERT_TRUE(give_verdict(report, {}, "en").ok());
    EXPECT_EQ(report.verdict->code, "cause_open");
    EXPECT_EQ(report.best, "");
    EXPECT_THAT(report.verdict->text, HasSubstr("AVX2 here, AVX512 there"));
    EXPECT_THAT(report.verdict->text, HasSubstr("The cheapest experiment"));
    EXPECT_FALSE(report.verdict->values.contains("cause"));
    report.state = "failed";
    report.problem = "there is no kept state";
    ASSERT_TRUE(give_verdict(report, {}, "en").ok());
    EXPECT_THAT(report.verdict->text, HasSubstr("could not be done again: there is no kept state."));
}

TEST(ReplayVerdict, APatternIsNoProofToTheBit) {
    ReplayReport report = gated_replay();
    report.reproduced = Reproduced::Pattern;
    EXPECT_EQ(found_in(report).confidence, "medium");
}

TEST(ReplayVerdict, AWhatIfAsksForNoCause) {
    ReplayReport report = gated_replay();
    report.is_what_if = true;
    ASSERT_TRUE(give_verdict(report, {}, "en").ok());
    EXPECT_FALSE(report.verdict);
}

TEST(ReplayVerdict, AFormulaThatIsBadInNoToo) {
    ReplayReport report = log_replay(Precision::Fp16);
    ASSERT_TRUE(give_verdict(report, {.control = healthy_control()}, "en").ok());
    EXPECT_EQ(report.verdict->code, "not_precision");
    EXPECT_EQ(report.verdict->values.at("cause"), "log_of_zero");
    EXPECT_EQ(report.verdict->values.at("confidence"), "high");
    EXPECT_EQ(report.verdict->text,
              "`no` fails at step 4 as well, in the same place (loss.log), so half precision isn't the cause. There the logarithm of 0 was "
              "taken (sample 43 of the batch): use a loss on the logits (cross_entropy), which never forms it, and change precision only "
              "afterwards.");
    EXPECT_EQ(report.best, "");
    // Of the derivative, with the number that it met.
    report.birth->producer.phase = "backward";
    report.birth->producer.operands[0].zero = 0;
    report.birth->producer.operands[0].smallest_nonzero = 2.5e-44;
    report.birth->sample.reset();
    ASSERT_TRUE(give_verdict(report, {}, "en").ok());
    EXPECT_THAT(report.verdict->text, HasSubstr("1/p, met 2.50e-44: use"));
    // Elsewhere in `no`: it isn't the precision, but the cause isn't named.
    variant(report, "no").same_place = false;
    variant(report, "no").place = "body.2.linear";
    const ReplayFinding elsewhere = found_in(report);
    EXPECT_EQ(elsewhere.finding.code, "not_precision");
    EXPECT_EQ(elsewhere.cause, "");
    EXPECT_EQ(elsewhere.confidence, "medium");
}

TEST(ReplayVerdict, EachFormulaInNoAndInHalfOnly) {
    for (const char* code : {"log_of_zero", "zero_over_zero", "inf_minus_inf", "root_at_zero", "masked_row"}) {
        ReplayReport report = log_replay(Precision::Fp16);
        report.birth->code = code;
        EXPECT_EQ(code_of(report), "not_precision") << code;
        EXPECT_EQ(found_in(report).cause, code);
        variant(report, "no") = finite_variant("no");
        EXPECT_EQ(code_of(report), code);
        EXPECT_EQ(found_in(report).best, "no");
        for (const char* language : {"en", "zh"}) {
            ASSERT_TRUE(give_verdict(report, {}, language).ok());
            EXPECT_TRUE(report.verdict) << code << " " << language;
        }
        report.mode = Precision::No;
        report.variants = {bad_variant("as_was")};
        EXPECT_EQ(code_of(report), "not_precision") << code;
        EXPECT_EQ(found_in(report).cause, code);
    }
}

TEST(ReplayVerdict, ABadBatchIsNamedWhateverTheRateDoes) {
    ReplayReport report = log_replay(Precision::Fp16);
    report.birth->code = "bad_input";
    report.birth->tensor = "features";
    report.birth->producer = {};
    report.birth->producer.phase = "data";
    report.birth->producer.result = inf_reading("float32");
    variant(report, "half_rate") = finite_variant("half_rate");  // another order would be needed for that; still no cure
    const ReplayFinding found = found_in(report, {.control = grown_control()});
    EXPECT_EQ(found.finding.code, "not_precision");
    EXPECT_EQ(found.cause, "bad_input");
    EXPECT_EQ(found.finding.values.at("next"), "bad_input_sample");
    EXPECT_EQ(found.finding.values.at("where"), "features");
}

TEST(ReplayVerdict, TheRateNeedsACureAndAControlThatGrows) {
    ReplayReport report = gated_replay();
    const ReplayFacts grown{.control = grown_control(), .learning_rate = 1.0};
    EXPECT_EQ(code_of(report, {.control = healthy_control()}), "activation_overflow");
    ASSERT_TRUE(give_verdict(report, grown, "en").ok());
    EXPECT_EQ(report.verdict->code, "learning_rate");
    EXPECT_EQ(report.best, "half_rate");
    EXPECT_THAT(report.verdict->text, HasSubstr("The loss of `no` stood at ×6.60e+12 its start by step 144"));
    EXPECT_THAT(report.verdict->text, HasSubstr("from 1 to 0.5 or less (held for 20 steps here)"));
    // Growth without the cure is no proof, and neither is a change of precision that holds.
    variant(report, "half_rate") = bad_variant("half_rate");
    const ReplayFinding open = found_in(report, grown);
    EXPECT_EQ(open.finding.code, "unknown");
    EXPECT_EQ(open.confidence, "low");
    EXPECT_EQ(open.best, "");
    EXPECT_EQ(open.finding.values.at("next"), "rate");
}

TEST(ReplayVerdict, NoThatBreaksALittleLaterGrowsToo) {
    ReplayReport report = gated_replay();
    variant(report, "no").later_bad_at = 9;
    const ReplayFinding found = found_in(report);
    EXPECT_EQ(found.finding.code, "learning_rate");
    EXPECT_EQ(found.finding.values.at("later"), "9");
}

TEST(ReplayVerdict, AScaledGradientIsASearchOrAFault) {
    ReplayReport report = gated_replay();
    report.birth->producer.phase = "backward";
    variant(report, "scale_1") = finite_variant("scale_1");
    variant(report, "as_was").later_steps = 20;
    const ReplayFacts facts{.control = healthy_control(), .loss_scale = 65536.0};
    EXPECT_EQ(code_of(report, facts), "scale_probing");
    EXPECT_EQ(found_in(report, facts).finding.severity, "ok");
    EXPECT_EQ(found_in(report, facts).finding.values.at("scale"), "2^16");
    variant(report, "as_was").later_bad_at = 1;
    const ReplayFinding fault = found_in(report, facts);
    EXPECT_EQ(fault.finding.code, "persistent_overflow");
    EXPECT_EQ(fault.best, "scale_1");
    // Bad at scale 1 as well: the derivative itself leaves fp16.
    variant(report, "scale_1") = bad_variant("scale_1");
    EXPECT_EQ(code_of(report, facts), "activation_overflow");
    EXPECT_EQ(found_in(report, facts).finding.values.at("what"), "backward_scale");
    report.birth.reset();
    variant(report, "scale_1") = finite_variant("scale_1");
    EXPECT_EQ(code_of(report, facts), "persistent_overflow") << "no op is needed to see it";
}

TEST(ReplayVerdict, LeavesThatWereBadAtTheStart) {
    ReplayReport report = gated_replay();
    report.birth->tensor = "gate.a.weight";
    report.birth->producer.phase = "parameter";
    for (VariantReport& one : report.variants) one = bad_variant(one.id, "NaN");
    EXPECT_EQ(code_of(report), "weights_poisoned");
    report.birth->producer.phase = "buffer";
    report.birth->tensor = "norm.running_var";
    EXPECT_EQ(code_of(report), "batchnorm_poisoned");
    EXPECT_EQ(found_in(report).finding.values.at("where"), "norm.running_var");
    report.birth->tensor = "mask";
    EXPECT_EQ(code_of(report), "not_precision") << "a buffer that isn't a statistic";
}

TEST(ReplayVerdict, AdamAndTheLossInHalf) {
    ReplayReport report = gated_replay();
    report.birth->code = "adam_eps";
    report.birth->producer.phase = "update";
    EXPECT_EQ(found_in(report).finding.code, "adam_eps");
    EXPECT_EQ(found_in(report).finding.values.at("what"), "half");
    EXPECT_EQ(found_in(report).finding.values.at("step"), std::to_string(report.step));
    report.birth->step = 7;
    EXPECT_EQ(found_in(report).finding.values.at("step"), "7");
    variant(report, "no") = bad_variant("no");
    EXPECT_EQ(found_in(report).finding.values.at("what"), "all");
    report = gated_replay();
    report.birth->producer.phase = "loss";
    report.birth->producer.module = "loss";
    EXPECT_EQ(code_of(report), "loss_in_half");
    report.birth->producer.result.dtype = "float32";
    EXPECT_EQ(code_of(report), "unknown");
}

TEST(ReplayVerdict, WhatFitsNothingIsNotKnown) {
    ReplayReport report = gated_replay();
    report.birth->code = "unknown";
    EXPECT_EQ(code_of(report), "unknown");
    EXPECT_EQ(found_in(report).best, "island");
    EXPECT_EQ(found_in(report).confidence, "low");
    report.birth.reset();
    EXPECT_EQ(found_in(report).finding.values.at("what"), "no_place");
    variant(report, "as_was") = finite_variant("as_was");
    EXPECT_EQ(code_of(report), "cause_open");
    EXPECT_EQ(found_in(report).finding.values.at("what"), "finite");
}

TEST(ReplayVerdict, WhateverTheGridGivesHasItsSentencesInBothLanguages) {
    const std::vector<std::string> codes{"activation_overflow", "log_of_zero", "zero_over_zero", "inf_minus_inf", "root_at_zero",
                                         "masked_row", "adam_eps", "bad_input", "unknown"};
    const std::vector<std::string> phases{"data", "parameter", "buffer", "forward", "loss", "backward", "unscale", "update"};
    for (const Precision mode : all_precisions) {
        for (const std::string& code : codes) {
            for (const std::string& phase : phases) {
                for (int bits = 0; bits < 64; ++bits) {  // which variants are finite
                    ReplayReport report = gated_replay();
                    report.mode = mode;
                    report.birth->code = code;
                    report.birth->producer.phase = phase;
                    if (phase == "data" || phase == "parameter" || phase == "buffer") report.birth->tensor = "running_mean";
                    if (bits & 1) report.birth->sample = 3;
                    for (std::size_t i = 0; i < report.variants.size(); ++i) {
                        VariantReport& one = report.variants[i];
                        const VariantReport made = (bits >> (i % 6)) & 1 ? finite_variant(one.id) : bad_variant(one.id);
                        one.this_step_finite = made.this_step_finite;
                        one.later_steps = made.later_steps;
                        one.value = made.value;
                    }
                    const ReplayFacts facts{.control = bits & 2 ? grown_control() : healthy_control()};
                    for (const char* language : {"en", "zh"}) {
                        ASSERT_TRUE(give_verdict(report, facts, language).ok());
                        ASSERT_TRUE(report.verdict) << to_string(mode) << " " << code << " " << phase << " " << bits << ": "
                                                    << judge_replay(report, facts)->finding.code;
                    }
                    EXPECT_THAT(report.verdict->text, Not(HasSubstr("{")));
                    EXPECT_TRUE(report.best.empty() || variant(report, report.best).holds());
                }
            }
        }
    }
}

}  // namespace
}  // namespace mantissa
