#include "engine/accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_model.h"

namespace mantissa {
namespace {

using ::testing::HasSubstr;

AcceleratorOptions plain(Precision precision = Precision::No) { return {.mixed_precision = precision, .device = "cpu"}; }

template <typename Function>
std::string message_of(Function function) {
    try {
        function();
    } catch (const EngineError& error) {
        return error.error().message;
    }
    return "accepted";
}

class FourBatches : public BatchSource {
  public:
    void begin(std::int64_t epoch) override {
        m_epoch = epoch;
        m_next = 0;
    }
    std::optional<Batch> next() override {
        if (m_next == 4) return std::nullopt;
        const auto number = static_cast<double>(10 * m_epoch + m_next++);
        return Batch{torch::full({1}, number), torch::zeros({1}, at::kLong)};
    }

  private:
    std::int64_t m_epoch = 0, m_next = 0;
};

TEST(Prepare, returns_a_tuple_in_the_order_of_the_arguments_and_one_object_bare) {
    Accelerator accelerator(plain());
    auto raw = small_model();
    auto raw_optimizer = sgd(raw->parameters());
    auto raw_scheduler = constant(raw_optimizer);
    auto all = accelerator.prepare(std::move(raw_scheduler), Loader(std::make_unique<FourBatches>()), std::move(raw), 7,
                                   std::move(raw_optimizer));
    using Expected = std::tuple<PreparedScheduler, PreparedLoader, PreparedModel<std::shared_ptr<SmallModel>>, int, PreparedOptimizer>;
    static_assert(std::is_same_v<decltype(all), Expected>);
    EXPECT_EQ(std::get<3>(all), 7);  // what is unknown passes through
    auto bare = accelerator.prepare(sgd({torch::ones({1}, torch::requires_grad())}));
    static_assert(std::is_same_v<decltype(bare), PreparedOptimizer>);
    auto again = accelerator.prepare(std::move(bare));  // prepared objects are returned unchanged
    static_assert(std::is_same_v<decltype(again), PreparedOptimizer>);
    EXPECT_EQ(raw, nullptr);
}

TEST(Prepare, one_object_is_prepared_once) {
    Accelerator accelerator(plain());
    auto raw = small_model();
    auto copy = raw;
    auto optimizer_core = sgd(raw->parameters());
    auto second_handle = Optimizer(optimizer_core.core());
    auto model = accelerator.prepare(std::move(raw)), again = accelerator.prepare(std::move(copy));
    EXPECT_EQ(model.unwrap(), again.unwrap());
    auto optimizer = accelerator.prepare(std::move(optimizer_core)), same = accelerator.prepare(std::move(second_handle));
    auto third = accelerator.prepare(std::move(same));
    EXPECT_EQ(&optimizer.state(), &third.state());
    accelerator.backward(model(torch::full({1}, 2.0)).sum());
    optimizer.step();  // the only one that has to: the attempt is complete
    EXPECT_EQ(accelerator.last_step().grad_norm, 2);
    EXPECT_EQ(&same.state(), &optimizer.state());  // a handle that was moved from is as good
}

// Upstream needs two passes; here a scheduler finds its optimizer when it moves.
TEST(Prepare, a_scheduler_may_stand_before_its_optimizer) {
    auto options = plain(Precision::Fp16);
    options.on_nonfinite = OnNonfinite::Skip;
    Accelerator accelerator(options);
    auto p = torch::ones({1}, torch::requires_grad()), q = torch::ones({1}, torch::requires_grad());
    auto raw_p = sgd({p}, {.learning_rate = 0.1}), raw_q = sgd({q}, {.learning_rate = 0.1});
    auto raw_of_q = harmonic(raw_q), raw_of_p = harmonic(raw_p);
    auto [of_q, of_p, optimizer_p, optimizer_q] =
        accelerator.prepare(std::move(raw_of_q), std::move(raw_of_p), std::move(raw_p), std::move(raw_q));
    accelerator.backward((p * 1e38).sum() + (q * 2).sum());  // p's scaled gradient overflows
    optimizer_p.step();
    optimizer_q.step();
    of_p.step();
    of_q.step();
    EXPECT_EQ(of_p.learning_rate(), 0.1);  // held: its own optimizer skipped
    EXPECT_EQ(of_q.learning_rate(), 0.05);
}

TEST(Prepare, a_scheduler_may_go_its_own_way) {
    auto options = plain();
    options.gradient_accumulation_steps = 2;
    options.step_scheduler_with_optimizer = false;
    Accelerator accelerator(options);
    auto raw = sgd({torch::ones({1}, torch::requires_grad())}, {.learning_rate = 0.1});
    auto raw_scheduler = harmonic(raw);
    auto [optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_scheduler));
    accelerator.accumulate();
    scheduler.step();
    EXPECT_EQ(scheduler.learning_rate(), 0.05);
}

TEST(Prepare, placement_is_chosen_per_object) {
    Accelerator accelerator(plain());
    auto far = std::make_shared<SmallModel>(torch::ones({1}, at::kMeta));
    auto [model, optimizer] = accelerator.prepare({false, true}, std::move(far), sgd({torch::ones({1}, torch::requires_grad())}));
    EXPECT_TRUE(model.parameters().at(0).is_meta());
    EXPECT_TRUE(model(torch::ones({1}, at::kMeta)).is_meta());  // its batches belong where it is
    EXPECT_THAT(message_of([&, &of = model] { of(torch::ones({1})); }), HasSubstr("argument 1"));
}

TEST(Prepare, a_model_for_evaluation_may_be_half_and_keeps_nothing) {
    Accelerator accelerator(plain(Precision::Fp16));
    torch::nn::BatchNorm1d norm(2);
    norm->to(at::kHalf);
    auto evaluated = accelerator.prepare_for_evaluation(std::move(norm));
    evaluated->eval();
    EXPECT_EQ(evaluated(torch::ones({2, 2}, at::kHalf)).scalar_type(), at::kFloat);
    EXPECT_EQ(evaluated.parameters().at(0).scalar_type(), at::kHalf);
}

TEST(Prepare, a_model_in_a_unique_ptr_becomes_a_shared_one) {
    Accelerator accelerator(plain());
    auto model = accelerator.prepare(std::make_unique<SmallModel>(torch::full({1}, 3.0)));
    static_assert(std::is_same_v<decltype(model), PreparedModel<std::shared_ptr<SmallModel>>>);
    EXPECT_EQ(value(model(torch::full({1}, 2.0))), 6);
}

TEST(Prepare, moved_from_objects_are_refused_with_a_sentence) {
    Accelerator accelerator(plain());
    auto model = small_model();
    auto optimizer = sgd(model->parameters());
    auto scheduler = constant(optimizer);
    Loader loader(std::make_unique<FourBatches>());
    static_cast<void>(accelerator.prepare(std::move(model), std::move(optimizer), std::move(scheduler), std::move(loader)));
    // NOLINTBEGIN(bugprone-use-after-move): that is the test
    EXPECT_THAT(message_of([&] { accelerator.prepare(std::move(model)); }), HasSubstr("moved away"));
    EXPECT_THAT(message_of([&] { accelerator.prepare(std::move(optimizer)); }), HasSubstr("moved into prepare()"));
    EXPECT_THAT(message_of([&] { accelerator.prepare(std::move(scheduler)); }), HasSubstr("moved into prepare()"));
    EXPECT_THAT(message_of([&] { accelerator.prepare(std::move(loader)); }), HasSubstr("moved away"));
    // NOLINTEND(bugprone-use-after-move)
}

TEST(Prepare, weights_stay_fp32_and_the_inner_model_is_reached) {
    Accelerator accelerator(plain(Precision::Bf16));
    auto raw = small_model(3);
    const auto* inner = raw.get();
    auto model = accelerator.prepare(std::move(raw));
    const auto amp = accelerator.autocast();
    EXPECT_EQ(model(torch::ones({1})).scalar_type(), at::kFloat);
    EXPECT_EQ(model.parameters().at(0).scalar_type(), at::kFloat);
    EXPECT_EQ(accelerator.unwrap(model).get(), inner);
}

TEST(PreparedLoader, knows_its_last_batch_and_counts_passes) {
    Accelerator accelerator(plain());
    auto loader = accelerator.prepare(Loader(std::make_unique<FourBatches>()));
    std::vector<double> seen;
    std::vector<bool> syncs;
    Accelerator windows({.mixed_precision = Precision::No, .device = "cpu", .gradient_accumulation_steps = 3});
    auto counted = windows.prepare(Loader(std::make_unique<FourBatches>()));
    for (int pass = 0; pass < 2; ++pass) {
        for (const Batch& batch : counted) {
            windows.accumulate();
            seen.push_back(value(batch.features));
            syncs.push_back(windows.sync_gradients());
        }
    }
    EXPECT_THAT(seen, ::testing::ElementsAre(0, 1, 2, 3, 10, 11, 12, 13));
    EXPECT_THAT(syncs, ::testing::ElementsAre(false, false, true, true, false, false, true, true));
}

TEST(Backward, is_refused_inside_autocast_and_a_second_time) {
    Accelerator accelerator(plain(Precision::Bf16));
    auto weight = torch::ones({1}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}));
    const auto loss = (weight + 1).sum();  // a graph that torch itself would walk twice without a word
    {
        const auto amp = accelerator.autocast();
        EXPECT_THAT(message_of([&] { accelerator.backward(loss); }), HasSubstr("backward was called inside autocast"));
        EXPECT_THAT(message_of([&] { optimizer.step(); }), HasSubstr("step was called inside autocast"));
    }
    accelerator.backward(loss);
    EXPECT_THAT(message_of([&] { accelerator.backward(loss); }), HasSubstr("twice on the same loss"));
    optimizer.step();
    EXPECT_THAT(message_of([&] { accelerator.backward(loss); }), HasSubstr("twice on the same loss"));
    EXPECT_EQ(value(weight.grad()), 1);
}

