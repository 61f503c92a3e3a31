// Runs in fp8, emulated on a CPU: what is recorded of them, how well they learn, and how a bad step is told.
#include <set>

#include "data/dataset.h"
#include "replay_fixture.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

struct Fp8Run : Replaying {
    static RunPlan fp8(const char* id, std::optional<std::int64_t> max_steps = std::nullopt) {
        RunPlan plan = preset(id, Precision::Fp8, max_steps);
        plan.allow_emulated = true;
        return plan;
    }
    static std::int64_t calls(const Trained& run, const char* phase, const char* op, const char* dtype) {
        std::int64_t sum = 0;
        for (const OpDtypeRow& row : run.rows.op_dtypes)
            if (row.phase == phase && row.op == op && row.dtype == dtype) sum += row.calls;
        return sum;
    }
};

// Pixels × 1,600. The reason for scales: what the first layer would be given without one.
TEST_F(Fp8Run, BrightDigitsAreNanWithoutAScaleAndLearnedWithOne) {
    // A process has one mode: the control trains in another one.
    ASSERT_TRUE(elsewhere([this] { train(preset("digits-bright", Precision::No)); }));
    const auto control = summarize_run(only_run());
    ASSERT_TRUE(control.ok() && control->metric);
    EXPECT_GT(*control->metric, 0.9);

    const auto digits = load_dataset(DatasetPlan());
    ASSERT_TRUE(digits.ok());
    const torch::Tensor bright = digits->features.slice(0, 0, 32) * 1600;
    const torch::Tensor one = torch::ones({}), weight = torch::full({16, 64}, 0.1).to(at::kFloat8_e4m3fn);
    const auto unscaled = at::_scaled_mm(bright.to(at::kFloat8_e4m3fn), weight.t(), one, one, {}, {}, at::kBFloat16);
    EXPECT_TRUE(unscaled.isnan().any().item<bool>());

    const Trained run = train(fp8("digits-bright"));
    ASSERT_EQ(run.rows.steps.size(), 200U);
    for (const StepRow& row : run.rows.steps) {
        EXPECT_TRUE(std::isfinite(row.loss)) << row.step;
        EXPECT_FALSE(row.skipped || row.loss_scale) << row.step;
    }
    EXPECT_GE(*run.summary.metric, *control->metric - 0.04);
    EXPECT_EQ(run.meta.at("effective"), "fp8");
    EXPECT_EQ(run.meta.at("support"), "emulated");
    EXPECT_EQ(run.environment["precision"]["effective"], "fp8");
    EXPECT_EQ(run.environment["dtypes"]["parameters"], nlohmann::json({"float32"}));
    EXPECT_EQ(run.summary.linear_layers,
              (std::vector<LinearLayer>{{"hidden1", 64, 128, true}, {"hidden2", 128, 128, true}, {"head", 128, 16, true}}));
    // The images need no gradient, so the first layer's backward pass has one product.
    EXPECT_EQ(calls(run, "forward", "_scaled_mm", "float8_e4m3fn"), 3);
    EXPECT_EQ(calls(run, "backward", "_scaled_mm", "float8_e5m2"), 5);
    EXPECT_EQ(calls(run, "forward", "to_fp8", "float8_e4m3fn"), 6);
    EXPECT_EQ(calls(run, "backward", "to_fp8", "float8_e5m2"), 3);
    std::int64_t in_fp8 = 0, all = 0;
    for (const OpDtypeRow& row : run.rows.op_dtypes) {
        all += row.multiply_adds;
        in_fp8 += row.dtype.starts_with("float8") ? row.multiply_adds : 0;
        EXPECT_FALSE(row.op == "frexp" || row.op == "nan_to_num") << "a cast is one op";
    }
    EXPECT_EQ(in_fp8, all);
}

TEST_F(Fp8Run, ALayerThatDoesNotFitStaysBf16AndTheRecordSaysSo) {
    RunPlan plan = fp8("digits-mlp", 8);
    plan.observe.local_error_every = 4;
    const Trained run = train(plan);
    EXPECT_EQ(run.summary.linear_layers, (std::vector<LinearLayer>{{"hidden", 64, 128, true}, {"head", 128, 10, false}}));
    EXPECT_EQ(calls(run, "forward", "_scaled_mm", "float8_e4m3fn"), 1);
    EXPECT_EQ(calls(run, "forward", "addmm", "bfloat16"), 3);  // both as called, and the one below autocast
    // 4 bits of precision in the one, 8 in the other.
    double hidden = 0;
    for (const LocalErrorRow& row : run.rows.local_errors) {
        if (row.role != TensorRole::Output || row.step != 0 || row.tensor != "hidden") continue;
        EXPECT_EQ(row.dtype, "bfloat16");
        hidden = row.sqnr_db;
    }
    EXPECT_GT(hidden, 20);
    EXPECT_LT(hidden, 40);
}

TEST_F(Fp8Run, ABadStepNamesTheLayerAndItsOp) {
    RunPlan plan = fp8("digits-bright");
    plan.training.optimizer.learning_rate = 1e25;
    const Trained run = train_planned(plan);
    ASSERT_EQ(run.end.state, RunState::StoppedNonfinite);
    ReplayRequest request = request_of(run.folder.path, plan, run.rows.steps.back().step, "as_was");
    request.watch_ops = true;
    const ReplayAnswer answer = replayed(request);
    EXPECT_EQ(answer.reproduced, Reproduced::Bits) << answer.reproduced_reason;
    ASSERT_TRUE(answer.birth.has_value());
    EXPECT_EQ(answer.birth->place(), "hidden2.addmm");
    EXPECT_EQ(answer.birth->producer.phase, "forward");
}

// A factor on the loss that no plan file may hold, so nothing replays it: the run itself says where the gradient went bad.
TEST_F(Fp8Run, AGradientThatOverflowsIsToldByTheLayerToo) {
    RunPlan plan = fp8("digits-bright");
    plan.training.loss_factor = 1e38;
    const Trained run = train_planned(plan);
    ASSERT_EQ(run.end.state, RunState::StoppedNonfinite);
    EXPECT_NE(run.end.reason.find("born in hidden1.addmm"), std::string::npos) << run.end.reason;
}

}  // namespace
}  // namespace mantissa
