// Public reports of mixed-precision faults, each with the value that is right. The number is the row of the collection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_model.h"

namespace mantissa {
namespace {

using ::testing::HasSubstr;

AcceleratorOptions fp16(double scale, OnNonfinite rule = OnNonfinite::Skip) {
    return {.mixed_precision = Precision::Fp16, .device = "cpu", .loss_scale = {.initial = scale}, .on_nonfinite = rule};
}

template <typename Function>
std::string message_of(Function function) {
    try {
        function();
    } catch (const EngineError& error) {
        return error.error().message;
    }
    return "accepted";
}

// A weight, its optimizer and its gradient, prepared.
struct Trained {
    Trained(Accelerator& of, const SgdOptions& options, double start = 1) : Trained(of, small_model(start), options) {}
    Trained(Accelerator& of, std::shared_ptr<SmallModel> model, const SgdOptions& options)
        : accelerator(of), weight(model->weight), optimizer(of.prepare(sgd({model->weight}, options))),
          prepared(of.prepare(std::move(model))) {}
    // One step on a loss whose gradient is `gradient`.
    void step(double gradient) {
        optimizer.zero_grad();
        accelerator.backward((weight * gradient).sum());
        optimizer.step();
    }
    Accelerator& accelerator;
    torch::Tensor weight;
    PreparedOptimizer optimizer;
    PreparedModel<std::shared_ptr<SmallModel>> prepared;
};

// A finite loss whose gradient for `weight` is what the test wants.
torch::Tensor finite_loss_with_gradient(const torch::Tensor& weight, double gradient) {
    torch::Tensor hooked = weight * 1.0;
    hooked.register_hook([gradient](const torch::Tensor& incoming) { return torch::full_like(incoming, gradient); });
    return hooked.sum() * 0.5;
}

TEST(Faults, row_1_half_weights_are_refused_with_their_name) {
    Accelerator accelerator(fp16(1024));
    torch::nn::Linear half(1, 1);
    half->to(torch::kHalf);
    EXPECT_THAT(message_of([&] { accelerator.prepare(std::move(half)); }), HasSubstr("trainable weight weight is Half"));
    torch::nn::Linear frozen(1, 1);
    frozen->to(torch::kHalf);
    for (auto& parameter : frozen->parameters()) parameter.requires_grad_(false);
    EXPECT_EQ(message_of([&] { accelerator.prepare(std::move(frozen)); }), "accepted");
    EXPECT_THAT(message_of([&] { accelerator.prepare(sgd({torch::ones({1}, at::kBFloat16).requires_grad_()})); }),
                HasSubstr("is BFloat16"));
}

TEST(Faults, row_2_each_optimizer_is_unscaled_with_the_scale_it_was_made_with) {
    Accelerator accelerator(fp16(1024, OnNonfinite::Mark));
    Trained p(accelerator, {.learning_rate = 0.1}), q(accelerator, {.learning_rate = 0.1});
    accelerator.backward((p.weight * infinity).sum());
    accelerator.backward((q.weight * 2).sum());
    p.optimizer.step();
    q.optimizer.step();
    EXPECT_EQ(value(p.weight), 1);
    EXPECT_FLOAT_EQ(static_cast<float>(value(q.weight)), 0.8F);  // upstream: 0.6
    EXPECT_EQ(accelerator.loss_scale_state()->scale, 512);
    EXPECT_TRUE(p.optimizer.step_was_skipped());
    EXPECT_FALSE(q.optimizer.step_was_skipped());
    EXPECT_TRUE(accelerator.optimizer_step_was_skipped());
}

TEST(Faults, row_3_clipping_unscales_two_optimizers_once) {
    Accelerator accelerator(fp16(1024));
    Trained p(accelerator, {.learning_rate = 0.1}), q(accelerator, {.learning_rate = 0.1});
    accelerator.backward((p.weight * 2 + q.weight * 2).sum());
    EXPECT_NEAR(*accelerator.clip_grad_norm({p.weight, q.weight}, 1e9), 2.82843, 1e-5);
    p.optimizer.step();
    q.optimizer.step();
    EXPECT_FLOAT_EQ(static_cast<float>(value(p.weight)), 0.8F);
    EXPECT_FLOAT_EQ(static_cast<float>(value(q.weight)), 0.8F);  // upstream: 0.9998
    EXPECT_EQ(accelerator.loss_scale_state()->growth_tracker, 1);  // upstream: 2
}

TEST(Faults, row_4_clipping_does_not_unscale_twice) {
    Accelerator accelerator(fp16(1024));
    Trained trained(accelerator, {.learning_rate = 0.1});
    accelerator.backward((trained.weight * 2).sum());
    accelerator.clip_grad_norm({trained.weight}, 1e9);
    accelerator.unscale_gradients();
    trained.optimizer.step();
    EXPECT_FLOAT_EQ(static_cast<float>(value(trained.weight)), 0.8F);
}

TEST(Faults, row_5_clipping_between_syncs_does_nothing) {
    auto options = fp16(1024);
    options.gradient_accumulation_steps = 2;
    Accelerator accelerator(options);
    Trained trained(accelerator, {.learning_rate = 0.1});
    for (const bool syncs : {false, true, false, true}) {
        accelerator.accumulate();
        accelerator.backward((trained.weight * 2).sum());
        EXPECT_EQ(accelerator.clip_grad_norm({trained.weight}, 1e9).has_value(), syncs);
        trained.optimizer.step();
        trained.optimizer.zero_grad();
    }
    EXPECT_FLOAT_EQ(static_cast<float>(value(trained.weight)), 0.6F);
}

TEST(Faults, row_6_a_fused_optimizer_reports_its_skip) {
    Accelerator accelerator(fp16(8));
    auto weight = torch::ones({1}, torch::requires_grad());
    auto raw = adamw({weight}, {.learning_rate = 0.1, .implementation = OptimizerImplementation::Fused});
    auto raw_scheduler = harmonic(raw);
    auto [optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_scheduler));
    accelerator.backward(finite_loss_with_gradient(weight, infinity));
    optimizer.step();
    scheduler.step();
    EXPECT_TRUE(accelerator.optimizer_step_was_skipped());
    EXPECT_EQ(value(weight), 1);
    EXPECT_EQ(optimizer.learning_rate(), 0.1);
    EXPECT_EQ(accelerator.loss_scale_state()->scale, 4);
}

TEST(Faults, row_7_a_skipped_step_is_no_step_for_the_scheduler) {
    Accelerator accelerator(fp16(8));
    auto weight = torch::ones({1}, torch::requires_grad());
    auto raw = sgd({weight}, {.learning_rate = 1});
    auto raw_scheduler = harmonic(raw);
    auto [optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_scheduler));
    const double gradients[] = {1, infinity, 1, not_a_number, 1};
    const bool skipped[] = {false, true, false, true, false};
    const double rates[] = {1.0 / 2, 1.0 / 2, 1.0 / 3, 1.0 / 3, 1.0 / 4}, scales[] = {8, 4, 4, 2, 2};
    const std::int64_t trackers[] = {1, 0, 1, 0, 1};
    for (int i = 0; i < 5; ++i) {
        optimizer.zero_grad();
        accelerator.backward(finite_loss_with_gradient(weight, gradients[i]));
        optimizer.step();
        scheduler.step();
        EXPECT_EQ(accelerator.optimizer_step_was_skipped(), skipped[i]) << i;
        EXPECT_EQ(scheduler.learning_rate(), rates[i]) << i;
        EXPECT_EQ(accelerator.loss_scale_state(), (LossScaleSchedule::State{scales[i], trackers[i]})) << i;
        EXPECT_EQ(accelerator.last_step().nonfinite_grads, skipped[i] ? 1 : 0) << i;
    }
}