TEST(Backward, wants_one_value_with_a_graph) {
    Accelerator accelerator(plain());
    EXPECT_THAT(message_of([&] { accelerator.backward(torch::ones({2}, torch::requires_grad())); }), HasSubstr("one floating-point value"));
    EXPECT_THAT(message_of([&] { accelerator.backward(torch::ones({1})); }), HasSubstr("has no graph"));
}

TEST(Backward, divides_by_the_accumulation_steps_and_keeps_the_plain_loss) {
    Accelerator accelerator({.mixed_precision = Precision::No, .device = "cpu", .gradient_accumulation_steps = 4});
    auto weight = torch::ones({1}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 1}));
    for (int i = 0; i < 4; ++i) {
        accelerator.accumulate();
        accelerator.backward((weight * (i + 1)).sum(), 0.5);
        optimizer.step();
    }
    EXPECT_FLOAT_EQ(static_cast<float>(value(weight)), 1 - 0.5F * 10 / 4);
    const StepFacts& facts = accelerator.last_step();
    EXPECT_THAT(facts.losses, ::testing::ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(facts.loss, 2.5);
    EXPECT_EQ(facts.step, 0);
    EXPECT_EQ(facts.grad_norm, 1.25);
    EXPECT_EQ(facts.learning_rate, 1);
}

