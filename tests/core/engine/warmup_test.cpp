// Warm-ups, sequences and plateaus. The figures are those of torch.optim.lr_scheduler 2.11 in Python (LambdaLR with the factors of
// transformers' get_…_schedule_with_warmup, SequentialLR, ReduceLROnPlateau) for an SGD with two groups, lr 0.1 and 0.02.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "engine/scheduler.h"
#include "small_model.h"

namespace mantissa {
namespace {

using Rates = std::vector<std::pair<double, double>>;

const std::map<std::string, Rates> python = {
        {"constant_warmup_3", {{0x0.0p+0, 0x0.0p+0}, {0x1.1111111111111p-5, 0x1.b4e81b4e81b4ep-8}, {0x1.1111111111111p-4,
         0x1.b4e81b4e81b4ep-7}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6},
         {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-4,
         0x1.47ae147ae147bp-6}}},
        {"linear_warmup_3_of_11", {{0x0.0p+0, 0x0.0p+0}, {0x1.1111111111111p-5, 0x1.b4e81b4e81b4ep-8}, {0x1.1111111111111p-4,
         0x1.b4e81b4e81b4ep-7}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.6666666666667p-4, 0x1.1eb851eb851ecp-6},
         {0x1.3333333333334p-4, 0x1.eb851eb851eb8p-7}, {0x1.0000000000000p-4, 0x1.999999999999ap-7}, {0x1.999999999999ap-5,
         0x1.47ae147ae147bp-7}, {0x1.3333333333334p-5, 0x1.eb851eb851eb8p-8}, {0x1.999999999999ap-6, 0x1.47ae147ae147bp-8},
         {0x1.999999999999ap-7, 0x1.47ae147ae147bp-9}, {0x0.0p+0, 0x0.0p+0}, {0x0.0p+0, 0x0.0p+0}, {0x0.0p+0, 0x0.0p+0}}},
        {"cosine_warmup_3_of_11", {{0x0.0p+0, 0x0.0p+0}, {0x1.1111111111111p-5, 0x1.b4e81b4e81b4ep-8}, {0x1.1111111111111p-4,
         0x1.b4e81b4e81b4ep-7}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.8a02b1fadd21cp-4, 0x1.3b355b2f174e3p-6},
         {0x1.5d9d8f5cc7e52p-4, 0x1.17b13f7d6cb75p-6}, {0x1.1b2c6ee22eeaep-4, 0x1.c513e49d17de3p-7}, {0x1.999999999999ap-5,
         0x1.47ae147ae147bp-7}, {0x1.f9b4aaddaabb2p-6, 0x1.949088b155628p-8}, {0x1.dfe051e68da40p-7, 0x1.7fe6a7eba4833p-9},
         {0x1.f2dcf3d78efb4p-9, 0x1.8f1729793f2f6p-11}, {0x0.0p+0, 0x0.0p+0}, {0x1.f2dcf3d78efa7p-9, 0x1.8f1729793f2ecp-11},
         {0x1.dfe051e68da3ap-7, 0x1.7fe6a7eba482ep-9}}},
        {"cosine_warmup_2_of_9_x1.5", {{0x0.0p+0, 0x0.0p+0}, {0x1.999999999999ap-5, 0x1.47ae147ae147bp-7},
         {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.f4be9c700744dp-5, 0x1.90987d266c371p-7}, {0x1.448155aea7d34p-8,
         0x1.039aaaf21fdc3p-10}, {0x1.346fe9586837cp-6, 0x1.ed7fdbc0a6bf9p-9}, {0x1.4c7d9f437f8bap-4, 0x1.09fe1902cc6fbp-6},
         {0x1.8551843eaf1c8p-4, 0x1.377469cbbf49fp-6}, {0x1.3e7496c32bee8p-5, 0x1.fd87579eacb0dp-8}, {0x0.0p+0, 0x0.0p+0},
         {0x1.3e7496c32bee4p-5, 0x1.fd87579eacb05p-8}}},
        {"lambda_per_group", {{0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.851eb851eb852p-4, 0x1.47ae147ae147bp-7},
         {0x1.71a9fbe76c8b4p-4, 0x1.b4e81b4e81b4ep-8}, {0x1.5f2e48e8a71dep-4, 0x1.47ae147ae147bp-8}, {0x1.4d9f2ba9d1f60p-4,
         0x1.0624dd2f1a9fcp-8}, {0x1.3cf0cfe154434p-4, 0x1.b4e81b4e81b4ep-9}, {0x1.2d17f8afa9a64p-4, 0x1.767dce434a9b1p-9}}},
        {"seq_linear_cosine", {{0x1.47ae147ae147cp-7, 0x1.0624dd2f1a9fcp-9}, {0x1.0a3d70a3d70a5p-5, 0x1.a9fbe76c8b43ap-8},
         {0x1.c28f5c28f5c2bp-5, 0x1.6872b020c49bbp-7}, {0x1.3d70a3d70a3d9p-4, 0x1.fbe76c8b43959p-7}, {0x1.999999999999ap-4,
         0x1.47ae147ae147bp-6}, {0x1.7e6fb6c6480abp-4, 0x1.32d3be4542fe2p-6}, {0x1.34395810624dep-4, 0x1.f3b645a1cac08p-7},
         {0x1.9db22d0e56042p-5, 0x1.5810624dd2f1ap-7}, {0x1.a5e353f7ced95p-6, 0x1.78d4fdf3b645bp-8}, {0x1.f4276480df977p-8,
         0x1.29e520447f9c4p-9}, {0x1.0624dd2f1a9fcp-10, 0x1.0624dd2f1a9fcp-10}, {0x1.f4276480df977p-8, 0x1.29e520447f9c4p-9},
         {0x1.a5e353f7ced92p-6, 0x1.78d4fdf3b6459p-8}}},
        {"seq_const_exp_step", {{0x1.999999999999ap-5, 0x1.47ae147ae147bp-7}, {0x1.999999999999ap-5, 0x1.47ae147ae147bp-7},
         {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.70a3d70a3d70bp-4,
         0x1.26e978d4fdf3cp-6}, {0x1.4bc6a7ef9db24p-4, 0x1.096bb98c7e283p-6}, {0x1.2a9930be0ded4p-4, 0x1.ddc1e7967caecp-7},
         {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.eb851eb851eb8p-6,
         0x1.89374bc6a7efap-8}, {0x1.eb851eb851eb8p-6, 0x1.89374bc6a7efap-8}, {0x1.26e978d4fdf3bp-7, 0x1.d7dbf487fcb92p-10},
         {0x1.26e978d4fdf3bp-7, 0x1.d7dbf487fcb92p-10}}},
        {"seq_poly_multistep_restarts", {{0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.0624dd2f1a9fdp-4,
         0x1.a36e2eb1c432ep-7}, {0x1.26e978d4fdf3cp-5, 0x1.d7dbf487fcb92p-8}, {0x1.0624dd2f1a9fdp-6, 0x1.a36e2eb1c432ep-9},
         {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-5,
         0x1.47ae147ae147bp-7}, {0x1.999999999999ap-6, 0x1.47ae147ae147bp-8}, {0x1.999999999999ap-6, 0x1.47ae147ae147bp-8},
         {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.3333333333334p-4, 0x1.eb851eb851eb8p-7}, {0x1.999999999999dp-6,
         0x1.47ae147ae147ep-8}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.7e297902351dfp-4, 0x1.31bac734f74b2p-6},
         {0x1.3333333333334p-4, 0x1.eb851eb851eb8p-7}, {0x1.999999999999ap-5, 0x1.47ae147ae147bp-7}, {0x1.999999999999dp-6,
         0x1.47ae147ae147ep-8}, {0x1.b702097647bbap-8, 0x1.5f34d45e9fc95p-10}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}}},
        {"seq_warmup_onecycle", {{0x1.89374bc6a7efap-9, 0x1.89374bc6a7efap-9}, {0x1.89374bc6a7efap-8, 0x1.89374bc6a7efap-8},
         {0x1.26e978d4fdf3cp-7, 0x1.26e978d4fdf3cp-7}, {0x1.89374bc6a7f00p-7, 0x1.89374bc6a7f00p-7}, {0x1.f75cd4f4a7480p-3,
         0x1.f75cd4f4a7480p-3}, {0x1.2a949c90fea00p-2, 0x1.2a949c90fea00p-2}, {0x1.f2bc8d37528dep-3, 0x1.f2bc8d37528dep-3},
         {0x1.5598b95a9d2acp-3, 0x1.5598b95a9d2acp-3}, {0x1.5bd34a7061a99p-4, 0x1.5bd34a7061a99p-4}, {0x1.78b5716d675dap-6,
         0x1.78b5716d675dap-6}}},
        {"plateau_rel_min", {{0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6},
         {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-5,
         0x1.47ae147ae147bp-7}, {0x1.999999999999ap-5, 0x1.47ae147ae147bp-7}, {0x1.999999999999ap-5, 0x1.47ae147ae147bp-7},
         {0x1.999999999999ap-6, 0x1.47ae147ae147bp-8}, {0x1.999999999999ap-6, 0x1.47ae147ae147bp-8}, {0x1.999999999999ap-6,
         0x1.47ae147ae147bp-8}, {0x1.999999999999ap-6, 0x1.47ae147ae147bp-8}, {0x1.999999999999ap-7, 0x1.47ae147ae147bp-9},
         {0x1.999999999999ap-7, 0x1.47ae147ae147bp-9}}},
        {"plateau_abs_max", {{0x1.999999999999ap-4, 0x1.47ae147ae147bp-6}, {0x1.999999999999ap-4, 0x1.47ae147ae147bp-6},
         {0x1.47ae147ae147cp-7, 0x1.47ae147ae147bp-8}, {0x1.47ae147ae147cp-7, 0x1.47ae147ae147bp-8}, {0x1.47ae147ae147bp-8,
         0x1.47ae147ae147bp-8}, {0x1.47ae147ae147bp-8, 0x1.47ae147ae147bp-8}, {0x1.47ae147ae147bp-8, 0x1.47ae147ae147bp-8}}},
};

