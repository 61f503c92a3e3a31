// Windows and several optimizers: what counts as one iteration, whose gradient is scaled by what, and when nothing may happen.
// In fp16 every result is that of fp32 arithmetic on the same losses, unless a step was skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/executable_batch_size.h"
#include "small_model.h"

namespace mantissa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

AcceleratorOptions in(Precision precision, std::int64_t accumulation = 1, OnNonfinite rule = OnNonfinite::Skip) {
    return {.mixed_precision = precision, .device = "cpu", .gradient_accumulation_steps = accumulation,
            .loss_scale = {.initial = 1024}, .on_nonfinite = rule};
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

torch::Tensor weight_of(double start) { return torch::full({1}, start, torch::requires_grad()); }
float number(const torch::Tensor& tensor) { return static_cast<float>(value(tensor)); }
// A finite loss whose gradient overflows.
torch::Tensor overflowing(const torch::Tensor& weight) {
    torch::Tensor hooked = weight * 1.0;
    hooked.register_hook([](const torch::Tensor& incoming) { return torch::full_like(incoming, infinity); });
    return hooked.sum() * 0.5;
}

class Windows : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Modes, Windows, testing::Values(Precision::No, Precision::Fp16));

// --- no_sync, zero_grad, accumulate

TEST_P(Windows, inside_no_sync_nothing_ends_a_window) {
    Accelerator accelerator(in(GetParam()));
    auto weight = weight_of(1);
    auto raw = sgd({weight}, {.learning_rate = 0.1});
    auto raw_scheduler = harmonic(raw);
    auto [optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_scheduler));
    for (const bool held : {true, true, false}) {
        const std::unique_ptr<NoSyncScope> scope(held ? new NoSyncScope(accelerator.no_sync()) : nullptr);
        accelerator.accumulate();
        EXPECT_EQ(accelerator.sync_gradients(), !held);
        accelerator.backward((weight * 1).sum());
        EXPECT_EQ(accelerator.clip_grad_norm({weight}, 1e9).has_value(), !held);
        optimizer.step();
        scheduler.step();
        optimizer.zero_grad();
        EXPECT_FLOAT_EQ(number(weight), held ? 1.0F : 0.7F);
        EXPECT_EQ(weight.grad().defined(), held);
        EXPECT_FLOAT_EQ(static_cast<float>(scheduler.learning_rate()), held ? 0.1F : 0.05F);
    }
    EXPECT_TRUE(accelerator.sync_gradients());
    EXPECT_EQ(accelerator.last_step().losses.size(), 3U);
    const auto outer = accelerator.no_sync();
    {
        const auto inner = accelerator.no_sync();
    }
    EXPECT_FALSE(accelerator.sync_gradients());
}

// zero_grad before the forward pass is how a plain loop does it; the window's earlier gradients must survive it.
TEST_P(Windows, zero_grad_may_stand_first_in_a_micro_batch) {
    Accelerator accelerator(in(GetParam(), 2));
    auto weight = weight_of(1);
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 0.1}));
    for (const double gradient : {2.0, 4.0, 1.0, 1.0}) {
        accelerator.accumulate();
        optimizer.zero_grad();
        accelerator.backward((weight * gradient).sum());
        optimizer.step();
    }
    EXPECT_FLOAT_EQ(number(weight), 0.6F);  // (2 + 4) / 2 and (1 + 1) / 2; upstream loses 2 and the first 1
}

TEST_P(Windows, zero_grad_without_a_step_throws_the_attempt_away) {
    Accelerator accelerator(in(GetParam()));
    auto weight = weight_of(1);
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 0.1}));
    accelerator.backward((weight * 100).sum());
    accelerator.clip_grad_norm({weight}, 1);
    optimizer.zero_grad();
    accelerator.backward((weight * 2).sum());
    optimizer.step();
    EXPECT_FLOAT_EQ(number(weight), 0.8F);
    EXPECT_THAT(accelerator.last_step().losses, ElementsAre(2));
    EXPECT_EQ(accelerator.last_step().step, 0);
}

TEST_P(Windows, gradients_that_are_not_zeroed_add_up_as_in_fp32) {
    Accelerator accelerator(in(GetParam()));
    auto weight = weight_of(1);
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 0.1}));
    for (int i = 0; i < 2; ++i) {
        accelerator.backward((weight * 2).sum());
        optimizer.step();
    }
    EXPECT_FLOAT_EQ(number(weight), 0.4F);  // 1 - 0.2 - 0.4
}