TEST(Step, without_a_scaled_backward_is_refused_in_fp16) {
    Accelerator accelerator(plain(Precision::Fp16));
    auto weight = torch::ones({1}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}));
    EXPECT_THAT(message_of([&] { optimizer.step(); }), HasSubstr("no scaled gradient reached the optimizer sgd"));
    weight.mutable_grad() = torch::ones({1});  // put there by hand, unscaled
    EXPECT_THAT(message_of([&] { optimizer.step(); }), HasSubstr("no scaled gradient"));
    EXPECT_EQ(value(weight), 1);
}

// One bad micro-batch makes the window bad: scale 8 -> 4, nothing applied.
TEST(Step, one_bad_micro_batch_skips_the_whole_window) {
    auto options = plain(Precision::Fp16);
    options.gradient_accumulation_steps = 2;
    options.loss_scale.initial = 8;
    options.on_nonfinite = OnNonfinite::Mark;
    Accelerator accelerator(options);
    auto weight = torch::ones({1}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 0.1}));
    for (const double gradient : {infinity, 1.0}) {
        accelerator.accumulate();
        accelerator.backward((weight * gradient).sum());
        optimizer.step();
    }
    EXPECT_TRUE(accelerator.optimizer_step_was_skipped());
    EXPECT_TRUE(accelerator.last_step().nonfinite_loss);
    EXPECT_EQ(accelerator.loss_scale_state()->scale, 4);
    EXPECT_EQ(value(weight), 1);
}

