// Memory of mixed precision: row 25.
#include "devices/memory_meter.h"
#include "fault_testing.h"
#include "plan/memory_estimate.h"

namespace mantissa {
namespace {

TEST(Faults, row_25_the_estimate_of_fp16_keeps_weights_and_optimizer_whole) {
    constexpr std::int64_t size = 4 * 1000;
    const TrainingParts full = accelerate_training(size, StoredType::Float32), half = accelerate_training(size, StoredType::Float16);
    EXPECT_EQ(half.model, size);
    EXPECT_EQ(half.gradients, size + size / 2);
    EXPECT_EQ(half.optimizer, 2 * size);
    EXPECT_EQ(half.step, 2 * size);
    EXPECT_EQ(half.largest(), 2 * size);
    EXPECT_EQ(full.model, size);
    EXPECT_EQ(full.gradients, size);
    EXPECT_EQ(full.optimizer, 2 * size);
    EXPECT_EQ(full.largest(), 4 * size);
}

constexpr std::int64_t width = 256, matrix = width * width, parameters = 3 * (matrix + width);

struct ThreeLinears : torch::nn::Module {
    ThreeLinears() {
        for (int i = 0; i < 3; ++i) {
            layers.push_back(register_module("layer" + std::to_string(i), torch::nn::Linear(width, width)));
        }
    }
    torch::Tensor forward(torch::Tensor value) {
        for (auto& layer : layers) value = layer(value);
        return value;
    }
    std::vector<torch::nn::Linear> layers;
};

struct Measured {
    std::int64_t saved = 0, at_rest = 0;  // for backward; after the step: gradients and optimizer
};

// One step of the same model in fp16 under the accelerator, or in fp32 beside it (a process has one mode).
Measured measure(bool in_fp16, std::int64_t batch) {
    Accelerator accelerator(fp16(1024));
    auto raw = std::make_shared<ThreeLinears>();
    auto raw_optimizer = adamw(raw->parameters());
    auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(raw_optimizer));
    const auto input = torch::ones({batch, width});
    MemoryMeter meter(torch::kCPU);
    Measured measured;
    torch::Tensor loss;
    {
        const AutocastScope amp = in_fp16 ? accelerator.autocast() : AutocastScope();
        loss = (in_fp16 ? model(input) : model.unwrap()->forward(input)).mean();
        measured.saved = meter.current_bytes();
    }
    accelerator.backward(loss);
    optimizer.step();
    loss.reset();
    measured.at_rest = meter.current_bytes();
    return measured;
}

// Batch 1: fp16 takes more, since half copies of weights are kept: those that the backward needs at least, each at most.
TEST(Faults, row_25_at_batch_one_fp16_takes_more_by_the_casts_of_the_weights) {
    const Measured full = measure(false, 1), half = measure(true, 1);
    EXPECT_GT(half.saved, full.saved);
    constexpr std::int64_t copy = 2 * matrix;
    EXPECT_GE(half.saved - full.saved, 2 * copy);  // the first layer's input needs no gradient
    EXPECT_LE(half.saved - full.saved, 3 * copy + copy / 20);
}

// Batch 4096: the saved activations shrink, and are still more than half.
TEST(Faults, row_25_at_batch_4096_the_activations_shrink_but_not_to_half) {
    const Measured full = measure(false, 4096), half = measure(true, 4096);
    EXPECT_LT(half.saved, full.saved);
    EXPECT_GT(half.saved, full.saved / 2);
}

// What stays between two steps is the same to the byte: fp32 gradients and both moments.
TEST(Faults, row_25_gradients_and_optimizer_are_equal_in_both) {
    const Measured full = measure(false, 8), half = measure(true, 8);
    EXPECT_EQ(half.at_rest, full.at_rest);
    EXPECT_GE(half.at_rest, 3 * 4 * parameters);
    OptimizerPlan plan;
    plan.name = "adamw";
    ModelSize size;
    size.parameters = parameters;
    size.bytes = 4 * parameters;
    const ResidentBytes estimate = resident_bytes(size, plan);
    EXPECT_EQ(estimate.gradients + estimate.optimizer, 3 * 4 * parameters);
    EXPECT_NEAR(static_cast<double>(half.at_rest), static_cast<double>(estimate.gradients + estimate.optimizer), 4096);
}

}  // namespace
}  // namespace mantissa