TEST(Faults, row_8_the_scale_stops_at_its_floor_and_a_good_step_works_again) {
    Accelerator accelerator(fp16(65536));
    Trained trained(accelerator, {.learning_rate = 0.1});
    int first_collapse = -1;
    for (int i = 0; i < 166; ++i) {
        trained.step(not_a_number);
        if (first_collapse < 0 && accelerator.last_step().scale_collapsed) first_collapse = i;
    }
    EXPECT_EQ(first_collapse, 30);  // 2^16 … 2^-14 are thirty halvings; the next wants to go below
    EXPECT_EQ(accelerator.loss_scale_state()->scale, std::ldexp(1.0, -14));
    trained.step(1);
    EXPECT_FALSE(accelerator.optimizer_step_was_skipped());
    EXPECT_FLOAT_EQ(static_cast<float>(value(trained.weight)), 0.9F);
}

TEST(Faults, row_8_by_default_the_first_nan_loss_stops) {
    Accelerator accelerator(fp16(65536, OnNonfinite::Stop));
    Trained trained(accelerator, {.learning_rate = 0.1});
    EXPECT_THAT(message_of([&] { trained.step(not_a_number); }), HasSubstr("the loss is NaN at step 0; no weight was moved"));
    EXPECT_EQ(value(trained.weight), 1);
}

