#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <variant>

#include "small_model.h"

namespace mantissa {
namespace {

TEST(Autocast, is_restored_on_every_way_out) {
    const auto dtype = at::autocast::get_autocast_dtype(at::kCPU);
    try {
        const AutocastScope outer(at::kCPU, at::kHalf, true, false);
        EXPECT_TRUE(is_inside_autocast(at::kCPU));
        EXPECT_FALSE(at::autocast::is_autocast_cache_enabled());
        {
            const auto island = AutocastScope::fp32_island(at::kCPU);
            EXPECT_FALSE(is_inside_autocast(at::kCPU));
        }
        EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kHalf);
        EXPECT_TRUE(is_inside_autocast(at::kCPU));
        throw std::runtime_error("on the way out");
    } catch (const std::runtime_error&) {
        EXPECT_FALSE(is_inside_autocast(at::kCPU));
        EXPECT_TRUE(at::autocast::is_autocast_cache_enabled());
        EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), dtype);
        EXPECT_EQ(at::autocast::increment_nesting(), 1);
        EXPECT_EQ(at::autocast::decrement_nesting(), 0);
    }
}

// The cache is keyed by identity: within one region a changed weight is stale, after the outermost exit it is not.
TEST(Autocast, the_cast_cache_ends_with_the_outermost_scope) {
    auto weight = torch::ones({1, 1}, torch::requires_grad());
    const auto input = torch::ones({1, 1});
    const auto forward = [&] { return value(at::linear(input, weight)); };
    {
        const AutocastScope region(at::kCPU, at::kBFloat16);
        EXPECT_EQ(forward(), 1);
        {
            const torch::NoGradGuard no_grad;
            weight.add_(1);
        }
        {
            const AutocastScope inner(at::kCPU, at::kBFloat16);
            EXPECT_EQ(forward(), 1);  // the inner exit must not clear it
        }
    }
    const AutocastScope next(at::kCPU, at::kBFloat16);
    EXPECT_EQ(forward(), 2);
}

TEST(Autocast, in_mode_no_nothing_is_switched_on) {
    const Accelerator accelerator({.mixed_precision = Precision::No});
    const auto scope = accelerator.autocast();
    EXPECT_FALSE(is_inside_autocast(at::kCPU));
}

TEST(Autocast, an_island_keeps_fp32_inside_autocast) {
    const Accelerator accelerator({.mixed_precision = Precision::Fp16});
    const auto scope = accelerator.autocast();
    const auto a = torch::full({1, 1}, 300.0F);
    EXPECT_EQ(at::mm(a, a).scalar_type(), at::kHalf);
    EXPECT_EQ(value(at::mm(a, a)), infinity);
    const auto island = accelerator.fp32_island();
    EXPECT_EQ(value(at::mm(a, a)), 90000);
}

// pytorch#112583: a cast made under no_grad must not be found again by the forward that needs a graph.
TEST(Autocast, a_forward_without_grad_does_not_cut_the_next_one) {
    Accelerator accelerator({.mixed_precision = Precision::Bf16});
    auto model = accelerator.prepare(torch::nn::Linear(2, 2));
    const auto region = accelerator.autocast();
    {
        const torch::NoGradGuard no_grad;
        model(torch::ones({1, 2}));
    }
    const auto output = model(torch::ones({1, 2}));
    EXPECT_TRUE(output.requires_grad());
    output.sum().backward();
    EXPECT_TRUE(model.unwrap()->weight.grad().defined());
}

// Override: an island inside autocast, a block in it, and every way back.
TEST(Autocast, blocks_are_overridden_and_restored_when_nested) {
    const Accelerator accelerator({.mixed_precision = Precision::Bf16});
    const auto dtype_of_product = [] { return at::mm(torch::ones({1, 1}), torch::ones({1, 1})).scalar_type(); };
    {
        const auto amp = accelerator.autocast();
        EXPECT_EQ(dtype_of_product(), at::kBFloat16);
        {
            const auto island = accelerator.autocast({.enabled = false});
            EXPECT_EQ(dtype_of_product(), at::kFloat);
            {
                const auto again = accelerator.autocast({.cache_enabled = false});
                EXPECT_EQ(dtype_of_product(), at::kBFloat16);
                EXPECT_FALSE(at::autocast::is_autocast_cache_enabled());
                const auto inherits = accelerator.autocast();
                EXPECT_FALSE(at::autocast::is_autocast_cache_enabled());
            }
            EXPECT_TRUE(at::autocast::is_autocast_cache_enabled());
            EXPECT_EQ(dtype_of_product(), at::kFloat);
        }
        const auto same = accelerator.autocast({.dtype = at::kFloat});
        EXPECT_EQ(dtype_of_product(), at::kFloat);
    }
    EXPECT_EQ(dtype_of_product(), at::kFloat);
    EXPECT_THROW(static_cast<void>(accelerator.autocast({.dtype = at::kHalf})), EngineError);
}

