// Clipping, accumulation windows and schedulers: rows 5, 7, 28, 30, 32.
#include "engine/gradients.h"
#include "fault_testing.h"

namespace mantissa {
namespace {

TEST(Faults, row_5_clipping_between_syncs_does_nothing) {
    auto options = fp16(1024);
    options.gradient_accumulation_steps = 2;
    Accelerator accelerator(options);
    Trained trained(accelerator, {.learning_rate = 0.1});
    for (const bool syncs : {false, true, false, true}) {
        accelerator.accumulate();
        accelerator.backward((trained.weight * 2).sum());
        EXPECT_EQ(accelerator.clip_grad_norm({trained.weight}, 1e9).has_value(), syncs);
        accelerator.clip_grad_value({trained.weight}, 1e9);
        accelerator.unscale_gradients();
        trained.optimizer.step();
        trained.optimizer.zero_grad();
    }
    EXPECT_FLOAT_EQ(as_float(trained.weight), 0.6F);
}

TEST(Faults, row_5_upstream_fails_at_the_second_clip) {
    const auto weight = weight_of(1);
    const Optimizer optimizer = sgd({weight}, {.learning_rate = 0.1});
    UpstreamScaler scaler(1024);
    const auto micro_batch = [&] {
        scaler.scaled((weight * 2).sum() / 2).backward();
        scaler.unscale(*optimizer.core(), optimizer.core().get());
    };
    EXPECT_NO_THROW(micro_batch());
    EXPECT_THROW(micro_batch(), std::logic_error);
}

constexpr double gradients_of_row_7[] = {1, infinity, 1, not_a_number, 1};

TEST(Faults, row_7_a_skipped_step_is_no_step_for_the_scheduler) {
    Accelerator accelerator(fp16(8));
    const auto weight = weight_of(1);
    auto raw = sgd({weight}, {.learning_rate = 1});
    auto raw_scheduler = harmonic(raw);
    auto [optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_scheduler));
    const bool skipped[] = {false, true, false, true, false};
    const double rates[] = {1.0 / 2, 1.0 / 2, 1.0 / 3, 1.0 / 3, 1.0 / 4}, scales[] = {8, 4, 4, 2, 2};
    const std::int64_t trackers[] = {1, 0, 1, 0, 1};
    for (int i = 0; i < 5; ++i) {
        optimizer.zero_grad();
        accelerator.backward(finite_loss_with_gradient(weight, gradients_of_row_7[i]));
        optimizer.step();
        scheduler.step();
        EXPECT_EQ(accelerator.optimizer_step_was_skipped(), skipped[i]) << i;
        EXPECT_EQ(scheduler.learning_rate(), rates[i]) << i;
        EXPECT_EQ(accelerator.loss_scale_state(), (LossScaleSchedule::State{scales[i], trackers[i]})) << i;
        EXPECT_EQ(accelerator.last_step().nonfinite_grads, skipped[i] ? 1 : 0) << i;
    }
}

// A plain loop over a scaler can't see the skip, so its scheduler goes on.
TEST(Faults, row_7_a_plain_loop_moves_the_rate_at_every_attempt) {
    const auto weight = weight_of(1);
    const Optimizer optimizer = sgd({weight}, {.learning_rate = 1});
    const Scheduler scheduler = harmonic(optimizer);
    UpstreamScaler scaler(8);
    const double rates[] = {1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6};
    for (int i = 0; i < 5; ++i) {
        weight.mutable_grad().reset();
        scaler.scaled(finite_loss_with_gradient(weight, gradients_of_row_7[i])).backward();
        scaler.step_and_update(*optimizer.core());
        scheduler.core()->step();
        EXPECT_EQ(optimizer.learning_rate(), rates[i]) << i;
    }
}

// A step that rule 12 keeps from the weights is none for the scheduler either, in any mode.
TEST(Faults, row_7_nor_is_a_refused_step_of_bf16) {
    auto options = in_mode(Precision::Bf16);
    options.on_nonfinite = OnNonfinite::Skip;
    Accelerator accelerator(options);
    const auto weight = weight_of(1);
    auto raw = sgd({weight}, {.learning_rate = 1});
    auto raw_scheduler = harmonic(raw);
    auto [optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_scheduler));
    const double rates[] = {1.0 / 2, 1.0 / 2, 1.0 / 3, 1.0 / 3, 1.0 / 4};
    for (int i = 0; i < 5; ++i) {
        optimizer.zero_grad();
        accelerator.backward(finite_loss_with_gradient(weight, gradients_of_row_7[i]));
        optimizer.step();
        scheduler.step();
        EXPECT_EQ(scheduler.learning_rate(), rates[i]) << i;
    }
}

TEST(Faults, row_28_clipping_comes_after_unscaling) {
    Accelerator accelerator(fp16(65536));
    auto weight = torch::zeros({2}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 1}));
    accelerator.backward((weight * torch::tensor({3.0F, 4.0F})).sum());
    EXPECT_EQ(*accelerator.clip_grad_norm({weight}, 1), 5);
    EXPECT_NEAR(value(weight.grad()[0]), 0.6, 1e-6);
    optimizer.step();
    EXPECT_NEAR(value(weight[0]), -0.6, 1e-6);
    EXPECT_NEAR(value(weight[1]), -0.8, 1e-6);
    EXPECT_EQ(accelerator.last_step().grad_norm, 5);  // before clipping
}

TEST(Faults, row_28_clipping_by_value_too) {
    Accelerator accelerator(fp16(65536));
    auto weight = torch::zeros({2}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 1}));
    accelerator.backward((weight * torch::tensor({3.0F, 0.5F})).sum());
    accelerator.clip_grad_value({weight}, 1);
    optimizer.step();
    EXPECT_EQ(value(weight[0]), -1);
    EXPECT_EQ(value(weight[1]), -0.5);
}

TEST(Faults, row_28_the_wrong_order_leaves_almost_nothing) {
    auto weight = torch::zeros({2}, torch::requires_grad());
    const Optimizer optimizer = sgd({weight}, {.learning_rate = 1});
    UpstreamScaler scaler(65536);
    scaler.scaled((weight * torch::tensor({3.0F, 4.0F})).sum()).backward();
    EXPECT_EQ(clip_norm({weight.grad()}, 1), 327680);
    scaler.step_and_update(*optimizer.core());
    EXPECT_NEAR(value(weight[0]), -9.2e-6, 1e-7);
    EXPECT_NEAR(value(weight[1]), -1.2e-5, 5e-7);
}

TEST(Faults, row_30_the_scheduler_is_held_between_syncs) {
    auto options = in_mode(Precision::No);
    options.gradient_accumulation_steps = 2;
    Accelerator accelerator(options);
    const auto weight = weight_of(1);
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
    auto options = in_mode(Precision::No);
    options.gradient_accumulation_steps = 4;
    options.short_window = rule;
    Accelerator accelerator(options);
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

// Ours by default; `short_window = upstream` is Accelerate's weight.
TEST(Faults, row_32_a_short_window_has_its_full_weight) { EXPECT_EQ(after_a_short_window(ShortWindow::RightSized), 2); }
TEST(Faults, row_32_or_half_of_it_as_upstream) { EXPECT_EQ(after_a_short_window(ShortWindow::Upstream), 1.5); }

}  // namespace
}  // namespace mantissa