TEST(Faults, row_8_a_collapse_stops_when_only_the_gradient_is_bad) {
    auto options = fp16(std::ldexp(1.0, -13), OnNonfinite::Stop);
    Accelerator accelerator(options);
    auto weight = torch::ones({1}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}));
    const auto attempt = [&] {
        optimizer.zero_grad();
        accelerator.backward(finite_loss_with_gradient(weight, infinity));
        optimizer.step();
    };
    EXPECT_EQ(message_of(attempt), "accepted");  // a skip, down to the floor
    try {
        attempt();
        FAIL() << "the collapse went unseen";
    } catch (const NonFinite& stop) {
        EXPECT_EQ(stop.where(), NonFinite::Where::LossScale);
        EXPECT_EQ(stop.step(), 1);
        EXPECT_THAT(stop.error().message, HasSubstr("at its floor, 2^-14"));
    }
    EXPECT_TRUE(accelerator.last_step().scale_collapsed);
    EXPECT_EQ(value(weight), 1);
}

TEST(Faults, row_9_a_gradient_that_leaves_fp32_in_the_division_is_flagged) {
    auto options = fp16(std::ldexp(1.0, -128));
    options.loss_scale.floor = 0;
    Accelerator accelerator(options);
    Trained trained(accelerator, {.learning_rate = 0.1});
    trained.step(1);
    EXPECT_TRUE(accelerator.last_step().found_inf);
    EXPECT_TRUE(accelerator.optimizer_step_was_skipped());
    EXPECT_EQ(value(trained.weight), 1);
    accelerator.restore_loss_scale({std::ldexp(1.0, -127), 0});
    trained.step(1);
    EXPECT_FALSE(accelerator.last_step().found_inf);
    EXPECT_FLOAT_EQ(static_cast<float>(value(trained.weight)), 0.9F);
}

TEST(Faults, row_9_compat_repeats_what_upstream_does) {
    auto options = fp16(std::ldexp(1.0, -128));
    options.compat = Compat::Accelerate;
    Accelerator accelerator(options);
    Trained trained(accelerator, {.learning_rate = 0.1});
    trained.step(1);
    EXPECT_FALSE(accelerator.optimizer_step_was_skipped());
    EXPECT_FALSE(std::isfinite(value(trained.weight)));
}

TEST(Faults, row_10_a_tiny_loss_does_not_grow_the_scale_to_infinity) {
    auto options = fp16(65536);
    options.loss_scale.growth_interval = 1;
    Accelerator accelerator(options);
    Trained trained(accelerator, {.learning_rate = 0.1});
    for (int i = 0; i < 199; ++i) trained.step(1e-30);
    EXPECT_FLOAT_EQ(static_cast<float>(accelerator.loss_scale_state()->scale), 1.7014118e38F);
}

