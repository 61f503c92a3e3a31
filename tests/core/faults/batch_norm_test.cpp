// Statistics of batch norm: rows 14 and 15.
#include "fault_testing.h"

namespace mantissa {
namespace {

struct LinearAndNorm : torch::nn::Module {
    explicit LinearAndNorm(std::optional<double> momentum = 0.1) {
        linear = register_module("linear", torch::nn::Linear(torch::nn::LinearOptions(2, 1).bias(false)));
        norm = register_module("norm", torch::nn::BatchNorm1d(torch::nn::BatchNorm1dOptions(1).momentum(momentum)));
        linear->weight.data().fill_(1);
    }
    torch::Tensor forward(const torch::Tensor& input) { return norm(linear(input)); }
    torch::nn::Linear linear{nullptr};
    torch::nn::BatchNorm1d norm{nullptr};
};

struct AfterOverflow {
    double mean = 0, variance = 0, last_loss = 0, evaluation = 0;
    std::int64_t batches = 0;
};

// A good, an overflowing and a good batch; learning rate 0 keeps the weights.
AfterOverflow after_overflow(BatchNormOnSkip rule, std::optional<double> momentum = 0.1, std::int64_t window = 1) {
    auto options = fp16(1024);
    options.batch_norm_on_skip = rule;
    options.gradient_accumulation_steps = window;
    Accelerator accelerator(options);
    auto raw = std::make_shared<LinearAndNorm>(momentum);
    auto raw_optimizer = sgd(raw->parameters(), {.learning_rate = 0});
    auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(raw_optimizer));
    const auto good = torch::tensor({{1.0F, 1.0F}, {2.0F, 2.0F}}), bad = torch::tensor({{6e4F, 6e4F}, {1.0F, 1.0F}});
    AfterOverflow result;
    const auto step = [&, &prepared = model, &of = optimizer](const torch::Tensor& batch) {
        for (std::int64_t i = 0; i < window; ++i) {
            accelerator.accumulate();
            of.zero_grad();
            torch::Tensor loss;
            {
                const auto amp = accelerator.autocast();
                loss = prepared(i == 0 ? batch : good).square().mean();
            }
            result.last_loss = value(loss);
            accelerator.backward(loss);
            of.step();
        }
    };
    step(good);
    step(bad);
    EXPECT_TRUE(accelerator.optimizer_step_was_skipped());
    const auto& norm = model.unwrap()->norm;
    result.mean = value(norm->running_mean);
    result.variance = value(norm->running_var);
    result.batches = norm->num_batches_tracked.item<std::int64_t>();
    step(good);
    model.eval();
    result.evaluation = value(model(good)[0][0]);
    return result;
}

TEST(Faults, row_14_a_skipped_step_leaves_the_batch_norm_statistics) {
    const AfterOverflow after = after_overflow(BatchNormOnSkip::Restore);
    EXPECT_NEAR(after.mean, 0.3, 1e-6);
    EXPECT_NEAR(after.variance, 1.1, 1e-6);
    EXPECT_EQ(after.batches, 1);
    EXPECT_NEAR(after.last_loss, 1, 0.05);
    EXPECT_TRUE(std::isfinite(after.evaluation));
}

TEST(Faults, row_14_keep_poisons_them_as_upstream_does) {
    const AfterOverflow after = after_overflow(BatchNormOnSkip::Keep);
    EXPECT_FALSE(std::isfinite(after.mean));
    EXPECT_FALSE(std::isfinite(after.variance));
    EXPECT_EQ(after.batches, 2);
    EXPECT_NEAR(after.last_loss, 1, 0.05);  // training recovers …
    EXPECT_TRUE(std::isnan(after.evaluation));  // … evaluation doesn't
}

// A cumulative average and a window of two micro-batches, the first of which overflows.
TEST(Faults, row_14_the_same_for_a_cumulative_average_and_in_a_window) {
    const AfterOverflow cumulative = after_overflow(BatchNormOnSkip::Restore, std::nullopt);
    EXPECT_NEAR(cumulative.mean, 3, 1e-6);
    EXPECT_EQ(cumulative.batches, 1);
    const AfterOverflow window = after_overflow(BatchNormOnSkip::Restore, 0.1, 2);
    EXPECT_NEAR(window.mean, 0.1 * 3 + 0.9 * 0.1 * 3, 1e-6);
    EXPECT_EQ(window.batches, 2);
    EXPECT_TRUE(std::isfinite(window.evaluation));
}

// A step that is refused for its loss goes back as a skipped one does, also without a scaler.
TEST(Faults, row_14_a_refused_step_of_mode_no_leaves_them_too) {
    Accelerator accelerator(in_mode(Precision::No));
    auto raw = std::make_shared<LinearAndNorm>();
    auto raw_optimizer = sgd(raw->parameters());
    auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(raw_optimizer));
    accelerator.backward(model(torch::tensor({{1.0F, 1.0F}, {static_cast<float>(not_a_number), 2.0F}})).sum());
    EXPECT_THROW(optimizer.step(), NonFinite);
    EXPECT_EQ(value(model.unwrap()->norm->running_mean), 0);
    EXPECT_EQ(value(model.unwrap()->norm->running_var), 1);
}

