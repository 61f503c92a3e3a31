// What the articles warn of: each misuse gets its sentence, and what is right stays possible.
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

torch::Tensor weight_of(double start) { return torch::full({1}, start, torch::requires_grad()); }

// Compile-time refusals; that the sentences come out is shown by refused_at_compile_time.
static_assert(is_torch_optimizer<torch::optim::AdamW> && is_torch_optimizer<std::unique_ptr<torch::optim::SGD>&&>);
static_assert(is_torch_scheduler<std::shared_ptr<torch::optim::StepLR>> && is_torch_scheduler<torch::optim::ReduceLROnPlateauScheduler>);
static_assert(is_bare_module<SmallModel> && !is_bare_module<torch::nn::Linear> && !is_bare_module<std::shared_ptr<SmallModel>>);
static_assert(is_loss_scaler<LossScaler> && !is_torch_optimizer<Optimizer> && !is_torch_loader<Loader> && !is_torch_loader<int>);

TEST(Misuse, a_second_backward_is_found_after_any_number_of_steps) {
    Accelerator accelerator(plain());
    auto weight = weight_of(1);
    auto optimizer = accelerator.prepare(sgd({weight}));
    const auto kept = (weight + 1).sum();  // nothing saved: torch itself would walk it twice without a word
    accelerator.backward(kept);
    optimizer.step();
    for (int i = 0; i < 5; ++i) {
        optimizer.zero_grad();
        accelerator.backward((weight * 1).sum());
        optimizer.step();
    }
    EXPECT_THAT(message_of([&] { accelerator.backward(kept); }), HasSubstr("twice on the same loss"));
    Accelerator second(plain());
    EXPECT_THAT(message_of([&] { second.backward(kept); }), HasSubstr("twice on the same loss"));
}

TEST(Misuse, a_loss_that_is_a_weight_may_go_backward_in_every_attempt) {
    Accelerator accelerator(plain());
    auto weight = torch::full({}, 1.0, torch::requires_grad());
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 0.25}));
    for (int i = 0; i < 2; ++i) {
        optimizer.zero_grad();
        accelerator.backward(weight);
        EXPECT_THAT(message_of([&] { accelerator.backward(weight); }), HasSubstr("twice on the same loss"));
        optimizer.step();
    }
    EXPECT_EQ(value(weight), 0.5);
}

TEST(Misuse, a_graph_that_was_used_up_is_named) {
    Accelerator accelerator(plain());
    auto weight = weight_of(2);
    auto optimizer = accelerator.prepare(sgd({weight}));
    const auto shared = weight * weight;
    accelerator.backward(shared.sum());
    EXPECT_THAT(message_of([&] { accelerator.backward(shared.mean()); }), HasSubstr("an earlier backward has used up"));
}

class InsideAutocast : public testing::TestWithParam<Precision> {};
TEST_P(InsideAutocast, backward_clip_step_and_scheduler_are_refused_in_every_mode) {
    Accelerator accelerator(plain(GetParam()));
    auto weight = weight_of(1);
    auto raw = sgd({weight});
    auto raw_scheduler = constant(raw);
    auto [optimizer, scheduler] = accelerator.prepare(std::move(raw), std::move(raw_scheduler));
    const auto loss = (weight * 2).sum();
    {
        const auto amp = accelerator.autocast();
        const auto island = accelerator.autocast({.enabled = false});  // still inside: the cast cache lives until the outer end
        EXPECT_THAT(message_of([&] { accelerator.backward(loss); }), HasSubstr("backward was called inside autocast"));
        EXPECT_THAT(message_of([&] { accelerator.clip_grad_norm({weight}, 1); }), HasSubstr("clip_grad_norm was called inside autocast"));
        EXPECT_THAT(message_of([&] { accelerator.clip_grad_value({weight}, 1); }), HasSubstr("clip_grad_value was called inside"));
        EXPECT_THAT(message_of([&] { accelerator.unscale_gradients(); }), HasSubstr("unscale_gradients was called inside autocast"));
        EXPECT_THAT(message_of([&, &of = optimizer] { of.step(); }), HasSubstr("the optimizer's step was called inside autocast"));
        EXPECT_THAT(message_of([&, &of = scheduler] { of.step(); }), HasSubstr("the scheduler's step was called inside autocast"));
    }
    const auto island = accelerator.fp32_island();  // outside of autocast there is nothing to refuse
    accelerator.backward(loss);
    optimizer.step();
    scheduler.step();
    EXPECT_FLOAT_EQ(static_cast<float>(value(weight)), 0.998F);
}
INSTANTIATE_TEST_SUITE_P(Modes, InsideAutocast, testing::Values(Precision::No, Precision::Fp16, Precision::Bf16));