// Without the cache a changed weight is seen within one block (measured with torch: 2 instead of a stale 1).
TEST(Autocast, the_cache_switch) {
    const Accelerator accelerator({.mixed_precision = Precision::Bf16});
    auto weight = torch::ones({1, 1}, torch::requires_grad());
    const auto block = accelerator.autocast({.cache_enabled = false});
    EXPECT_EQ(value(at::linear(torch::ones({1, 1}), weight)), 1);
    {
        const torch::NoGradGuard no_grad;
        weight.add_(1);
    }
    EXPECT_EQ(value(at::linear(torch::ones({1, 1}), weight)), 2);
}

struct Deep : torch::nn::Module {
    using Outputs = std::tuple<std::vector<std::map<std::string, torch::Tensor>>, std::unordered_map<int, std::optional<torch::Tensor>>,
                               std::pair<torch::Tensor, int>, std::array<torch::Tensor, 2>, std::variant<int, torch::Tensor>,
                               std::vector<std::tuple<std::vector<torch::Tensor>>>, c10::IValue>;
    Outputs forward(const torch::Tensor& input) {
        const torch::Tensor half = input.to(at::kHalf), wide = input.to(at::kDouble);
        c10::impl::GenericDict dict(c10::StringType::get(), c10::TensorType::get());
        dict.insert("inner", half);
        return {{{{"a", half}}}, {{1, half}, {2, std::nullopt}}, {half, 7}, {half, wide}, half, {{{half, wide}}},
                c10::ivalue::Tuple::create({half, c10::List<torch::Tensor>({half, wide}), dict, 3})};
    }
};

TEST(Autocast, outputs_are_fp32_however_deep_they_lie) {
    Accelerator accelerator({.mixed_precision = Precision::Fp16});
    auto model = accelerator.prepare(std::make_shared<Deep>());
    const auto [maps, table, pair, array, either, nested, script] = model(torch::ones({1}));
    EXPECT_EQ(maps.at(0).at("a").scalar_type(), at::kFloat);
    EXPECT_EQ(table.at(1)->scalar_type(), at::kFloat);
    EXPECT_FALSE(table.at(2).has_value());
    EXPECT_EQ(pair.first.scalar_type(), at::kFloat);
    EXPECT_EQ(pair.second, 7);
    EXPECT_EQ(array[0].scalar_type(), at::kFloat);
    EXPECT_EQ(array[1].scalar_type(), at::kDouble);
    EXPECT_EQ(std::get<torch::Tensor>(either).scalar_type(), at::kFloat);
    EXPECT_EQ(std::get<0>(nested.at(0)).at(0).scalar_type(), at::kFloat);
    EXPECT_EQ(std::get<0>(nested.at(0)).at(1).scalar_type(), at::kDouble);
    const auto& elements = script.toTupleRef().elements();
    EXPECT_EQ(elements[0].toTensor().scalar_type(), at::kFloat);
    EXPECT_EQ(elements[1].toTensorVector().at(0).scalar_type(), at::kFloat);
    EXPECT_EQ(elements[1].toTensorVector().at(1).scalar_type(), at::kDouble);
    EXPECT_EQ(elements[2].toGenericDict().at("inner").toTensor().scalar_type(), at::kFloat);
    EXPECT_EQ(elements[3].toInt(), 3);
}

TEST(Autocast, outputs_may_stay_half) {
    Accelerator accelerator({.mixed_precision = Precision::Fp16, .keep_half_outputs = true});
    auto model = accelerator.prepare(std::make_shared<Deep>());
    EXPECT_EQ(std::get<2>(model(torch::ones({1}))).first.scalar_type(), at::kHalf);
}

struct WithAnotherMethod : torch::nn::Module {
    WithAnotherMethod() : layer(register_module("layer", torch::nn::Linear(2, 2))) {}
    torch::Tensor forward(const torch::Tensor& input) { return seen = layer(input); }
    torch::Tensor encode(const torch::Tensor& input) { return layer(input); }
    torch::nn::Linear layer;
    torch::Tensor seen;
};