const auto wide = [] { return torch::tensor({{600.0F, 0.0F}, {-600.0F, 0.0F}}); };

TEST(Faults, row_15_statistics_in_half_overflow) {
    torch::nn::BatchNorm1d norm(2);
    norm->to(torch::kHalf);
    norm->forward(wide().to(torch::kHalf));
    EXPECT_EQ(value(norm->running_var[0]), infinity);
}

TEST(Faults, row_15_under_the_accelerator_they_are_fp32) {
    for (const auto input : {torch::kFloat, torch::kHalf}) {
        Accelerator accelerator(fp16(1024));
        torch::nn::BatchNorm1d norm(2);
        auto model = accelerator.prepare(std::move(norm));
        const auto output = model(wide().to(input));
        EXPECT_NEAR(value(model.unwrap()->running_var[0]), 72000.9, 0.01);
        EXPECT_EQ(model.unwrap()->running_var.scalar_type(), torch::kFloat);
        EXPECT_NEAR(value(output[0][0]), 1, 1e-3);
        EXPECT_EQ(value(output[0][1]), 0);
    }
}

// model.half() is refused: its weights by row 1's rule, its statistics by their own where nothing is trainable.
TEST(Faults, row_15_a_model_in_half_is_refused) {
    Accelerator accelerator(fp16(1024));
    torch::nn::BatchNorm1d norm(2);
    norm->to(torch::kHalf);
    EXPECT_THAT(message_of([&] { accelerator.prepare(std::move(norm)); }), HasSubstr("trainable weight weight is Half"));
    torch::nn::BatchNorm1d bare(torch::nn::BatchNorm1dOptions(2).affine(false));
    bare->to(torch::kHalf);
    EXPECT_THAT(message_of([&] { accelerator.prepare(std::move(bare)); }), HasSubstr("running_mean is Half"));
    torch::nn::InstanceNorm1d instance(torch::nn::InstanceNorm1dOptions(2).track_running_stats(true));
    instance->to(torch::kBFloat16);
    EXPECT_THAT(message_of([&] { accelerator.prepare(std::move(instance)); }), HasSubstr("running_mean is BFloat16"));
}

TEST(Faults, row_15_a_frozen_half_norm_that_only_evaluates_is_allowed) {
    Accelerator accelerator(fp16(1024));
    torch::nn::BatchNorm1d bare(torch::nn::BatchNorm1dOptions(2).affine(false));
    bare->to(torch::kHalf);
    bare->eval();
    EXPECT_EQ(message_of([&] { accelerator.prepare(std::move(bare)); }), "accepted");
}

}  // namespace
}  // namespace mantissa