TEST(Misuse, a_second_loss_scaler_is_refused) {
    Accelerator accelerator(plain(Precision::Fp16));
    auto weight = weight_of(1);
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 0.1}));
    LossScaler own({.initial = 1024}, torch::kCPU);
    EXPECT_THAT(message_of([&] { accelerator.backward(own.scale((weight * 2).sum())); }), HasSubstr("scaled already"));
    EXPECT_THAT(message_of([&] { accelerator.backward(own.scale((weight * 2).sum()) / 4 + 1); }), HasSubstr("scaled already"));
    accelerator.backward((weight * 2).sum());
    LossScaler other({}, torch::kCPU);
    EXPECT_THAT(message_of([&] { static_cast<void>(other.unscale({weight.grad()})); }), HasSubstr("has scaled no loss"));
    optimizer.step();
    EXPECT_FLOAT_EQ(static_cast<float>(value(weight)), 0.8F);
}

TEST(Misuse, a_loss_scaler_of_ones_own_works_without_an_accelerator) {
    auto weight = weight_of(1);
    LossScaler own({.initial = 1024}, torch::kCPU);
    own.scale((weight * 2).sum()).backward();
    EXPECT_EQ(value(weight.grad()), 2048);
    EXPECT_FALSE(own.unscale({weight.grad()}));
    EXPECT_EQ(value(weight.grad()), 2);
}

TEST(Misuse, what_another_accelerator_has_prepared_is_refused) {
    Accelerator first(plain()), second(plain());
    auto raw = small_model();
    auto copy = raw, copy_again = raw;
    auto model = first.prepare(std::move(raw));
    EXPECT_THAT(message_of([&] { second.prepare(std::move(copy)); }), HasSubstr("a model that another Accelerator"));
    auto optimizer = first.prepare(sgd({weight_of(1)}));
    EXPECT_THAT(message_of([&] { second.prepare(PreparedOptimizer(optimizer)); }), HasSubstr("another Accelerator has prepared"));
    EXPECT_THAT(message_of([&] { second.prepare(PreparedModel(model)); }), HasSubstr("another Accelerator has prepared"));
    first.free_memory(model);  // lets go of it
    EXPECT_EQ(message_of([&] { second.prepare(std::move(copy_again)); }), "accepted");
}

TEST(Misuse, weights_that_become_half_are_refused_at_the_next_step) {
    Accelerator accelerator(plain());
    auto core = sgd({weight_of(1)});
    auto late = torch::ones({1}, at::kBFloat16).requires_grad_();
    OptimizerCore& groups = *core.core();
    auto optimizer = accelerator.prepare(std::move(core));
    groups.add_group({.parameters = {late}});
    accelerator.backward((late * 2).sum().to(at::kFloat));
    EXPECT_THAT(message_of([&] { optimizer.step(); }), HasSubstr("is BFloat16"));
}

TEST(Misuse, a_released_handle_is_refused) {
    Accelerator accelerator(plain());
    auto raw = sgd({weight_of(1)});
    auto raw_scheduler = constant(raw);
    auto [model, optimizer, scheduler] = accelerator.prepare(small_model(), std::move(raw), std::move(raw_scheduler));
    accelerator.free_memory(model, optimizer, scheduler);
    EXPECT_THAT(message_of([&, &of = model] { of(torch::ones({1})); }), HasSubstr("a model was released"));
    EXPECT_THAT(message_of([&, &of = optimizer] { of.step(); }), HasSubstr("an optimizer was released"));
    EXPECT_THAT(message_of([&, &of = scheduler] { of.step(); }), HasSubstr("a scheduler was released"));
}

// --- the wrong device: `meta` stands for the second one

