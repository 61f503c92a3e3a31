// Ten steps of digits-mlp on a GPU beside the same on the CPU: the same weights, batches and settings.
#include "../run/training_fixture.h"
#include "gpu_fixture.h"

namespace mantissa {
namespace {

class GpuTraining : public Training {
  protected:
    static RunPlan on(const char* device, Precision mode, std::int64_t steps) {
        RunPlan plan = preset("digits-mlp", mode, steps);
        plan.device = device;
        plan.tf32 = Tf32::Off;
        return plan;
    }
    void expect_near(Precision mode, double tolerance) {
        const Trained cpu = train(on("cpu", mode, 10)), gpu = train(on("cuda", mode, 10));
        ASSERT_EQ(gpu.rows.steps.size(), 10u);
        EXPECT_EQ(gpu.meta.at("device"), "cuda:0");
        EXPECT_EQ(gpu.meta.at("effective"), to_string(mode));
        EXPECT_EQ(gpu.environment["hashes"]["initial_state"], cpu.environment["hashes"]["initial_state"]);
        EXPECT_EQ(gpu.environment["switches"]["tf32_cublas"], false);
        for (std::size_t i = 0; i < 10; ++i) {
            EXPECT_NEAR(gpu.rows.steps[i].loss, cpu.rows.steps[i].loss, tolerance) << "step " << i;
            EXPECT_EQ(gpu.rows.steps[i].skipped, cpu.rows.steps[i].skipped) << "step " << i;
            EXPECT_GT(gpu.rows.steps[i].memory_peak_bytes, 0);
        }
    }
};

TEST_F(GpuTraining, NoIsNearTheCpu) {
    MANTISSA_NEEDS_GPU();
    expect_near(Precision::No, 1e-4);
}

TEST_F(GpuTraining, Fp16IsNearTheCpu) {
    MANTISSA_NEEDS_GPU();
    expect_near(Precision::Fp16, 2e-2);
}

TEST_F(GpuTraining, Bf16IsNearTheCpu) {
    MANTISSA_NEEDS_GPU();
    if (!choose_device(this_machine(), "cuda", Precision::Bf16, false)) GTEST_SKIP() << "NOT TRIED, bf16 isn't native on this GPU";
    expect_near(Precision::Bf16, 6e-2);
}

TEST_F(GpuTraining, Fp8LearnsWhereItIsNative) {
    MANTISSA_NEEDS_GPU();
    if (const auto choice = choose_device(this_machine(), "cuda", Precision::Fp8, false); !choice)
        GTEST_SKIP() << "NOT TRIED, " << choice.error().message;
    const Trained gpu = train(on("cuda", Precision::Fp8, 60));
    EXPECT_EQ(gpu.end.state, RunState::Finished);
    EXPECT_LT(gpu.rows.steps.back().loss, gpu.rows.steps.front().loss / 2);
}

TEST_F(GpuTraining, Fp16SkipsTheStepsThatTheCpuSkips) {
    MANTISSA_NEEDS_GPU();
    std::vector<std::vector<bool>> skipped;
    for (const char* device : {"cpu", "cuda"}) {
        RunPlan plan = on(device, Precision::Fp16, 20);
        plan.loss_scale.initial = 16777216;  // 2^24: the first gradients overflow
        auto& steps = skipped.emplace_back();
        for (const StepRow& row : train(plan).rows.steps) steps.push_back(row.skipped);
    }
    EXPECT_TRUE(skipped[0].front());
    EXPECT_EQ(skipped[0], skipped[1]);
}

TEST_F(GpuTraining, FusedLooksLaterAndRecordsEveryStep) {
    MANTISSA_NEEDS_GPU();
    RunPlan plan = on("cuda", Precision::No, 40);
    plan.training.optimizer.implementation = OptimizerImplementation::Fused;
    const Trained late = train(plan);
    ASSERT_EQ(late.rows.steps.size(), 40u);
    for (const StepRow& row : late.rows.steps) EXPECT_GT(row.step_ns, 0) << "by events";
    plan.training.optimizer.eps = 0;  // 0/0 in the first update
    const Trained stopped = train(plan);
    EXPECT_EQ(stopped.end.state, RunState::StoppedNonfinite);
    EXPECT_EQ(stopped.rows.steps.size(), 2u);
}

TEST_F(GpuTraining, AFullGpuIsASentenceAndTheWorkerGoesOn) {
    MANTISSA_NEEDS_GPU();
    {
        // Nearly all of the GPU is taken by somebody else in this process.
        const std::int64_t free = loaded_cuda_plugin()->memory(0)->free;
        const torch::Tensor taken = torch::empty({free - (std::int64_t{64} << 20)}, torch::TensorOptions(torch::kCUDA).dtype(at::kByte));
        RunPlan plan = on("cuda", Precision::No, 2);
        plan.model.hidden = 4'000'000;  // 1 GB of weights
        const Error full = refused(plan);
        EXPECT_NE(full.message.find("is full"), std::string::npos) << full.message;
        EXPECT_NE(full.hint.find("three ways out"), std::string::npos);
    }
    EXPECT_EQ(train(on("cuda", Precision::No, 2)).end.state, RunState::Finished);
}

}  // namespace
}  // namespace mantissa