Optimizer two_rates() {
    return sgd({SgdGroup{{torch::ones(1)}, {.learning_rate = 0.1}}, SgdGroup{{torch::ones(1)}, {.learning_rate = 0.02}}});
}

// Rates at the start and after each step, for as many steps as Python's row has.
void expect_python(const std::string& name, const std::function<Scheduler(const Optimizer&)>& make,
                   const std::vector<double>& metrics = {}) {
    const Optimizer optimizer = two_rates();
    const Scheduler scheduler = make(optimizer);
    const Rates& expected = python.at(name);
    const auto& groups = optimizer.core()->groups();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(groups[0].learning_rate, expected[i].first) << name << ", group 0 after " << i << " steps";
        EXPECT_EQ(groups[1].learning_rate, expected[i].second) << name << ", group 1 after " << i << " steps";
        if (metrics.empty()) {
            scheduler.core()->step();
        } else if (i < metrics.size()) {
            scheduler.core()->step_on(metrics[i]);
        }
    }
}

template <typename... S>
std::vector<Scheduler> in_order(S&&... schedulers) {
    std::vector<Scheduler> list;
    (list.push_back(std::forward<S>(schedulers)), ...);
    return list;
}

std::string refusal(const std::function<void()>& use) {
    try {
        use();
    } catch (const EngineError& error) {
        return error.error().message;
    }
    return "accepted";
}

