// Rows that show in a whole run: what is recorded, and what the judge says of it.
#include "../run/training_fixture.h"
#include "judge/judge.h"

namespace mantissa {
namespace {

std::string text_of(const std::vector<Verdict>& verdicts, const std::string& code) {
    for (const Verdict& verdict : verdicts) {
        if (verdict.code == code) return verdict.severity + ": " + verdict.text;
    }
    return "no verdict " + code;
}

// The start of a scale that is too large is a search, and is told so.
TEST_F(Training, row_11_the_search_of_the_scale_is_told_as_normal) {
    RunPlan plan = preset("digits-mlp", Precision::Fp16, 30);
    plan.loss_scale.initial = 4294967296.0;  // 2^32
    const Trained run = train(plan);
    EXPECT_EQ(run.end.state, RunState::Finished);
    ASSERT_FALSE(run.rows.steps.empty());
    EXPECT_EQ(run.rows.steps.front().skip_kind, SkipKind::Probing);
    EXPECT_FALSE(run.rows.steps.back().skipped);
    EXPECT_TRUE(run.rows.incidents.empty()) << run.rows.incidents.front().kind;
    const auto judged = judge_run(run.folder.path, "en");
    ASSERT_TRUE(judged.ok());
    const std::string text = text_of(judged->verdicts, "scale_probing");
    EXPECT_EQ(text.substr(0, 4), "ok: ") << text;
    EXPECT_NE(text.find("Nothing to do"), std::string::npos) << text;
    EXPECT_NE(text.find("2^32"), std::string::npos) << text;
}

RunPlan naive_plan(RunPlan plan) {
    plan.model = {"linear", "", 128};
    plan.training.loss = "naive_nll";
    plan.training.optimizer.name = "sgd";
    plan.training.optimizer.learning_rate = 1e-6;
    plan.training.max_steps = 100;
    return plan;
}

void expect_the_logarithm(const Trained& run) {
    ASSERT_FALSE(run.rows.incidents.empty());
    const IncidentRow& first = run.rows.incidents.front();
    EXPECT_EQ(first.kind, "log_of_zero") << first.phase << " " << first.module << "." << first.op << " " << first.detail_json;
    EXPECT_EQ(first.module + "." + first.op, "loss.log");
}

TEST_F(Training, row_38_the_run_names_the_logarithm_in_no) {
    RunPlan plan = naive_plan(preset("cancer-overflow", Precision::No));
    plan.on_nonfinite = OnNonfinite::Stop;
    expect_the_logarithm(train(plan));
}

// Where the scaler skips such steps and goes on, the cause is named all the same.
TEST_F(Training, row_38_and_in_fp16_which_only_skips) {
    expect_the_logarithm(train(naive_plan(preset("cancer-overflow", Precision::Fp16))));
}

TEST_F(Training, row_38_the_run_names_the_gate_that_left_fp16) {
    const Trained run = train(preset("gated-overflow", Precision::Fp16));
    ASSERT_FALSE(run.rows.incidents.empty());
    const IncidentRow& first = run.rows.incidents.front();
    EXPECT_EQ(first.kind, "activation_overflow");
    EXPECT_EQ(first.module + "." + first.op, "gate.mul");
}

}  // namespace
}  // namespace mantissa
