// Every optimizer and scheduler: what goes on from a saved state repeats, bit for bit, what would have come; what doesn't fit is
// refused before anything changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/classic_optimizers.h"
#include "engine/engine_error.h"
#include "engine/scheduler.h"

namespace mantissa {
namespace {

using ::testing::HasSubstr;
using Make = std::function<Optimizer(std::vector<torch::Tensor>)>;
using MakeScheduler = std::function<Scheduler(const Optimizer&)>;

std::vector<torch::Tensor> parameters() {
    torch::manual_seed(5);
    std::vector<torch::Tensor> made;
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{3, 4}, {4}, {}, {2, 3, 2, 2}}) {
        made.push_back(torch::randn(shape).requires_grad_());
    }
    torch::Tensor strided = torch::randn({2, 3, 2, 2}).contiguous(at::MemoryFormat::ChannelsLast);
    made.push_back(strided.requires_grad_());
    return made;
}

StateBundle copy_of(const StateBundle& bundle) {
    StateBundle copy{bundle.facts, {}};
    for (const auto& [name, tensor] : bundle.tensors) copy.tensors.emplace_back(name, tensor.clone());
    return copy;
}

// Gradients that depend on the step alone; the third parameter has none at first.
void update(Optimizer& optimizer, std::int64_t step) {
    auto generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(step));
    std::size_t index = 0;
    for (auto& group : optimizer.core()->groups()) {
        for (auto& parameter : group.parameters) {
            const torch::Tensor gradient = torch::randn(parameter.sizes(), generator);
            parameter.mutable_grad() = index++ == 2 && step < 2 ? torch::Tensor() : gradient;
        }
    }
    const torch::NoGradGuard no_grad;
    optimizer.core()->update();
}

std::vector<std::pair<std::string, Make>> optimizers() {
    using P = std::vector<torch::Tensor>;
    const auto fused = OptimizerImplementation::Fused;
    return {{"sgd", [](P p) { return sgd(p, {.learning_rate = 0.1}); }},
            {"sgd momentum", [](P p) { return sgd(p, {.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}); }},
            {"sgd fused", [fused](P p) { return sgd(p, {.learning_rate = 0.1, .momentum = 0.9, .implementation = fused}); }},
            {"adam", [](P p) { return adam(p, {.learning_rate = 0.1}); }},
            {"adamw", [](P p) { return adamw(p, {.learning_rate = 0.1, .weight_decay = 0.1}); }},
            {"adamw amsgrad", [](P p) { return adamw(p, {.learning_rate = 0.1, .amsgrad = true}); }},
            {"adam fused", [fused](P p) { return adam(p, {.learning_rate = 0.1, .implementation = fused}); }},
            {"adamw fused amsgrad",
             [fused](P p) { return adamw(p, {.learning_rate = 0.1, .weight_decay = 0.1, .amsgrad = true, .implementation = fused}); }},
            {"rmsprop", [](P p) { return rmsprop(p, {.momentum = 0.5, .centered = true}); }},
            {"adagrad", [](P p) { return adagrad(p, {.learning_rate_decay = 0.1, .initial_accumulator = 0.2}); }},
            {"adadelta", [](P p) { return adadelta(p, {.learning_rate = 1, .smoothing = 0.9}); }},
            {"adamax", [](P p) { return adamax(p, {}); }},
            {"nadam", [](P p) { return nadam(p, {.weight_decay = 0.1, .decoupled_weight_decay = true}); }},
            {"radam", [](P p) { return radam(p, {}); }}};
}

TEST(OptimizerStateTest, EveryOptimizerGoesOnBitForBitFromEveryStep) {
    for (const auto& [name, make] : optimizers()) {
        for (std::int64_t cut = 0; cut < 8; ++cut) {
            SCOPED_TRACE(name + ", after step " + std::to_string(cut));
            auto weights = parameters();
            Optimizer whole = make(weights);
            for (std::int64_t step = 0; step < cut; ++step) update(whole, step);
            const StateBundle saved = copy_of(whole.core()->state());
            std::vector<torch::Tensor> others;
            for (const auto& one : weights) others.push_back(one.detach().clone().requires_grad_());
            Optimizer resumed = make(others);
            if (cut % 2 == 1) update(resumed, 77);  // what it had before counts for nothing
            for (std::size_t i = 0; i < weights.size(); ++i) others[i].data().copy_(weights[i].data());
            resumed.core()->load_state(saved);
            for (std::int64_t step = cut; step < 10; ++step) {
                update(whole, step);
                update(resumed, step);
            }
            for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_TRUE(torch::equal(weights[i], others[i])) << i;
            EXPECT_EQ(whole.core()->state().facts, resumed.core()->state().facts);
        }
    }
}