TEST(Warmup, lambda_schedules_have_pythons_bits) {
    expect_python("constant_warmup_3", [](const Optimizer& o) { return constant_with_warmup(o, 3); });
    expect_python("linear_warmup_3_of_11", [](const Optimizer& o) { return linear_with_warmup(o, 3, 11); });
    expect_python("cosine_warmup_3_of_11", [](const Optimizer& o) { return cosine_with_warmup(o, 3, 11); });
    expect_python("cosine_warmup_2_of_9_x1.5", [](const Optimizer& o) { return cosine_with_warmup(o, 2, 9, 1.5); });
    expect_python("lambda_per_group", [](const Optimizer& o) {
        return lambda_lr(o, std::vector<RateFactor>{[](std::int64_t e) { return std::pow(0.95, e); },
                                                    [](std::int64_t e) { return 1.0 / (1.0 + static_cast<double>(e)); }});
    });
}

TEST(Warmup, sequences_have_pythons_bits) {
    expect_python("seq_linear_cosine", [](const Optimizer& o) {
        Scheduler first = linear_lr(o, 0.1, 1.0, 4);
        return sequential_lr(o, in_order(std::move(first), cosine_lr(o, 6, 1e-3)), {4});
    });
    expect_python("seq_const_exp_step", [](const Optimizer& o) {
        return sequential_lr(o, in_order(constant_lr(o, 0.5, 2), exponential_lr(o, 0.9), step_lr(o, 2, 0.3)), {3, 7});
    });
    expect_python("seq_poly_multistep_restarts", [](const Optimizer& o) {
        return sequential_lr(
            o, in_order(polynomial_lr(o, 5, 2.0), multi_step_lr(o, {2, 3}, 0.5), cosine_restarts_lr(o, 3, 2)), {4, 9});
    });
    expect_python("seq_warmup_onecycle", [](const Optimizer& o) {
        Scheduler first = linear_lr(o, 0.25, 1.0, 3);
        return sequential_lr(
            o, in_order(std::move(first), one_cycle_lr(o, {.max_lr = 0.3, .total_steps = 8, .cycle_momentum = false})), {3});
    });
}