// Rule 12 in `no` and bf16: stop, skip or apply and say so.
TEST(Step, the_rule_for_non_finite_values) {
    const auto attempt = [](OnNonfinite rule, double gradient) {
        auto options = plain();
        options.on_nonfinite = rule;
        Accelerator accelerator(options);
        auto model = small_model();
        const torch::Tensor weight = model->weight;
        auto optimizer = accelerator.prepare(sgd(model->parameters(), {.learning_rate = 1}));
        auto prepared = accelerator.prepare(std::move(model));
        accelerator.backward((weight * gradient).sum());
        bool stopped = false;
        try {
            optimizer.step();
        } catch (const NonFinite& stop) {
            stopped = stop.where() == NonFinite::Where::Loss && stop.step() == 0;
        }
        return std::tuple(stopped, optimizer.step_was_skipped(), value(weight));
    };
    EXPECT_EQ(attempt(OnNonfinite::Stop, infinity), std::tuple(true, true, 1.0));
    EXPECT_EQ(attempt(OnNonfinite::Pause, infinity), std::tuple(true, true, 1.0));
    EXPECT_EQ(attempt(OnNonfinite::Skip, infinity), std::tuple(false, true, 1.0));
    EXPECT_EQ(attempt(OnNonfinite::Mark, infinity), std::tuple(false, false, -infinity));
    EXPECT_EQ(attempt(OnNonfinite::Stop, 2), std::tuple(false, false, -1.0));
}

// After a refusal the run can go on (pause): the next attempt is a fresh one.
TEST(Step, an_attempt_after_a_refusal_is_a_fresh_one) {
    auto options = plain(Precision::Fp16);
    options.on_nonfinite = OnNonfinite::Pause;
    options.loss_scale.initial = 8;
    Accelerator accelerator(options);
    auto weight = torch::ones({1}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 0.1}));
    accelerator.backward((weight * not_a_number).sum());
    EXPECT_THROW(optimizer.step(), NonFinite);
    EXPECT_EQ(accelerator.loss_scale_state()->scale, 4);
    optimizer.zero_grad();
    accelerator.backward((weight * 2).sum());
    optimizer.step();
    EXPECT_EQ(accelerator.last_step().step, 1);
    EXPECT_FALSE(accelerator.last_step().nonfinite_loss);
    EXPECT_FLOAT_EQ(static_cast<float>(value(weight)), 0.8F);
}