TEST(OptimizerStateTest, ALoadedStateIsACopyAndTheSavedOneStays) {
    Optimizer one = sgd(parameters(), {.learning_rate = 0.1, .momentum = 0.9});
    update(one, 0);
    const StateBundle saved = copy_of(one.core()->state());
    Optimizer other = sgd(parameters(), {.learning_rate = 0.1, .momentum = 0.9});
    other.core()->load_state(saved);
    update(other, 1);
    EXPECT_TRUE(torch::equal(saved.tensors.front().second, one.core()->state().tensors.front().second));
}

TEST(OptimizerStateTest, ExactAndFusedTakeUpEachOthersCounts) {
    Optimizer exact = adamw(parameters(), {.learning_rate = 0.1});
    for (std::int64_t step = 0; step < 4; ++step) update(exact, step);
    Optimizer fused = adamw(parameters(), {.learning_rate = 0.1, .implementation = OptimizerImplementation::Fused});
    fused.core()->load_state(exact.core()->state());
    update(fused, 4);
    const auto state = fused.core()->state();
    EXPECT_EQ(state.fact<std::vector<double>>("group.0.step"), (std::vector<double>{5, 5, 3, 5, 5}));
}

std::string refusal(Stateful& object, const StateBundle& bundle) {
    try {
        object.load_state(bundle);
    } catch (const std::exception& problem) {
        return problem.what();
    }
    return "no refusal";
}

TEST(OptimizerStateTest, WhatDoesNotFitIsNamedAndNothingChanges) {
    const auto two_groups = [] {
        Optimizer made = adamw(parameters(), {.learning_rate = 0.1});
        made.core()->add_group({.parameters = {torch::randn({2}).requires_grad_()}, .learning_rate = 0.2});
        return made;
    };
    Optimizer here = adamw(parameters(), {.learning_rate = 0.1});
    update(here, 0);
    const StateBundle before = copy_of(here.core()->state());
    Optimizer other = adam(parameters(), {.learning_rate = 0.5});
    EXPECT_THAT(refusal(*here.core(), other.core()->state()), HasSubstr("doesn't fit the optimizer adamw: it is that of adam"));
    Optimizer grouped = two_groups();
    EXPECT_THAT(refusal(*here.core(), grouped.core()->state()), HasSubstr("it has 2 parameter group(s), the optimizer 1"));
    auto fewer = parameters();
    fewer.pop_back();
    Optimizer small = adamw(fewer, {.learning_rate = 0.5});
    EXPECT_THAT(refusal(*here.core(), small.core()->state()), HasSubstr("its group 0 has 4 parameter(s), the optimizer's 5"));
    auto shaped = parameters();
    shaped[1] = torch::randn({5}).requires_grad_();
    Optimizer wide = adamw(shaped, {.learning_rate = 0.5});
    update(wide, 0);
    EXPECT_THAT(refusal(*here.core(), wide.core()->state()), HasSubstr("0.1.exp_avg is Float [5], the parameter Float [4]"));
    StateBundle lacking = copy_of(before);
    lacking.facts.erase("group.0.option.eps");
    EXPECT_THAT(refusal(*here.core(), lacking), HasSubstr("the saved state lacks \"group.0.option.eps\""));
    StateBundle more = copy_of(before);
    more.tensors.emplace_back("0.9.exp_avg", torch::zeros({1}));
    EXPECT_THAT(refusal(*here.core(), more), HasSubstr("tensors, of which this optimizer knows"));
    StateBundle few_counts = copy_of(before);
    few_counts.facts["group.0.step"] = std::vector<double>{1};
    EXPECT_THAT(refusal(*here.core(), few_counts), HasSubstr("group.0.step has 1 value(s) for 5 parameter(s)"));
    const StateBundle after = here.core()->state();
    EXPECT_EQ(after.facts, before.facts);
    for (std::size_t i = 0; i < before.tensors.size(); ++i) {
        EXPECT_TRUE(torch::equal(after.tensors[i].second, before.tensors[i].second));
    }
}