TEST(Warmup, plateau_has_pythons_bits) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    expect_python(
        "plateau_rel_min",
        [](const Optimizer& o) {
            return reduce_on_plateau(o, {.factor = 0.5, .patience = 1, .threshold = 0.01, .cooldown = 1});
        },
        {1, .9, .899, .898, .897, .896, .895, nan, .5, .5, .5, .5});
    expect_python(
        "plateau_abs_max",
        [](const Optimizer& o) {
            return reduce_on_plateau(o, {.lower_is_better = false, .patience = 0, .threshold = 0.05,
                                         .relative_threshold = false, .min_lr = 0.005});
        },
        {.1, .12, .2, .2, .2, .2});
}

// A state taken in the middle goes on as if it had never stopped, in a scheduler made anew.
TEST(Warmup, states_go_on_to_the_bit) {
    using Make = std::function<Scheduler(const Optimizer&)>;
    const std::vector<Make> makers = {
        [](const Optimizer& o) { return cosine_with_warmup(o, 3, 11); },
        [](const Optimizer& o) {
            return sequential_lr(o, in_order(constant_lr(o, 0.5, 2), exponential_lr(o, 0.9), step_lr(o, 2, 0.3)), {3, 7});
        },
        [](const Optimizer& o) { return reduce_on_plateau(o, {.factor = 0.5, .patience = 1, .cooldown = 1}); }};
    const double metrics[] = {1, .9, .95, .96, .97, .98, .99, 1, 1.1, 1.2};
    for (std::size_t kind = 0; kind < makers.size(); ++kind) {
        const auto step = [&](const Scheduler& scheduler, int i) {
            kind == 2 ? scheduler.core()->step_on(metrics[i]) : scheduler.core()->step();
        };
        for (int cut = 0; cut <= 10; ++cut) {
            const Optimizer optimizer = two_rates(), again = two_rates();
            const Scheduler scheduler = makers[kind](optimizer), resumed = makers[kind](again);
            for (int i = 0; i < cut; ++i) step(scheduler, i);
            again.core()->load_state(optimizer.core()->state());
            resumed.core()->load_state(scheduler.core()->state());
            for (int i = cut; i < 10; ++i) {
                step(scheduler, i);
                step(resumed, i);
                EXPECT_EQ(optimizer.learning_rate(), again.learning_rate()) << kind << ", cut at " << cut << ", step " << i;
                EXPECT_EQ(optimizer.core()->groups()[1].learning_rate, again.core()->groups()[1].learning_rate);
            }
        }
    }
    const Optimizer o = two_rates();
    const Scheduler two = sequential_lr(o, in_order(step_lr(o, 1), step_lr(o, 2)), {2});
    const Scheduler other = sequential_lr(o, in_order(step_lr(o, 1), cosine_lr(o, 2)), {2});
    EXPECT_EQ(refusal([&] { other.core()->load_state(two.core()->state()); }),
              "the saved state doesn't fit the scheduler cosine: it is that of step");
}