TEST(Autocast, only_the_forward_of_a_prepared_model_is_wrapped) {
    Accelerator accelerator({.mixed_precision = Precision::Bf16});
    auto model = accelerator.prepare(std::make_shared<WithAnotherMethod>());
    EXPECT_EQ(model->forward(torch::ones({1, 2})).scalar_type(), at::kFloat);  // `->` doesn't leave the mode
    EXPECT_EQ(model.unwrap()->seen.scalar_type(), at::kBFloat16);
    EXPECT_EQ(model.unwrap()->encode(torch::ones({1, 2})).scalar_type(), at::kFloat);
    {
        const auto amp = accelerator.autocast();
        EXPECT_EQ(model.unwrap()->encode(torch::ones({1, 2})).scalar_type(), at::kBFloat16);
    }
    auto wrapped = accelerator.unwrap_model(model);
    wrapped(torch::ones({1, 2}));
    EXPECT_EQ(model.unwrap()->seen.scalar_type(), at::kBFloat16);
    auto bare = accelerator.unwrap_model<false>(model);
    static_assert(std::is_same_v<decltype(bare), std::shared_ptr<WithAnotherMethod>>);
    bare->forward(torch::ones({1, 2}));
    EXPECT_EQ(bare->seen.scalar_type(), at::kFloat);
}

struct ManyOutputs : torch::nn::Module {
    using Outputs = std::tuple<torch::Tensor, torch::Tensor, std::map<std::string, torch::Tensor>, std::string, torch::Tensor>;
    Outputs forward(const torch::Tensor& input) {
        return {input.to(at::kHalf), input.to(at::kDouble), {{"inner", input.to(at::kBFloat16)}}, "text", input.to(at::kLong)};
    }
};

TEST(Autocast, outputs_come_back_in_fp32_and_everything_else_untouched) {
    Accelerator accelerator({.mixed_precision = Precision::Fp16});
    auto model = accelerator.prepare(std::make_shared<ManyOutputs>());
    const auto [half, wide, inner, text, whole] = model(torch::full({4}, 300.0F));
    EXPECT_EQ(half.scalar_type(), at::kFloat);
    EXPECT_EQ(wide.scalar_type(), at::kDouble);
    EXPECT_EQ(inner.at("inner").scalar_type(), at::kFloat);
    EXPECT_EQ(text, "text");
    EXPECT_EQ(whole.scalar_type(), at::kLong);
    // accelerate#101: the squared error of 300 doesn't fit in half; the output is fp32, so it does.
    EXPECT_EQ(value(torch::mse_loss(half, torch::zeros({4}))), 90000);
}

struct Halves : torch::nn::Module {
    torch::Tensor forward(const torch::Tensor& input) { return input.to(at::kHalf); }
};

// pytorch#85791: cross entropy of 70,000 rows; reduced in half it is 0, or the sum leaves the format.
TEST(Autocast, cross_entropy_of_half_outputs_is_reduced_in_fp32) {
    Accelerator accelerator({.mixed_precision = Precision::Fp16});
    auto model = accelerator.prepare(std::make_shared<Halves>());
    const auto amp = accelerator.autocast();
    const auto logits = model(torch::zeros({70000, 2}));
    EXPECT_NEAR(value(torch::cross_entropy_loss(logits, torch::zeros({70000}, at::kLong))), 0.693147, 1e-6);
}

// pytorch#61098: the logits form stays right where the probability form saturates.
TEST(Autocast, binary_cross_entropy_with_logits_of_half_outputs) {
    Accelerator accelerator({.mixed_precision = Precision::Fp16});
    auto model = accelerator.prepare(std::make_shared<Halves>());
    const auto amp = accelerator.autocast();
    const auto losses = torch::binary_cross_entropy_with_logits(model(torch::tensor({-20.0F, 20.0F})),
                                                                torch::tensor({1.0F, 0.0F}), {}, {}, at::Reduction::None);
    EXPECT_NEAR(value(losses[0]), 20, 1e-6);
    EXPECT_NEAR(value(losses[1]), 20, 1e-6);
}

// What autocast does not touch runs in the dtype of its input: x * x overflows from 256 on.
TEST(Autocast, products_stay_in_half) {
    const AutocastScope scope(at::kCPU, at::kHalf);
    const auto square = [](float x) {
        const auto half = torch::full({1}, x, at::kHalf);
        return value(half * half);
    };
    EXPECT_EQ(square(255), 65024);
    EXPECT_EQ(square(256), infinity);
    EXPECT_EQ(square(300), infinity);
}

}  // namespace
}  // namespace mantissa