struct TwoArguments : torch::nn::Module {
    TwoArguments() : weight(register_parameter("weight", torch::ones({2, 2}))) {}
    torch::Tensor forward(const torch::Tensor& a, const torch::Tensor& b) { return at::mm(a, weight) + b; }
    torch::Tensor weight;
};
struct MakesItsOwn : torch::nn::Module {
    MakesItsOwn() : weight(register_parameter("weight", torch::ones({2, 2}))) {}
    torch::Tensor forward(const torch::Tensor& a) { return at::mm(a, weight) + torch::ones({2, 2}, at::kMeta); }
    torch::Tensor weight;
};
class NoBatch : public BatchSource {
  public:
    void begin(std::int64_t /*epoch*/) override {}
    std::optional<Batch> next() override { return std::nullopt; }
};

TEST(WrongDevice, a_batch_of_an_unprepared_loader) {
    Accelerator accelerator(plain());
    auto model = accelerator.prepare(std::make_shared<TwoArguments>());
    const auto here = torch::ones({2, 2}), there = torch::ones({2, 2}, at::kMeta);
    EXPECT_THAT(message_of([&] { model(there, here); }),
                testing::AllOf(HasSubstr("argument 1"), HasSubstr("on meta"), HasSubstr("a loader that was not prepared")));
    EXPECT_THAT(message_of([&] { model(here, there); }), HasSubstr("argument 2"));
    auto loader = accelerator.prepare({false}, Loader(std::make_unique<NoBatch>()));
    EXPECT_THAT(message_of([&] { model(there, here); }), HasSubstr("prepared without device placement"));
}

TEST(WrongDevice, a_tensor_made_by_hand) {
    Accelerator accelerator(plain());
    auto [model, loader] = accelerator.prepare(std::make_shared<TwoArguments>(), Loader(std::make_unique<NoBatch>()));
    EXPECT_THAT(message_of([&, &of = model] { of(torch::ones({2, 2}), torch::ones({2, 2}, at::kMeta)); }),
                testing::AllOf(HasSubstr("argument 2"), HasSubstr("made by hand without accelerator.device()")));
    auto own = accelerator.prepare(std::make_shared<MakesItsOwn>());
    EXPECT_THAT(message_of([&] { own(torch::ones({2, 2})); }),
                testing::AllOf(HasSubstr("neither argument nor weight"), HasSubstr("by hand")));
}

// What Module::to(device) leaves: the same tensor, elsewhere. (set_data itself refuses to go from cpu to meta.)
void move_to_meta(const torch::Tensor& weight) {
    weight.unsafeGetTensorImpl()->shallow_copy_from(torch::empty_like(weight, at::kMeta).getIntrusivePtr());
}

TEST(WrongDevice, a_model_that_was_moved_after_prepare) {
    Accelerator accelerator(plain());
    auto model = accelerator.prepare(std::make_shared<TwoArguments>());
    move_to_meta(model.unwrap()->weight);
    EXPECT_THAT(message_of([&] { model(torch::ones({2, 2}), torch::ones({2, 2})); }),
                HasSubstr("moved after prepare(): its weight is on meta, prepare() left it on cpu"));
}

TEST(WrongDevice, a_part_of_a_model_that_was_moved_is_named) {
    Accelerator accelerator(plain());
    torch::nn::Sequential raw;
    raw->push_back(torch::nn::Linear(2, 2));
    raw->push_back(torch::nn::Linear(2, 2));
    auto model = accelerator.prepare(std::move(raw));
    move_to_meta(model.parameters().at(2));
    EXPECT_THAT(message_of([&] { model(torch::ones({1, 2})); }), HasSubstr("its 1.weight is on meta"));
}

TEST(WrongDevice, a_loss_from_elsewhere) {
    Accelerator accelerator(plain());
    auto model = accelerator.prepare(small_model());
    const auto loss = torch::ones({}, torch::TensorOptions(at::kMeta).requires_grad(true)) * 2;
    EXPECT_THAT(message_of([&] { accelerator.backward(loss); }), HasSubstr("the loss is on meta, the Accelerator on cpu"));
}

TEST(WrongDevice, cpu_with_an_index_is_the_cpu) {
    Accelerator accelerator({.mixed_precision = Precision::No, .device = "cpu:0"});
    auto model = accelerator.prepare(small_model());
    EXPECT_EQ(value(model(torch::full({1}, 2.0))), 2);
}

}  // namespace
}  // namespace mantissa
