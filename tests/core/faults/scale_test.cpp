// Loss scale: rows 2, 3, 4, 8, 9, 10, 11, 37.
#include "fault_testing.h"
#include "record/skip_kind.h"

namespace mantissa {
namespace {

TEST(Faults, row_2_each_optimizer_is_unscaled_with_the_scale_it_was_made_with) {
    Accelerator accelerator(fp16(1024, OnNonfinite::Mark));
    Trained p(accelerator, {.learning_rate = 0.1}), q(accelerator, {.learning_rate = 0.1});
    accelerator.backward((p.weight * infinity).sum());
    accelerator.backward((q.weight * 2).sum());
    p.optimizer.step();
    q.optimizer.step();
    EXPECT_EQ(value(p.weight), 1);
    EXPECT_FLOAT_EQ(as_float(q.weight), 0.8F);
    EXPECT_EQ(accelerator.loss_scale_state()->scale, 512);
    EXPECT_TRUE(p.optimizer.step_was_skipped());
    EXPECT_FALSE(q.optimizer.step_was_skipped());
    EXPECT_TRUE(accelerator.optimizer_step_was_skipped());
}

TEST(Faults, row_2_upstream_halves_the_scale_between_the_optimizers) {
    const auto p = weight_of(1), q = weight_of(1);
    const Optimizer first = sgd({p}, {.learning_rate = 0.1}), second = sgd({q}, {.learning_rate = 0.1});
    UpstreamScaler scaler(1024);
    scaler.scaled((p * infinity).sum()).backward();
    scaler.scaled((q * 2).sum()).backward();
    EXPECT_TRUE(scaler.step_and_update(*first.core()));
    EXPECT_FALSE(scaler.step_and_update(*second.core()));
    EXPECT_FLOAT_EQ(as_float(q), 0.6F);
}

TEST(Faults, row_3_clipping_unscales_two_optimizers_once) {
    Accelerator accelerator(fp16(1024));
    Trained p(accelerator, {.learning_rate = 0.1}), q(accelerator, {.learning_rate = 0.1});
    accelerator.backward((p.weight * 2 + q.weight * 2).sum());
    EXPECT_NEAR(*accelerator.clip_grad_norm({p.weight, q.weight}, 1e9), 2.82843, 1e-5);
    p.optimizer.step();
    q.optimizer.step();
    EXPECT_FLOAT_EQ(as_float(p.weight), 0.8F);
    EXPECT_FLOAT_EQ(as_float(q.weight), 0.8F);
    EXPECT_EQ(accelerator.loss_scale_state()->growth_tracker, 1);
}

TEST(Faults, row_3_upstream_unscales_the_second_again_and_counts_twice) {
    const auto p = weight_of(1), q = weight_of(1);
    const Optimizer first = sgd({p}, {.learning_rate = 0.1}), second = sgd({q}, {.learning_rate = 0.1});
    UpstreamScaler scaler(1024);
    scaler.scaled((p * 2 + q * 2).sum()).backward();
    scaler.unscale(*first.core(), first.core().get());
    scaler.unscale(*second.core(), second.core().get());
    scaler.step_and_update(*first.core());
    scaler.step_and_update(*second.core());
    EXPECT_FLOAT_EQ(as_float(p), 0.8F);
    EXPECT_NEAR(value(q), 0.9998, 1e-5);
    EXPECT_EQ(scaler.tracker(), 2);
}

// Three optimizers, one of which has no gradient this time, clipped by value.
TEST(Faults, row_3_the_same_with_three_optimizers_and_clipping_by_value) {
    Accelerator accelerator(fp16(1024));
    Trained p(accelerator, {.learning_rate = 0.1}), q(accelerator, {.learning_rate = 0.1}), idle(accelerator, {});
    accelerator.backward((p.weight * 2 + q.weight * 3).sum());
    accelerator.clip_grad_value({p.weight, q.weight}, 2.5);
    p.optimizer.step();
    q.optimizer.step();
    EXPECT_FLOAT_EQ(as_float(p.weight), 0.8F);
    EXPECT_FLOAT_EQ(as_float(q.weight), 0.75F);
    EXPECT_EQ(value(idle.weight), 1);
}

TEST(Faults, row_4_clipping_does_not_unscale_twice) {
    Accelerator accelerator(fp16(1024));
    Trained trained(accelerator, {.learning_rate = 0.1});
    accelerator.backward((trained.weight * 2).sum());
    accelerator.clip_grad_norm({trained.weight}, 1e9);
    accelerator.unscale_gradients();
    trained.optimizer.step();
    EXPECT_FLOAT_EQ(as_float(trained.weight), 0.8F);
}

TEST(Faults, row_4_upstream_once_marked_the_wrapper_and_unscaled_again) {
    const auto weight = weight_of(1);
    const Optimizer inner = sgd({weight}, {.learning_rate = 0.1});
    UpstreamScaler scaler(1024);
    scaler.scaled((weight * 2).sum()).backward();
    scaler.unscale(*inner.core(), &inner);  // the wrapper's mark
    scaler.step_and_update(*inner.core());
    EXPECT_NEAR(value(weight), 0.9998, 1e-5);
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
    EXPECT_FLOAT_EQ(as_float(trained.weight), 0.9F);
}

TEST(Faults, row_8_the_alarm_comes_long_before_the_floor) {
    Accelerator accelerator(fp16(65536));
    Trained trained(accelerator, {.learning_rate = 0.1});
    std::vector<int> alarms;
    for (int i = 0; i < 40; ++i) {
        trained.step(not_a_number);
        const StepFacts& facts = accelerator.last_step();
        if (!facts.scale_alarm) continue;
        alarms.push_back(i);
        EXPECT_EQ(facts.loss_scale_after, 0.5);
        EXPECT_EQ(facts.backoffs_left, 13);  // to 2^-14
    }
    EXPECT_EQ(alarms, std::vector<int>{16});  // once; the floor is met at 30
}

TEST(Faults, row_8_by_default_the_first_nan_loss_stops) {
    Accelerator accelerator(fp16(65536, OnNonfinite::Stop));
    Trained trained(accelerator, {.learning_rate = 0.1});
    EXPECT_THAT(message_of([&] { trained.step(not_a_number); }), HasSubstr("the loss is NaN at step 0; no weight was moved"));
    EXPECT_EQ(value(trained.weight), 1);
}

TEST(Faults, row_8_a_collapse_stops_when_only_the_gradient_is_bad) {
    Accelerator accelerator(fp16(std::ldexp(1.0, -13), OnNonfinite::Stop));
    const auto weight = weight_of(1);
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

TEST(Faults, row_8_upstream_falls_to_zero_and_then_poisons_the_weight) {
    const auto weight = weight_of(1);
    const Optimizer optimizer = sgd({weight}, {.learning_rate = 0.1});
    UpstreamScaler scaler(65536);
    const auto step = [&](double gradient) {
        weight.mutable_grad().reset();
        scaler.scaled((weight * gradient).sum()).backward();
        return scaler.step_and_update(*optimizer.core());
    };
    for (int skips = 1; skips <= 166; ++skips) {
        EXPECT_TRUE(step(not_a_number));
        if (skips == 16 || skips == 144) {
            EXPECT_EQ(scaler.scale(), std::ldexp(1.0, skips == 16 ? 0 : -128));
        }
    }
    EXPECT_EQ(scaler.scale(), 0);
    EXPECT_FALSE(step(1));  // not flagged
    EXPECT_TRUE(std::isnan(value(weight)));
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
    EXPECT_FLOAT_EQ(as_float(trained.weight), 0.9F);
}

TEST(Faults, row_9_upstream_looks_before_it_divides) {
    auto options = fp16(std::ldexp(1.0, -128));
    options.compat = Compat::Accelerate;
    Accelerator accelerator(options);
    Trained trained(accelerator, {.learning_rate = 0.1});
    trained.step(1);
    EXPECT_FALSE(accelerator.optimizer_step_was_skipped());
    EXPECT_FALSE(std::isfinite(value(trained.weight)));
}

// The short window's larger weight and the clip come after the division: a gradient may leave fp32 there too.
TEST(Faults, row_9_so_is_one_that_leaves_fp32_when_a_short_window_is_made_right) {
    auto options = fp16(1);
    options.gradient_accumulation_steps = 4;
    Accelerator accelerator(options);
    Trained trained(accelerator, {.learning_rate = 0.1});
    accelerator.set_end_of_data(true);
    accelerator.accumulate();
    accelerator.backward(finite_loss_with_gradient(trained.weight, 3e38));
    trained.optimizer.step();
    EXPECT_TRUE(accelerator.last_step().found_inf);
    EXPECT_EQ(value(trained.weight), 1);
}

TEST(Faults, row_10_a_tiny_loss_does_not_grow_the_scale_to_infinity) {
    auto options = fp16(65536);
    options.loss_scale.growth_interval = 1;
    Accelerator accelerator(options);
    Trained trained(accelerator, {.learning_rate = 0.1});
    for (int i = 0; i < 199; ++i) trained.step(1e-30);
    EXPECT_FLOAT_EQ(static_cast<float>(accelerator.loss_scale_state()->scale), 1.7014118e38F);
    EXPECT_FALSE(accelerator.optimizer_step_was_skipped());
}

TEST(Faults, row_11_the_scale_finds_its_place_in_the_first_steps) {
    Accelerator accelerator(fp16(65536, OnNonfinite::Stop));
    const auto a = torch::ones({2, 2}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({a}, {.learning_rate = 0.1}));
    const bool skipped[] = {true, true, false, false};
    const double scales[] = {32768, 16384, 16384, 16384};
    SkipClassifier skips;
    for (int i = 0; i < 4; ++i) {
        optimizer.zero_grad();
        torch::Tensor loss;
        {
            const auto amp = accelerator.autocast();
            loss = a.mm(torch::ones({2, 2})).sum();
        }
        accelerator.backward(loss);
        optimizer.step();
        const StepFacts& facts = accelerator.last_step();
        EXPECT_EQ(facts.skipped, skipped[i]) << i;
        EXPECT_EQ(accelerator.loss_scale_state()->scale, scales[i]) << i;
        // What the window and the report call a search, not a fault.
        EXPECT_EQ(skips.record({facts.skipped, facts.nonfinite_loss, facts.loss_scale_after}),
                  skipped[i] ? SkipKind::Probing : SkipKind::None);
    }
    EXPECT_NEAR(value(a[0][0]), 0.6, 1e-6);
    EXPECT_FALSE(skips.was_persistent());
}

TEST(Faults, row_37_bf16_has_no_scaler) {
    Accelerator accelerator(in_mode(Precision::Bf16));
    EXPECT_FALSE(accelerator.loss_scale_state().has_value());
    Trained trained(accelerator, {.learning_rate = 0.1});
    for (int i = 0; i < 3; ++i) {
        trained.step(2);
        EXPECT_FALSE(accelerator.last_step().loss_scale.has_value());
        EXPECT_FALSE(accelerator.optimizer_step_was_skipped());
    }
    EXPECT_NEAR(value(trained.weight), 0.4, 1e-6);
    EXPECT_THAT(message_of([&] { accelerator.restore_loss_scale({1024, 0}); }), HasSubstr("can't be taken up in mode bf16"));
}

TEST(Faults, row_37_neither_has_mode_no) {
    Accelerator accelerator(in_mode(Precision::No));
    EXPECT_FALSE(accelerator.loss_scale_state().has_value());
}

}  // namespace
}  // namespace mantissa