TEST_P(Windows, a_backward_after_clipping_is_measured_too) {
    Accelerator accelerator(in(GetParam()));
    auto weight = weight_of(1);
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 0.1}));
    accelerator.backward((weight * 2).sum());
    EXPECT_FLOAT_EQ(static_cast<float>(*accelerator.clip_grad_norm({weight}, 1e9)), 2);
    accelerator.backward((weight * 4).sum());
    optimizer.step();
    EXPECT_FLOAT_EQ(number(weight), 0.4F);
    EXPECT_EQ(accelerator.last_step().grad_norm, 6);
    optimizer.zero_grad();
    accelerator.backward((weight * 2).sum());
    accelerator.unscale_gradients();
    accelerator.backward(overflowing(weight));
    optimizer.step();
    EXPECT_TRUE(optimizer.step_was_skipped());
    EXPECT_FLOAT_EQ(number(weight), 0.4F);
}

TEST(Windows, steps_of_one_sync_always) {
    Accelerator accelerator(in(Precision::No));
    EXPECT_TRUE(accelerator.sync_gradients());
    accelerator.accumulate();
    EXPECT_TRUE(accelerator.sync_gradients());
}

// Measured upstream: 6 batches, 4 steps.
TEST(Windows, the_last_batch_syncs_and_the_count_begins_anew) {
    Accelerator accelerator(in(Precision::No, 4));
    std::vector<bool> syncs;
    for (int batch = 0; batch < 8; ++batch) {
        accelerator.set_end_of_data(batch == 5);
        accelerator.accumulate(7, "models may be named");
        syncs.push_back(accelerator.sync_gradients());
    }
    EXPECT_THAT(syncs, ElementsAre(false, false, false, true, false, true, false, false));
}

// --- order of calls

TEST(Order, clip_after_the_step_is_refused_in_fp16_and_changes_no_facts) {
    Accelerator accelerator(in(Precision::Fp16));
    auto weight = weight_of(1);
    auto optimizer = accelerator.prepare(sgd({weight}));
    accelerator.backward((weight * 2).sum());
    optimizer.step();
    EXPECT_THAT(message_of([&] { accelerator.clip_grad_norm({weight}, 1); }), HasSubstr("clip_grad_norm was called after the step"));
    EXPECT_EQ(accelerator.last_step().grad_norm, 2);
    EXPECT_EQ(accelerator.last_step().step, 0);
}

TEST(Order, clip_after_the_step_in_mode_no_clips_what_is_there) {
    Accelerator accelerator(in(Precision::No));
    auto weight = weight_of(1);
    auto optimizer = accelerator.prepare(sgd({weight}));
    accelerator.backward((weight * 2).sum());
    optimizer.step();
    EXPECT_FLOAT_EQ(static_cast<float>(*accelerator.clip_grad_norm({weight}, 1)), 2);
    EXPECT_EQ(accelerator.last_step().step, 0);
    EXPECT_EQ(accelerator.last_step().loss, 2);
}

TEST(Order, clipping_a_gradient_that_nobody_unscales_is_refused) {
    Accelerator accelerator(in(Precision::Fp16));
    auto weight = weight_of(1), foreign = weight_of(1);
    accelerator.backward((weight * 2).sum());  // no optimizer at all
    EXPECT_THAT(message_of([&] { accelerator.clip_grad_norm({weight}, 1); }), HasSubstr("still multiplied by the loss scale"));
    auto optimizer = accelerator.prepare(sgd({weight}));
    accelerator.backward((weight * 2 + foreign).sum());
    EXPECT_THAT(message_of([&] { accelerator.clip_grad_value({weight, foreign}, 1); }), HasSubstr("belongs to no prepared optimizer"));
}

TEST(Order, a_step_before_any_backward) {
    Accelerator half(in(Precision::Fp16));
    auto weight = weight_of(1);
    auto optimizer = half.prepare(sgd({weight}));
    EXPECT_THAT(message_of([&] { optimizer.step(); }), HasSubstr("no scaled gradient"));
}

