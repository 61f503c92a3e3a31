// Weights in half and optimizers: rows 1, 6, 20, 21.
#include "engine/classic_optimizers.h"
#include "fault_testing.h"

namespace mantissa {
namespace {

torch::nn::Linear half_linear(at::ScalarType type) {
    torch::nn::Linear linear(1, 1);
    linear->to(type);
    return linear;
}

TEST(Faults, row_1_half_weights_are_refused_with_their_name) {
    Accelerator accelerator(fp16(1024));
    torch::nn::Linear half = half_linear(torch::kHalf);
    EXPECT_THAT(message_of([&] { accelerator.prepare(std::move(half)); }), HasSubstr("trainable weight weight is Half"));
    EXPECT_THAT(message_of([&] { accelerator.prepare(sgd({torch::ones({1}, at::kBFloat16).requires_grad_()})); }),
                HasSubstr("is BFloat16"));
}

TEST(Faults, row_1_frozen_half_weights_are_allowed) {
    Accelerator accelerator(fp16(1024));
    torch::nn::Linear frozen = half_linear(torch::kHalf);
    for (auto& parameter : frozen->parameters()) parameter.requires_grad_(false);
    EXPECT_EQ(message_of([&] { accelerator.prepare(std::move(frozen)); }), "accepted");
}

// Cast after prepare, so that only clip and step can see it: each names the weight, and nothing moves.
void expect_refusal_after_a_late_cast(const AcceleratorOptions& options, at::ScalarType type, bool clips) {
    Accelerator accelerator(options);
    torch::nn::Linear linear(1, 1);
    auto raw_optimizer = sgd(linear->parameters(), {.learning_rate = 0.1});
    auto [model, optimizer] = accelerator.prepare(std::move(linear), std::move(raw_optimizer));
    model.unwrap()->to(type);
    const double before = value(model.unwrap()->weight);
    accelerator.backward(model.unwrap()->forward(torch::ones({1, 1}, type)).sum());
    const auto refused = [&, &prepared = optimizer, &of = model] {
        if (clips) accelerator.clip_grad_norm(of.parameters(), 1);
        prepared.step();
    };
    EXPECT_THAT(message_of(refused), HasSubstr(std::string("trainable weight weight is ") + c10::toString(type)));
    EXPECT_EQ(value(model.unwrap()->weight), before);
}

TEST(Faults, row_1_clip_refuses_weights_that_became_half) {
    expect_refusal_after_a_late_cast(fp16(1024), torch::kHalf, true);
}
TEST(Faults, row_1_step_refuses_weights_that_became_half) {
    expect_refusal_after_a_late_cast(fp16(1024), torch::kHalf, false);
}
TEST(Faults, row_1_in_bf16_too) { expect_refusal_after_a_late_cast(in_mode(Precision::Bf16), torch::kBFloat16, false); }

struct FusedStep {
    bool skipped;
    double weight, rate, scale;
};

FusedStep fused_step(OptimizerImplementation implementation, bool is_sgd, Compat compat) {
    auto options = fp16(8);
    options.compat = compat;
    Accelerator accelerator(options);
    const auto weight = weight_of(1);
    auto raw = is_sgd ? sgd({weight}, {.learning_rate = 0.1, .momentum = 0.9, .implementation = implementation})
                      : adamw({weight}, {.learning_rate = 0.1, .implementation = implementation});
    auto raw_scheduler = harmonic(raw);
    auto [optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_scheduler));
    accelerator.backward(finite_loss_with_gradient(weight, infinity));
    optimizer.step();
    scheduler.step();
    return {accelerator.optimizer_step_was_skipped(), value(weight), optimizer.learning_rate(),
            accelerator.loss_scale_state()->scale};
}

TEST(Faults, row_6_a_fused_optimizer_reports_its_skip) {
    for (const bool is_sgd : {false, true}) {
        const FusedStep step = fused_step(OptimizerImplementation::Fused, is_sgd, Compat::None);
        EXPECT_TRUE(step.skipped);
        EXPECT_EQ(step.weight, 1);
        EXPECT_EQ(step.rate, 0.1);
        EXPECT_EQ(step.scale, 4);
    }
}

TEST(Faults, row_6_upstream_skips_inside_and_the_rate_moves) {
    const FusedStep step = fused_step(OptimizerImplementation::Fused, false, Compat::Accelerate);
    EXPECT_FALSE(step.skipped);
    EXPECT_EQ(step.weight, 1);
    EXPECT_EQ(step.rate, 0.05);
    EXPECT_EQ(step.scale, 4);
}

// A raw optimizer on half weights, as the reports had it; prepare() would refuse.
std::vector<double> half_adam(double gradient, double eps) {
    auto p = torch::tensor({1.0F, -2.0F}).to(torch::kHalf).requires_grad_();
    const Optimizer optimizer = adam({p}, {.learning_rate = 1e-3, .eps = eps});
    p.mutable_grad() = torch::full({2}, gradient, torch::kHalf);
    const torch::NoGradGuard no_grad;
    optimizer.core()->update();
    return {value(p[0]), value(p[1])};
}

TEST(Faults, row_20_adams_eps_becomes_zero_in_half) {
    EXPECT_TRUE(std::isnan(half_adam(0, 1e-8)[0]));                     // 0 / (0 + 0)
    EXPECT_EQ(half_adam(1e-4, 1e-8)[0], -infinity);                     // the square of 1e-4 is 0 too
    EXPECT_EQ(half_adam(0, 1e-7), (std::vector<double>{1, -2}));        // eps 1.19e-7 is kept
    EXPECT_NEAR(half_adam(1e-4, 1e-4)[0], 0.99902, 1e-5);
}

TEST(Faults, row_20_such_weights_are_refused_before_the_first_step) {
    Accelerator accelerator(fp16(1024));
    const auto p = torch::ones({2}, torch::kHalf).requires_grad_();
    EXPECT_THAT(message_of([&] { accelerator.prepare(adam({p})); }), HasSubstr("Adam's eps becomes 0"));
    EXPECT_THAT(message_of([&] { accelerator.prepare(adamw({p})); }), HasSubstr("Adam's eps becomes 0"));
}

TEST(Faults, row_20_adam_on_fp32_weights_is_right_for_zero_and_tiny_gradients) {
    for (const double gradient : {0.0, 1e-4}) {
        for (const auto implementation : {OptimizerImplementation::Exact, OptimizerImplementation::Fused}) {
            Accelerator accelerator(fp16(65536));
            const auto p = torch::tensor({1.0F, -2.0F}).requires_grad_();
            auto optimizer = accelerator.prepare(adam({p}, {.learning_rate = 1e-3, .implementation = implementation}));
            accelerator.backward((p * gradient).sum());
            optimizer.step();
            EXPECT_FALSE(optimizer.step_was_skipped());
            EXPECT_NEAR(value(p[0]), gradient == 0 ? 1 : 0.999000, 1e-6);
            EXPECT_NEAR(value(p[1]), gradient == 0 ? -2 : -2.001000, 1e-6);
        }
    }
}

// The other optimizers that divide by a root: fp32 weights, a zero gradient. In half each of them would give NaN.
TEST(Faults, row_20_every_other_optimizer_stands_a_zero_gradient) {
    using Make = Optimizer (*)(std::vector<torch::Tensor>, const ClassicOptions&);
    const Make makers[] = {rmsprop, adagrad, adadelta, adamax, nadam, radam};
    for (const Make make : makers) {
        Accelerator accelerator(fp16(65536));
        const auto p = torch::tensor({1.0F, -2.0F}).requires_grad_();
        auto optimizer = accelerator.prepare(make({p}, {}));
        for (int i = 0; i < 8; ++i) {
            accelerator.backward((p * 0.0).sum());
            optimizer.step();
            optimizer.zero_grad();
        }
        EXPECT_EQ(value(p[0]), 1) << optimizer.core().name();
        EXPECT_EQ(value(p[1]), -2) << optimizer.core().name();
        const auto half = torch::ones({2}, torch::kHalf).requires_grad_();
        EXPECT_THAT(message_of([&] { accelerator.prepare(make({half}, {})); }), HasSubstr("is Half"));
    }
}

double after_hundred_small_steps(at::ScalarType type) {
    auto weight = torch::ones({1}, type).requires_grad_();
    const Optimizer optimizer = sgd({weight}, {.learning_rate = 1e-3});
    const torch::NoGradGuard no_grad;
    for (int i = 0; i < 100; ++i) {
        weight.mutable_grad() = torch::ones({1}, type);
        optimizer.core()->update();
    }
    return value(weight);
}

TEST(Faults, row_21_an_update_below_half_a_step_is_rounded_off) {
    EXPECT_EQ(after_hundred_small_steps(torch::kBFloat16), 1);
    EXPECT_NEAR(after_hundred_small_steps(torch::kFloat), 0.9, 1e-5);
}

// Stronger than the warning that was asked for: such weights are refused, by prepare(model) and by prepare(optimizer).
TEST(Faults, row_21_trainable_bf16_weights_are_refused_and_fp32_ones_move) {
    Accelerator accelerator(in_mode(Precision::Bf16));
    torch::nn::Linear half = half_linear(torch::kBFloat16);
    EXPECT_THAT(message_of([&] { accelerator.prepare(std::move(half)); }),
                HasSubstr("trainable weight weight is BFloat16: small updates round away"));
    Trained trained(accelerator, {.learning_rate = 1e-3});
    for (int i = 0; i < 100; ++i) trained.step(1);
    EXPECT_NEAR(value(trained.weight), 0.9, 1e-5);
}

}  // namespace
}  // namespace mantissa