TEST(Faults, row_11_the_scale_finds_its_place_in_the_first_steps) {
    auto options = fp16(65536, OnNonfinite::Stop);
    Accelerator accelerator(options);
    const auto a = torch::ones({2, 2}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({a}, {.learning_rate = 0.1}));
    const bool skipped[] = {true, true, false, false};
    const double scales[] = {32768, 16384, 16384, 16384};
    for (int i = 0; i < 4; ++i) {
        optimizer.zero_grad();
        torch::Tensor loss;
        {
            const auto amp = accelerator.autocast();
            loss = a.mm(torch::ones({2, 2})).sum();
        }
        accelerator.backward(loss);
        optimizer.step();
        EXPECT_EQ(accelerator.optimizer_step_was_skipped(), skipped[i]) << i;
        EXPECT_EQ(accelerator.loss_scale_state()->scale, scales[i]) << i;
    }
    EXPECT_NEAR(value(a[0][0]), 0.6, 1e-6);
}

struct LinearAndNorm : torch::nn::Module {
    LinearAndNorm() {
        linear = register_module("linear", torch::nn::Linear(torch::nn::LinearOptions(2, 1).bias(false)));
        norm = register_module("norm", torch::nn::BatchNorm1d(1));
        linear->weight.data().fill_(1);
    }
    torch::Tensor forward(const torch::Tensor& input) { return norm(linear(input)); }
    torch::nn::Linear linear{nullptr};
    torch::nn::BatchNorm1d norm{nullptr};
};

// Mean and variance of the BatchNorm after a good, an overflowing and a good batch; learning rate 0 keeps the weights.
std::pair<double, double> statistics_after_an_overflow(BatchNormOnSkip rule) {
    auto options = fp16(1024);
    options.batch_norm_on_skip = rule;
    Accelerator accelerator(options);
    auto raw = std::make_shared<LinearAndNorm>();
    auto raw_optimizer = sgd(raw->parameters(), {.learning_rate = 0});
    auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(raw_optimizer));
    const auto good = torch::tensor({{1.0F, 1.0F}, {2.0F, 2.0F}}), bad = torch::tensor({{6e4F, 6e4F}, {1.0F, 1.0F}});
    for (const auto& batch : {good, bad}) {
        optimizer.zero_grad();
        torch::Tensor loss;
        {
            const auto amp = accelerator.autocast();
            loss = model(batch).square().mean();
        }
        accelerator.backward(loss);
        optimizer.step();
    }
    EXPECT_TRUE(accelerator.optimizer_step_was_skipped());
    const auto& norm = model.unwrap()->norm;
    EXPECT_EQ(norm->num_batches_tracked.item<std::int64_t>(), rule == BatchNormOnSkip::Restore ? 1 : 2);
    return {value(norm->running_mean), value(norm->running_var)};
}

TEST(Faults, row_14_a_skipped_step_leaves_the_batch_norm_statistics) {
    const auto [mean, variance] = statistics_after_an_overflow(BatchNormOnSkip::Restore);
    EXPECT_NEAR(mean, 0.3, 1e-6);
    EXPECT_NEAR(variance, 1.1, 1e-6);
}

TEST(Faults, row_14_keep_poisons_them_as_upstream_does) {
    const auto [mean, variance] = statistics_after_an_overflow(BatchNormOnSkip::Keep);
    EXPECT_FALSE(std::isfinite(mean));
    EXPECT_FALSE(std::isfinite(variance));
}

TEST(Faults, row_27_a_nan_gradient_under_a_finite_loss_stops_with_the_name_of_the_weight) {
    Accelerator accelerator({.mixed_precision = Precision::No, .device = "cpu"});
    auto raw = std::make_shared<SmallModel>(torch::tensor({0.0F, 2.0F}));
    const torch::Tensor x = raw->weight;
    auto raw_optimizer = sgd(raw->parameters(), {.learning_rate = 0.1});
    auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(raw_optimizer));
    const auto loss = torch::where(x > 0, x.log(), torch::zeros({2})).sum();
    EXPECT_NEAR(value(loss), 0.693147, 1e-6);
    accelerator.backward(loss);
    try {
        optimizer.step();
        FAIL() << "the NaN reached the weight";
    } catch (const NonFinite& stop) {
        EXPECT_EQ(stop.where(), NonFinite::Where::Gradient);
        EXPECT_EQ(stop.subject(), "weight");
        EXPECT_EQ(exit_code(stop.error().code), 4);
    }
    EXPECT_EQ(value(x[0]), 0);
    EXPECT_EQ(value(x[1]), 2);
    EXPECT_EQ(accelerator.last_step().nonfinite_grads, 1);
    EXPECT_FALSE(accelerator.last_step().nonfinite_loss);
}