TEST(Order, a_step_without_gradients_is_no_attempt_in_mode_no) {
    Accelerator accelerator(in(Precision::No));
    auto weight = weight_of(1);
    auto optimizer = accelerator.prepare(sgd({weight}));
    optimizer.step();
    accelerator.backward((weight * 2).sum());
    optimizer.step();
    EXPECT_EQ(accelerator.last_step().step, 0);
}

// --- several optimizers

struct Two {
    explicit Two(Accelerator& accelerator)
        : p(weight_of(1)), q(weight_of(1)), of_p(accelerator.prepare(sgd({p}, {.learning_rate = 0.1}))),
          of_q(accelerator.prepare(sgd({q}, {.learning_rate = 0.1}))) {}
    torch::Tensor p, q;
    PreparedOptimizer of_p, of_q;
};

// q adds up over two iterations; in between p overflows and the scale falls. q's gradient follows the scale.
TEST(SeveralOptimizers, a_gradient_that_waits_follows_the_scale) {
    Accelerator accelerator(in(Precision::Fp16));
    Two two(accelerator);
    accelerator.backward(overflowing(two.p) + (two.q * 2).sum());
    two.of_p.step();
    two.of_p.zero_grad();
    accelerator.backward((two.p * 1).sum() + (two.q * 3).sum());
    EXPECT_EQ(accelerator.loss_scale_state()->scale, 512);
    two.of_p.step();
    two.of_q.step();
    EXPECT_FLOAT_EQ(number(two.p), 0.9F);
    EXPECT_FLOAT_EQ(number(two.q), 0.5F);  // 1 - 0.1 * (2 + 3); with the scale of each backward forgotten: 0.3
    EXPECT_EQ(accelerator.last_step().step, 1);
}

TEST(SeveralOptimizers, a_shared_parameter_is_unscaled_and_measured_once) {
    Accelerator accelerator(in(Precision::Fp16));
    auto weight = weight_of(1);
    auto first = accelerator.prepare(sgd({weight}, {.learning_rate = 0.1})), second = accelerator.prepare(sgd({weight}, {.learning_rate = 0.1}));
    accelerator.backward((weight * 2).sum());
    first.step();
    second.step();
    EXPECT_FLOAT_EQ(number(weight), 0.6F);
    EXPECT_EQ(accelerator.last_step().grad_norm, 2);
    first.zero_grad();
    accelerator.backward(overflowing(weight));
    first.step();
    second.step();
    EXPECT_TRUE(first.step_was_skipped() && second.step_was_skipped());
    EXPECT_FLOAT_EQ(number(weight), 0.6F);
    EXPECT_EQ(accelerator.loss_scale_state()->scale, 512);
}

TEST(SeveralOptimizers, one_without_a_gradient_sits_out) {
    Accelerator accelerator(in(Precision::Fp16));
    Two two(accelerator);
    for (int i = 0; i < 2; ++i) {
        accelerator.backward((two.p * 2).sum());
        two.of_p.step();
        EXPECT_EQ(accelerator.last_step().loss_scale_after, 1024);  // complete: q has nothing to wait for
        two.of_q.step();
        two.of_p.zero_grad();
        two.of_q.zero_grad();
        EXPECT_EQ(accelerator.last_step().step, i);
    }
    EXPECT_FLOAT_EQ(number(two.p), 0.6F);
    EXPECT_EQ(number(two.q), 1);
    EXPECT_EQ(accelerator.loss_scale_state()->growth_tracker, 2);
}

// A critic and its generator in one iteration: the generator's loss reaches the critic's weight too.
TEST_P(Windows, a_critic_and_its_generator) {
    Accelerator accelerator(in(GetParam()));
    Two two(accelerator);  // p is the critic, q the generator
    for (int i = 0; i < 2; ++i) {
        two.of_p.zero_grad();
        accelerator.backward((two.p * two.q.detach()).sum());
        two.of_p.step();
        two.of_q.zero_grad();
        accelerator.backward(-(two.p * two.q).sum());
        two.of_q.step();
    }
    // p: 1 - .1 = .9; q: 1 + .1 * .9 = 1.09; p: .9 - .109 = .791; q: 1.09 + .0791
    EXPECT_FLOAT_EQ(number(two.p), 0.791F);
    EXPECT_FLOAT_EQ(number(two.q), 1.1691F);
}

