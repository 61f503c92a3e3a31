#include "engine/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gradients.h"
#include "small_model.h"

namespace mantissa {
namespace {

torch::Tensor weight_with_gradient(std::vector<float> values, std::vector<float> gradients) {
    auto weight = torch::tensor(values).requires_grad_();
    weight.mutable_grad() = torch::tensor(gradients);
    return weight;
}

void update(const Optimizer& optimizer, int times = 1) {
    const torch::NoGradGuard no_grad;
    for (int i = 0; i < times; ++i) optimizer.core()->update();
}

// optax#1754 and others: with fp32 masters a zero gradient leaves the weight, and eps is not lost.
TEST(Optimizer, adam_on_fp32_masters) {
    auto still = weight_with_gradient({1, -2}, {0, 0});
    update(adam({still}, {.learning_rate = 1e-3}));
    EXPECT_EQ(value(still[0]), 1);
    EXPECT_EQ(value(still[1]), -2);
    auto moved = weight_with_gradient({1}, {1e-4F});
    update(adam({moved}, {.learning_rate = 1e-3}));
    EXPECT_NEAR(value(moved), 0.999000, 1e-6);
}

TEST(Optimizer, fused_kernels_do_the_same_arithmetic) {
    const auto trained = [](OptimizerImplementation implementation, int kind) {
        torch::manual_seed(3);
        auto weight = torch::randn({64}).requires_grad_();
        auto other = torch::randn({5}).requires_grad_();
        const std::vector<torch::Tensor> both{weight, other};
        const AdamOptions options{.learning_rate = 0.01, .weight_decay = 0.1, .amsgrad = true, .implementation = implementation};
        const auto optimizer = kind == 0   ? adamw(both, options)
                               : kind == 1 ? adam(both, options)
                                           : sgd(both, {.learning_rate = 0.01, .momentum = 0.9, .weight_decay = 0.1,
                                                        .nesterov = true, .implementation = implementation});
        for (int i = 0; i < 20; ++i) {
            weight.mutable_grad() = torch::randn({64});
            // The second weight begins to take part later, when the first one has a history.
            if (i >= 5) other.mutable_grad() = torch::randn({5});
            update(optimizer);
        }
        return torch::cat({weight, other}).detach();
    };
    for (int kind = 0; kind < 3; ++kind) {
        const auto exact = trained(OptimizerImplementation::Exact, kind);
        const auto fused = trained(OptimizerImplementation::Fused, kind);
        EXPECT_LT(value((exact - fused).abs().max()), 2e-6) << "kind " << kind;
    }
}

TEST(Optimizer, bad_options_are_named) {
    const auto message = [](auto make) -> std::string {
        try {
            static_cast<void>(make());
        } catch (const EngineError& error) {
            return error.error().message;
        }
        return "accepted";
    };
    const auto weight = weight_with_gradient({1}, {1});
    EXPECT_EQ(message([&] { return adamw({weight}, {.beta2 = 1}); }), "adamw: beta2 is 1");
    EXPECT_EQ(message([&] { return adam({weight}, {.eps = -1}); }), "adam: eps is -1");
    EXPECT_EQ(message([&] { return sgd({weight}, {.learning_rate = -0.5}); }), "sgd: learning_rate is -0.5");
    EXPECT_EQ(message([&] { return sgd({weight}, {.nesterov = true}); }), "sgd: momentum with nesterov is 0");
    EXPECT_EQ(message([&] { return sgd({}, {}); }), "an optimizer got no parameters");
    OptimizerPlan lamb;
    lamb.name = "lamb";
    EXPECT_EQ(message([&] { return make_optimizer(lamb, {weight}); }), "training.optimizer.name is 'lamb'");
    const auto optimizer = sgd({weight});
    EXPECT_EQ(message([&] { return step_lr(optimizer, 0); }), "step: step_size is 0");
    EXPECT_EQ(message([&] { return one_cycle_lr(optimizer, {.total_steps = 0}); }), "one_cycle: total_steps is 0");
    EXPECT_EQ(message([&] { return make_scheduler({.name = "lambda"}, optimizer, 1); }), "training.scheduler.name is 'lambda'");
}

TEST(Optimizer, a_moved_from_handle_refuses_and_schedulers_keep_their_bond) {
    const auto weight = weight_with_gradient({1}, {1});
    Optimizer first = sgd({weight}, {.learning_rate = 1});
    const Scheduler scheduler = step_lr(first, 1, 0.5);
    const Optimizer second = std::move(first);
    scheduler.core()->step();
    EXPECT_EQ(second.learning_rate(), 0.5);
    EXPECT_THROW(static_cast<void>(first.core()), EngineError);  // NOLINT(bugprone-use-after-move): that is the test
}

// Values of torch.optim.lr_scheduler 2.11 (recursive formulas), to the last bit; tests/golden holds whole runs.
TEST(Scheduler, the_recursive_formulas_of_python) {
    const auto rates = [](auto make) {
        const auto optimizer = sgd({weight_with_gradient({1}, {1})}, {.learning_rate = 0.1, .momentum = 0.9});
        const Scheduler scheduler = make(optimizer);
        std::vector<double> seen{optimizer.learning_rate()};
        for (int i = 0; i < 4; ++i) {
            scheduler.core()->step();
            seen.push_back(optimizer.learning_rate());
        }
        return seen;
    };
    using ::testing::ElementsAre;
    EXPECT_THAT(rates([](const Optimizer& o) { return linear_lr(o); }),
                ElementsAre(0.03333333333333333, 0.04666666666666667, 0.060000000000000005, 0.07333333333333335, 0.08666666666666668));
    EXPECT_THAT(rates([](const Optimizer& o) { return cosine_lr(o, 3); }),
                ElementsAre(0.1, 0.07500000000000001, 0.025000000000000015, 0.0, 0.024999999999999994));
    EXPECT_THAT(rates([](const Optimizer& o) { return one_cycle_lr(o, {.max_lr = 0.3, .total_steps = 5}); }),
                ElementsAre(0.01200000000000001, 0.2851453896040421, 0.18337860658088678, 0.05647750381507109, 1.2e-06));
    EXPECT_THAT(rates([](const Optimizer& o) { return step_lr(o, 2, 0.3); }),
                ElementsAre(0.1, 0.1, 0.03, 0.03, 0.009));
}

TEST(Gradients, norm_and_count_see_what_is_not_finite) {
    torch::manual_seed(1);
    const std::vector<torch::Tensor> good{torch::randn({13, 7}), torch::randn({3})};
    const double expected = value(at::cat({good[0].flatten(), good[1]}).to(at::kDouble).square().sum());
    EXPECT_NEAR(sum_of_squares(good), expected, 1e-12 * expected);
    EXPECT_EQ(count_nonfinite(good), 0);
    const auto huge = torch::full({9}, 3e38F);  // its fp32 norm would be Inf: the gradient itself is not
    EXPECT_TRUE(std::isfinite(sum_of_squares({huge})));
    for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        for (const int place : {0, 8, 90}) {
            auto gradient = torch::ones({91});
            gradient[place] = bad;
            EXPECT_FALSE(std::isfinite(sum_of_squares({gradient})));
            EXPECT_EQ(count_nonfinite({gradient}), 1);
        }
    }
    EXPECT_NEAR(sum_of_squares({good[0].t()}), sum_of_squares({good[0]}), 1e-9);  // strided
}

TEST(Gradients, clip_by_norm_and_by_value) {
    const std::vector<torch::Tensor> gradients{torch::tensor({3.0F}), torch::tensor({4.0F})};
    EXPECT_EQ(clip_norm(gradients, 1), 5);
    EXPECT_NEAR(value(gradients[0]), 0.6, 1e-6);
    EXPECT_NEAR(value(gradients[1]), 0.8, 1e-6);
    EXPECT_NEAR(clip_norm(gradients, 100), 1, 1e-6);
    EXPECT_NEAR(value(gradients[1]), 0.8, 1e-6);
    clip_value(gradients, 0.7);
    EXPECT_NEAR(value(gradients[0]), 0.6, 1e-6);
    EXPECT_FLOAT_EQ(static_cast<float>(value(gradients[1])), 0.7F);
}

}  // namespace
}  // namespace mantissa
