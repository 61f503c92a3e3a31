// Whole runs of the presets: what the product promises about them (design §9, §10).
#include "training_fixture.h"

namespace mantissa {
namespace {

void expect_healthy(const Trained& run, std::int64_t steps) {
    EXPECT_EQ(run.end.state, RunState::Finished);
    ASSERT_EQ(std::int64_t(run.rows.steps.size()), steps);
    EXPECT_TRUE(run.nonfinite_steps().empty());
    EXPECT_LT(run.rows.steps.back().loss, run.rows.steps.front().loss / 3);
    ASSERT_TRUE(run.last("accuracy").has_value());
    EXPECT_GE(*run.last("accuracy"), 0.93);
    EXPECT_LE(*run.last("accuracy"), 0.995);
    EXPECT_TRUE(run.rows.incidents.empty());
}

// The length of a comparison for the cnn; the perceptron takes longer for the same accuracy.
TEST_F(Training, DigitsCnnLearnsInNo) {
    expect_healthy(train(preset("digits-cnn", Precision::No, 300)), 300);
}
TEST_F(Training, DigitsCnnLearnsInFp16) {
    expect_healthy(train(preset("digits-cnn", Precision::Fp16, 300)), 300);
}
TEST_F(Training, DigitsCnnLearnsInBf16) {
    expect_healthy(train(preset("digits-cnn", Precision::Bf16, 300)), 300);
}

TEST_F(Training, DigitsMlpLearnsInNo) {
    expect_healthy(train(preset("digits-mlp", Precision::No, 600)), 600);
}
TEST_F(Training, DigitsMlpLearnsInFp16) {
    expect_healthy(train(preset("digits-mlp", Precision::Fp16, 600)), 600);
}
TEST_F(Training, DigitsMlpLearnsInBf16) {
    expect_healthy(train(preset("digits-mlp", Precision::Bf16, 600)), 600);
}

TEST_F(Training, CancerOverflowsInFp16AtEveryStep) {
    const Trained run = train(preset("cancer-overflow", Precision::Fp16));
    EXPECT_EQ(run.end.state, RunState::Finished);
    ASSERT_EQ(run.rows.steps.size(), 400u);
    EXPECT_EQ(run.nonfinite_steps().size(), 400u);
    EXPECT_EQ(run.rows.steps.back().applied_step, 0);
    for (const StepRow& row : run.rows.steps) {
        EXPECT_TRUE(row.skipped);
        EXPECT_EQ(row.skip_kind, SkipKind::Fault);
    }
    const auto overflow = run.incidents("activation_overflow");
    ASSERT_EQ(overflow.size(), 1u);
    EXPECT_EQ(overflow[0].step, 0);
    EXPECT_EQ(overflow[0].module, "square");
    EXPECT_EQ(overflow[0].op, "mul");
    // The alarm comes when the scale falls below 1, the fault when the floor has to hold it; each once.
    const auto scale = run.incidents("scale_collapse");
    ASSERT_EQ(scale.size(), 2u);
    EXPECT_EQ(scale[0].severity, "warning");
    EXPECT_EQ(scale[0].step, 16);
    EXPECT_EQ(scale[0].detail_json, R"({"backoffs_left":13,"floor":6.103515625e-05,"scale":0.5})");
    EXPECT_EQ(scale[1].severity, "error");
    EXPECT_EQ(scale[1].step, 30);
    EXPECT_EQ(*run.rows.steps.back().loss_scale, std::ldexp(1.0, -14));
    EXPECT_TRUE(run.incidents("weights_poisoned").empty());
}

void expect_cancer_learns(const Trained& run) {
    EXPECT_EQ(run.end.state, RunState::Finished);
    ASSERT_EQ(run.rows.steps.size(), 400u);
    EXPECT_TRUE(run.nonfinite_steps().empty());
    EXPECT_LT(run.rows.steps.back().loss, run.rows.steps.front().loss / 100);
    EXPECT_GE(*run.last("accuracy"), 0.80);
}
TEST_F(Training, CancerLearnsInNo) {
    expect_cancer_learns(train(preset("cancer-overflow", Precision::No)));
}
TEST_F(Training, CancerLearnsInBf16) {
    expect_cancer_learns(train(preset("cancer-overflow", Precision::Bf16)));
}

TEST_F(Training, GatedBreaksLateInFp16AndIsNamed) {
    const Trained run = train(preset("gated-overflow", Precision::Fp16));
    EXPECT_EQ(run.end.state, RunState::StoppedNonfinite);
    ASSERT_EQ(run.nonfinite_steps().size(), 1u);
    const std::int64_t step = run.nonfinite_steps().front();
    EXPECT_GE(step, 30);
    EXPECT_LE(step, 280);
    EXPECT_EQ(run.rows.steps.back().step, step);
    EXPECT_TRUE(run.rows.steps.back().skipped);
    const auto overflow = run.incidents("activation_overflow");
    ASSERT_FALSE(overflow.empty());
    EXPECT_EQ(overflow.back().module, "gate");
    EXPECT_EQ(overflow.back().op, "mul");
    EXPECT_EQ(overflow.back().phase, "forward");
    EXPECT_NE(run.end.reason.find("step " + std::to_string(step)), std::string::npos) << run.end.reason;
    EXPECT_NE(run.end.reason.find("gate.mul"), std::string::npos) << run.end.reason;
    // Rule 12: the weights are those before the step, so that they still evaluate.
    EXPECT_TRUE(std::isfinite(*run.last("loss")));
}

void expect_gated_lives(const Trained& run) {
    EXPECT_EQ(run.end.state, RunState::Finished);
    ASSERT_EQ(run.rows.steps.size(), 300u);
    EXPECT_TRUE(run.nonfinite_steps().empty());
    EXPECT_GE(*run.last("accuracy"), 0.94);
}
TEST_F(Training, GatedLivesInNo) {
    expect_gated_lives(train(preset("gated-overflow", Precision::No)));
}
TEST_F(Training, GatedLivesInBf16) {
    expect_gated_lives(train(preset("gated-overflow", Precision::Bf16)));
}

TEST_F(Training, GatedLivesInFp16WithTheGateInFp32) {
    RunPlan plan = preset("gated-overflow", Precision::Fp16);
    plan.fp32_islands = {"gate"};
    const Trained run = train(plan);
    expect_gated_lives(run);
    EXPECT_EQ(run.rows.steps.back().applied_step, 300);
}

// The product is born in gate.mul and cast to half again by gate.down: both must stay in fp32, and it's enough.
TEST_F(Training, GatedLivesInFp16WithItsTwoOperationsInFp32) {
    RunPlan plan = preset("gated-overflow", Precision::Fp16);
    plan.fp32_islands = {"gate.mul", "gate.down"};
    const Trained run = train(plan);
    expect_gated_lives(run);
    EXPECT_EQ(run.rows.steps.back().applied_step, 300);
    const auto calls = [&run](const char* op, const char* dtype) {
        std::int64_t sum = 0;
        for (const OpDtypeRow& row : run.rows.op_dtypes)
            if (row.op == op && row.dtype == dtype) sum += row.calls;
        return sum;
    };
    EXPECT_GT(calls("mul", "float32"), 0);
    EXPECT_GT(calls("addmm", "float16"), 0);  // the rest is still half
}
TEST_F(Training, GatedStillBreaksWithTheProductAloneInFp32) {
    RunPlan plan = preset("gated-overflow", Precision::Fp16);
    plan.fp32_islands = {"gate.mul"};
    const Trained run = train(plan);
    EXPECT_EQ(run.end.state, RunState::StoppedNonfinite);
    EXPECT_NE(run.end.reason.find("gate.down"), std::string::npos) << run.end.reason;
}

}  // namespace
}  // namespace mantissa