TEST(Warmup, bad_arguments_are_named) {
    const Optimizer o = two_rates();
    EXPECT_EQ(refusal([&] { static_cast<void>(linear_with_warmup(o, 12, 11)); }), "linear_with_warmup: warmup_steps is 12");
    EXPECT_EQ(refusal([&] { static_cast<void>(constant_with_warmup(o, -1)); }), "constant_with_warmup: warmup_steps is -1");
    EXPECT_EQ(refusal([&] { static_cast<void>(cosine_with_warmup(o, 1, 2, 0)); }), "cosine_with_warmup: num_cycles is 0");
    EXPECT_EQ(refusal([&] { static_cast<void>(lambda_lr(o, std::vector<RateFactor>{[](std::int64_t) { return 1.0; }})); }),
              "lambda_lr got 1 factors for an optimizer of 2 parameter groups");
    EXPECT_EQ(refusal([&] { static_cast<void>(sequential_lr(o, in_order(step_lr(o, 1)), {3})); }),
              "sequential_lr got 1 schedules and 1 milestones");
    EXPECT_EQ(refusal([&] { static_cast<void>(sequential_lr(o, in_order(step_lr(o, 1), step_lr(o, 1)), {0})); }),
              "the milestones of sequential_lr don't rise from 1 up");
    const Optimizer other = two_rates();
    EXPECT_EQ(refusal([&] { static_cast<void>(sequential_lr(o, in_order(step_lr(o, 1), step_lr(other, 1)), {2})); }),
              "schedule 1 of sequential_lr belongs to another optimizer");
    EXPECT_EQ(refusal([&] { static_cast<void>(sequential_lr(o, in_order(step_lr(o, 1), reduce_on_plateau(o)), {2})); }),
              "schedule 1 of sequential_lr is itself a sequence, or waits for a metric");
    EXPECT_EQ(refusal([&] { reduce_on_plateau(o).core()->step(); }), "reduce_on_plateau was stepped without a metric");
    EXPECT_EQ(refusal([&] { step_lr(o, 1).core()->step_on(1); }), "this schedule looks at no metric");
}

TEST(Warmup, a_plan_makes_it) {
    SchedulerPlan plan;
    plan.name = "linear_with_warmup";
    plan.warmup_steps = 3;
    const auto expected = python.at("linear_warmup_3_of_11");
    const Optimizer optimizer = two_rates();
    const Scheduler scheduler = make_scheduler(plan, optimizer, 11);
    for (const auto& [first, second] : expected) {
        EXPECT_EQ(optimizer.core()->groups()[0].learning_rate, first);
        EXPECT_EQ(optimizer.core()->groups()[1].learning_rate, second);
        scheduler.core()->step();
    }
    plan.warmup_steps = 12;
    EXPECT_EQ(refusal([&] { static_cast<void>(make_scheduler(plan, two_rates(), 11)); }),
              "linear_with_warmup: warmup_steps is 12");
}

}  // namespace
}  // namespace mantissa