// Two optimizers that take turns (a generator and its critic): each backward closes the attempt before it.
TEST(Step, optimizers_may_take_turns) {
    auto options = plain(Precision::Fp16);
    options.loss_scale = {.initial = 4, .growth_interval = 2};
    Accelerator accelerator(options);
    auto p = torch::ones({1}, torch::requires_grad()), q = torch::ones({1}, torch::requires_grad());
    auto of_p = accelerator.prepare(sgd({p}, {.learning_rate = 0.1})), of_q = accelerator.prepare(sgd({q}, {.learning_rate = 0.1}));
    accelerator.backward((p * 1).sum());
    of_p.step();
    EXPECT_THAT(message_of([&] { of_p.step(); }), HasSubstr("stepped twice"));
    of_p.zero_grad();
    accelerator.backward((q * 1).sum());
    of_q.step();
    of_q.zero_grad();
    accelerator.backward((p * 1).sum());
    EXPECT_EQ(accelerator.loss_scale_state()->scale, 8);  // grown once, after two iterations
    EXPECT_FLOAT_EQ(static_cast<float>(value(p)), 0.9F);
    EXPECT_FLOAT_EQ(static_cast<float>(value(q)), 0.9F);
}

// fp16 without a scaler: gradients come as they are, an overflow is rule 12's, and a saved scale is not taken up in silence.
TEST(Scaler, may_be_switched_off) {
    auto options = plain(Precision::Fp16);
    options.loss_scale_enabled = false;
    Accelerator accelerator(options);
    auto weight = torch::ones({1}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 0.1}));
    EXPECT_FALSE(accelerator.loss_scale_state().has_value());
    accelerator.backward((weight * 2).sum());
    EXPECT_EQ(value(weight.grad()), 2);
    optimizer.step();
    EXPECT_FALSE(accelerator.last_step().loss_scale.has_value());
    EXPECT_FALSE(accelerator.last_step().backoffs_left.has_value());
    optimizer.zero_grad();
    accelerator.backward((weight * infinity).sum());
    EXPECT_THROW(optimizer.step(), NonFinite);
    EXPECT_THAT(message_of([&] { accelerator.restore_loss_scale({}); }), HasSubstr("loss scaler is switched off"));
}

// Well before the floor of 2^-14: at the 17th overflow from 2^16, with 13 more to go.
TEST(Scaler, tells_of_a_falling_scale_long_before_its_floor) {
    auto options = plain(Precision::Fp16);
    options.on_nonfinite = OnNonfinite::Skip;
    Accelerator accelerator(options);
    auto weight = torch::ones({1}, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}));
    std::vector<std::int64_t> alarms;
    while (!accelerator.last_step().scale_collapsed) {
        torch::Tensor hooked = weight * 1.0;
        hooked.register_hook([](const torch::Tensor& incoming) { return torch::full_like(incoming, infinity); });
        optimizer.zero_grad();
        accelerator.backward(hooked.sum());
        optimizer.step();
        const StepFacts& facts = accelerator.last_step();
        if (!facts.scale_alarm) continue;
        alarms.push_back(facts.step);
        EXPECT_EQ(facts.loss_scale_after, 0.5);
        EXPECT_EQ(facts.backoffs_left, 13);
    }
    EXPECT_THAT(alarms, ::testing::ElementsAre(16));
    EXPECT_EQ(accelerator.last_step().step, 30);
    EXPECT_EQ(accelerator.last_step().backoffs_left, 0);
}

TEST(Options, compat_stands_for_all_that_upstream_does_otherwise) {
    RunPlan plan;
    plan.compat = Compat::Accelerate;
    const AcceleratorOptions options = accelerator_options(plan);
    EXPECT_EQ(options.on_nonfinite, OnNonfinite::Mark);
    EXPECT_EQ(options.batch_norm_on_skip, BatchNormOnSkip::Keep);
    EXPECT_EQ(options.short_window, ShortWindow::Upstream);
    EXPECT_EQ(options.loss_scale.floor, 0);
    EXPECT_FALSE(options.sync_batch_norm);
    EXPECT_TRUE(accelerator_options(RunPlan()).sync_batch_norm);
}

}  // namespace
}  // namespace mantissa