TEST(SeveralOptimizers, a_critics_overflow_does_not_touch_the_generator) {
    Accelerator accelerator(in(Precision::Fp16));
    Two two(accelerator);
    accelerator.backward(overflowing(two.p) + two.q.sum());  // nobody detached: the generator holds a gradient of this scale
    two.of_p.step();
    two.of_p.zero_grad();
    accelerator.backward((two.q * 2).sum());
    two.of_q.step();
    EXPECT_EQ(number(two.p), 1);
    EXPECT_FLOAT_EQ(number(two.q), 0.7F);
    EXPECT_TRUE(two.of_p.step_was_skipped());
    EXPECT_FALSE(two.of_q.step_was_skipped());
}

TEST_P(Windows, two_models_and_one_optimizer) {
    Accelerator accelerator(in(GetParam()));
    auto first = small_model(1), second = small_model(2);
    const torch::Tensor a = first->weight, b = second->weight;
    auto raw = sgd({a, b}, {.learning_rate = 0.1});
    auto [of_first, optimizer, of_second] = accelerator.prepare(std::move(first), std::move(raw), std::move(second));
    accelerator.backward((of_first(torch::full({1}, 3.0)) + of_second(torch::full({1}, 4.0))).sum());
    EXPECT_FLOAT_EQ(static_cast<float>(*accelerator.clip_grad_norm({a, b}, 1)), 5);
    optimizer.step();
    EXPECT_FLOAT_EQ(number(a), 0.94F);
    EXPECT_FLOAT_EQ(number(b), 1.92F);
}

TEST_P(Windows, several_optimizers_in_a_short_window) {
    Accelerator accelerator(in(GetParam(), 4));
    Two two(accelerator);
    for (const bool is_last : {false, true}) {
        accelerator.set_end_of_data(is_last);
        accelerator.accumulate();
        accelerator.backward((two.p * 2).sum());
        two.of_p.step();
        accelerator.backward((two.q * 2).sum());
        two.of_q.step();
    }
    EXPECT_FLOAT_EQ(number(two.p), 0.8F);
    EXPECT_FLOAT_EQ(number(two.q), 0.8F);  // the second optimizer's window is as short as the first one's
}

// --- memory

TEST(FreeMemory, lets_go_and_begins_anew) {
    Accelerator accelerator(in(Precision::No, 2));
    std::weak_ptr<SmallModel> alive;
    {
        auto raw = small_model();
        alive = raw;
        auto raw_optimizer = sgd(raw->parameters());
        auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(raw_optimizer));
        accelerator.accumulate();
        accelerator.clear(model, optimizer);
    }
    EXPECT_TRUE(alive.expired());
    accelerator.accumulate();
    EXPECT_FALSE(accelerator.sync_gradients());  // first of two again
    accelerator.accumulate();
    EXPECT_TRUE(accelerator.sync_gradients());
}

TEST(ExecutableBatchSize, shrinks_by_a_tenth_until_it_fits) {
    std::vector<std::int64_t> tried;
    const auto found = find_executable_batch_size([&](std::int64_t size) {
        tried.push_back(size);
        if (size > 100) throw std::bad_alloc();
        if (size > 90) TORCH_CHECK_WITH(OutOfMemoryError, false, "device out of memory");
        return size * 2;
    });
    EXPECT_THAT(tried, ElementsAre(128, 115, 103, 92, 82));
    EXPECT_EQ(found, 164);
}

TEST(ExecutableBatchSize, ends_at_zero_and_lets_other_errors_pass) {
    std::vector<std::int64_t> tried;
    EXPECT_THAT(message_of([&] {
                    find_executable_batch_size([&](std::int64_t size) { tried.push_back(size); throw std::bad_alloc(); },
                                               {.starting_batch_size = 3});
                }),
                HasSubstr("tried from 3 down to 0"));
    EXPECT_THAT(tried, ElementsAre(3, 2, 1));
    EXPECT_THROW(find_executable_batch_size([](std::int64_t) { throw std::runtime_error("another"); }), std::runtime_error);
    EXPECT_THROW(find_executable_batch_size([](std::int64_t) { static_cast<void>(torch::empty({1 << 30, 1 << 16})); }), EngineError);
    EXPECT_THAT(message_of([] {
                    find_executable_batch_size([](std::int64_t) { throw std::bad_alloc(); }, {.starting_batch_size = 4, .reduce = [](std::int64_t size) { return size; }});
                }),
                HasSubstr("reduce() gives 4 next"));
}

}  // namespace
}  // namespace mantissa