TEST(Faults, row_28_clipping_comes_after_unscaling) {
    Accelerator accelerator(fp16(65536));
    auto weight = torch::zeros({2}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 1}));
    accelerator.backward((weight * torch::tensor({3.0F, 4.0F})).sum());
    EXPECT_EQ(*accelerator.clip_grad_norm({weight}, 1), 5);
    optimizer.step();
    EXPECT_NEAR(value(weight[0]), -0.6, 1e-6);
    EXPECT_NEAR(value(weight[1]), -0.8, 1e-6);
    EXPECT_EQ(accelerator.last_step().grad_norm, 5);  // before clipping
}

TEST(Faults, row_30_the_scheduler_is_held_between_syncs) {
    Accelerator accelerator({.mixed_precision = Precision::No, .device = "cpu", .gradient_accumulation_steps = 2});
    auto weight = torch::ones({1}, torch::requires_grad());
    auto raw = sgd({weight}, {.learning_rate = 1});
    auto raw_scheduler = harmonic(raw);
    auto [optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_scheduler));
    for (const double rate : {1.0, 1.0 / 2, 1.0 / 2, 1.0 / 3}) {
        accelerator.accumulate();
        accelerator.backward((weight * 1.0).sum());
        optimizer.step();
        scheduler.step();
        optimizer.zero_grad();
        EXPECT_EQ(scheduler.learning_rate(), rate);
    }
}

// Six batches in windows of four; the last window has two.
double after_a_short_window(ShortWindow rule) {
    Accelerator accelerator({.mixed_precision = Precision::No, .device = "cpu", .gradient_accumulation_steps = 4, .short_window = rule});
    auto weight = torch::zeros({1}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 1}));
    const bool syncs[] = {false, false, false, true, false, true};
    for (int i = 0; i < 6; ++i) {
        accelerator.set_end_of_data(i == 5);
        accelerator.accumulate();
        EXPECT_EQ(accelerator.sync_gradients(), syncs[i]) << i;
        accelerator.backward(-weight.sum());
        optimizer.step();
        optimizer.zero_grad();
        EXPECT_EQ(value(weight), i < 3 ? 0 : i < 5 ? 1 : value(weight)) << i;
    }
    return value(weight);
}

TEST(Faults, row_32_a_short_window_has_its_full_weight) { EXPECT_EQ(after_a_short_window(ShortWindow::RightSized), 2); }
TEST(Faults, row_32_or_half_of_it_as_upstream) { EXPECT_EQ(after_a_short_window(ShortWindow::Upstream), 1.5); }

TEST(Faults, row_33_scale_and_tracker_are_taken_up_again) {
    auto options = fp16(65536);
    options.loss_scale.growth_interval = 3;
    Accelerator first(options), second(options);
    Trained before(first, {.learning_rate = 0.1}), after(second, {.learning_rate = 0.1});
    for (int i = 0; i < 5; ++i) before.step(1);
    second.restore_loss_scale(*first.loss_scale_state());
    before.step(1);
    after.step(1);
    EXPECT_EQ(second.loss_scale_state(), first.loss_scale_state());
    EXPECT_EQ(second.loss_scale_state(), (LossScaleSchedule::State{262144, 0}));
}

TEST(Faults, row_37_bf16_has_no_scaler) {
    Accelerator accelerator({.mixed_precision = Precision::Bf16, .device = "cpu"});
    EXPECT_FALSE(accelerator.loss_scale_state().has_value());
    Trained trained(accelerator, {.learning_rate = 0.1});
    trained.step(2);
    EXPECT_FALSE(accelerator.last_step().loss_scale.has_value());
    EXPECT_THAT(message_of([&] { accelerator.restore_loss_scale({1024, 0}); }), HasSubstr("can't be taken up in mode bf16"));
}

}  // namespace
}  // namespace mantissa