std::vector<std::pair<std::string, MakeScheduler>> schedulers() {
    return {{"constant", [](const Optimizer& o) { return constant(o); }},
            {"step", [](const Optimizer& o) { return step_lr(o, 3, 0.5); }},
            {"multi step", [](const Optimizer& o) { return multi_step_lr(o, {2, 5, 5}, 0.7); }},
            {"constant factor", [](const Optimizer& o) { return constant_lr(o, 0.5, 4); }},
            {"linear", [](const Optimizer& o) { return linear_lr(o, 0.2, 0.9, 7); }},
            {"exponential", [](const Optimizer& o) { return exponential_lr(o, 0.9); }},
            {"polynomial", [](const Optimizer& o) { return polynomial_lr(o, 8, 2); }},
            {"cosine", [](const Optimizer& o) { return cosine_lr(o, 5, 0.001); }},
            {"cosine restarts", [](const Optimizer& o) { return cosine_restarts_lr(o, 3, 2, 0.001); }},
            {"one cycle", [](const Optimizer& o) { return one_cycle_lr(o, {.max_lr = 0.4, .total_steps = 13, .three_phase = true}); }},
            {"cyclic", [](const Optimizer& o) {
                 return cyclic_lr(o, {.base_lr = 0.01, .max_lr = 0.2, .step_size_up = 2, .step_size_down = 3,
                                      .shape = CyclicShape::Exponential, .gamma = 0.9});
             }}};
}

TEST(SchedulerStateTest, EverySchedulerGoesOnBitForBitFromEveryStep) {
    for (const auto& [name, make] : schedulers()) {
        for (int cut = 0; cut < 12; ++cut) {
            SCOPED_TRACE(name + ", after step " + std::to_string(cut));
            Optimizer whole = sgd(parameters(), {.learning_rate = 0.1, .momentum = 0.9});
            Scheduler first = make(whole);
            for (int step = 0; step < cut; ++step) first.core()->step();
            const StateBundle rates = whole.core()->state(), position = first.core()->state();
            Optimizer other = sgd(parameters(), {.learning_rate = 0.7, .momentum = 0.1});
            Scheduler second = make(other);
            if (cut % 2 == 1) second.core()->step();
            other.core()->load_state(rates);
            second.core()->load_state(position);
            for (int step = cut; step < 12; ++step) {
                first.core()->step();
                second.core()->step();
                const auto &a = whole.core()->groups()[0], &b = other.core()->groups()[0];
                EXPECT_EQ(a.learning_rate, b.learning_rate) << step;
                EXPECT_EQ(a.momentum, b.momentum) << step;
            }
            EXPECT_EQ(first.core()->state().facts, second.core()->state().facts);
        }
    }
}

TEST(SchedulerStateTest, TheSavedSettingsGoOn) {
    Optimizer whole = sgd(parameters(), {.learning_rate = 0.1, .momentum = 0.9});
    Scheduler long_cycle = one_cycle_lr(whole, {.max_lr = 0.4, .total_steps = 20});
    Optimizer other = sgd(parameters(), {.learning_rate = 0.1, .momentum = 0.9});
    Scheduler short_cycle = one_cycle_lr(other, {.max_lr = 0.4, .total_steps = 10});
    short_cycle.core()->load_state(long_cycle.core()->state());
    EXPECT_EQ(short_cycle.core()->total_steps(), 20);
    for (int step = 0; step < 15; ++step) {
        long_cycle.core()->step();
        short_cycle.core()->step();
    }
    EXPECT_EQ(whole.learning_rate(), other.learning_rate());
}

TEST(SchedulerStateTest, WhatDoesNotFitIsNamedAndNothingChanges) {
    Optimizer optimizer = sgd(parameters(), {.learning_rate = 0.1});
    Scheduler here = step_lr(optimizer, 3);
    const auto before = here.core()->state().facts;
    EXPECT_THAT(refusal(*here.core(), cosine_lr(optimizer, 5).core()->state()),
                HasSubstr("doesn't fit the scheduler step: it is that of cosine"));
    StateBundle zero = here.core()->state();
    zero.facts["setting.step_size"] = std::int64_t{0};
    EXPECT_THAT(refusal(*here.core(), zero), HasSubstr("step_size is below 1"));
    StateBundle rates = here.core()->state();
    rates.facts["base_rates"] = std::vector<double>{1, 2};
    EXPECT_THAT(refusal(*here.core(), rates), HasSubstr("it is for 2 parameter group(s), the optimizer has 1"));
    StateBundle typed = here.core()->state();
    typed.facts["last_epoch"] = 1.5;
    EXPECT_THAT(refusal(*here.core(), typed), HasSubstr("has another type of value for \"last_epoch\""));
    EXPECT_EQ(here.core()->state().facts, before);
}

}  // namespace
}  // namespace mantissa
