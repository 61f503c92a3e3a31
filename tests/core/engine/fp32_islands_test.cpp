#include "engine/fp32_islands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "engine/island_entries.h"
#include "engine/module_scope.h"
#include "small_model.h"

namespace mantissa {
namespace {

using ::testing::HasSubstr;

// A model of a user's own: it tells its path and computes what the test gives it.
struct Gate : torch::nn::Module {
    using Function = std::function<torch::Tensor(const torch::Tensor&)>;
    explicit Gate(Function what) : function(std::move(what)) {}
    torch::Tensor forward(const torch::Tensor& input) {
        const ModuleScope here(path);
        return function(input);
    }
    const std::string path = "gate";
    Function function;
    torch::Tensor weight = register_parameter("weight", torch::ones({1}));
};

Accelerator fp16(std::vector<std::string> islands) {
    return Accelerator({.mixed_precision = Precision::Fp16, .device = "cpu", .fp32_islands = std::move(islands)});
}

double through(std::vector<std::string> islands, const torch::Tensor& input, Gate::Function function) {
    Accelerator accelerator = fp16(std::move(islands));
    auto model = accelerator.prepare(std::make_shared<Gate>(std::move(function)));
    return value(model(input));
}

Error error_of(const std::function<void()>& function) {
    try {
        function();
    } catch (const EngineError& error) {
        return error.error();
    }
    ADD_FAILURE() << "accepted";
    return {};
}

torch::Tensor half(double number) { return torch::full({1}, number, at::kHalf); }
torch::Tensor product(const torch::Tensor& x) { return x * 231; }
torch::Tensor sum_of_many(const torch::Tensor& x) { return x.expand({70000}).sum(); }

TEST(Fp32Islands, A_product_that_half_cannot_hold_is_finite_in_its_island) {
    EXPECT_EQ(through({}, half(308), product), infinity);
    EXPECT_EQ(through({"gate.mul"}, half(308), product), 71148);
    EXPECT_EQ(through({"aten::mul"}, half(308), product), 71148);
    EXPECT_EQ(through({"gate"}, half(308), product), 71148);
    EXPECT_EQ(through({"gate.mul", "gate"}, half(308), product), 71148);
    EXPECT_EQ(through({"other.mul"}, half(308), product), infinity);  // never stepped, so nobody complained
    EXPECT_EQ(through({"aten::mul_"}, half(308), product), 71148);     // the trailing _ is not a part of the name
}

TEST(Fp32Islands, Each_form_of_an_operation_is_one) {
    const auto x = half(308);
    const std::vector<std::pair<std::string, Gate::Function>> cases{
        {"aten::mul", [](const torch::Tensor& t) { return at::mul(t, half(231)); }},
        {"aten::mul", [](const torch::Tensor& t) { return t * torch::full({1}, 231, at::kHalf); }},
        {"aten::square", [](const torch::Tensor& t) { return at::square(t) / 94864. * 71148; }},
        {"aten::matmul", [](const torch::Tensor& t) { return at::matmul(t.view({1, 1}), half(231).view({1, 1})); }},
        {"aten::linear", [](const torch::Tensor& t) { return at::linear(t.view({1, 1}), half(231).view({1, 1})); }},
        {"aten::einsum", [](const torch::Tensor& t) { return at::einsum("i,i->i", {t, half(231)}); }},
        {"aten::cat", [](const torch::Tensor& t) { return at::cat({t, half(231)}).prod(0, false, at::kFloat); }}};
    for (const auto& [op, function] : cases) {
        EXPECT_EQ(through({op}, x, function), 71148) << op;
    }
}

TEST(Fp32Islands, Reductions_accumulate_and_answer_in_fp32) {
    EXPECT_EQ(through({}, half(1), sum_of_many), infinity);
    EXPECT_EQ(through({"aten::sum"}, half(1), sum_of_many), 70000);
    const auto asked_for_half = [](const torch::Tensor& x) { return x.expand({70000}).sum(at::kHalf); };
    EXPECT_EQ(through({"gate.sum"}, half(1), asked_for_half), 70000);
    // 1/3 in half is 0.33325195, in fp32 0.33333334.
    const auto softmax = [](const torch::Tensor& x) { return torch::softmax(x.expand({3}), 0)[0]; };
    EXPECT_EQ(through({}, half(1), softmax), 0.333251953125);
    EXPECT_FLOAT_EQ(through({"aten::softmax"}, half(1), softmax), 1.0F / 3);
}

TEST(Fp32Islands, Attention_and_norms_match_as_a_whole) {
    // Softmax inside the attention belongs to the attention: it must not meet half operands there.
    const auto attention = [](const torch::Tensor& x) {
        const auto q = x.expand({1, 1, 4, 8}).contiguous();
        const auto mask = torch::zeros({4, 4}, at::kHalf);
        return at::scaled_dot_product_attention(q, q, q, mask).mean();
    };
    EXPECT_EQ(through({"aten::softmax"}, half(1), attention), 1);
    EXPECT_EQ(through({"aten::scaled_dot_product_attention"}, half(1), attention), 1);
    // The variance of ±300 is 90000: fp16 can't hold it, whatever the kernel does inside.
    const auto norm = [](const torch::Tensor& x) {
        const auto row = at::cat({x * 300, x * -300});
        EXPECT_EQ(at::layer_norm(row, {2}).scalar_type(), at::kFloat);
        return at::layer_norm(row, {2})[0];
    };
    EXPECT_NEAR(through({"gate.layer_norm"}, half(1), norm), 1, 1e-6);
}

TEST(Fp32Islands, Gradients_are_those_of_the_fp32_computation) {
    auto left = torch::full({1}, 308.0F, torch::requires_grad());
    auto right = torch::full({1}, 231.0F, torch::requires_grad());
    Accelerator accelerator = fp16({"aten::mul"});
    torch::Tensor loss;
    {
        const auto amp = accelerator.autocast();
        const auto result = left.to(at::kHalf) * right.to(at::kHalf);
        EXPECT_EQ(result.scalar_type(), at::kFloat);
        loss = result * 0.5;
    }
    loss.backward();
    EXPECT_EQ(value(left.grad()), 115.5);
    EXPECT_EQ(value(right.grad()), 154);
}

TEST(Fp32Islands, A_linear_inside_autocast_uses_the_fp32_weight_and_its_gradient) {
    torch::manual_seed(5);
    const auto input = torch::randn({3, 7});
    auto weight = torch::randn({5, 7}, torch::requires_grad());
    auto same = weight.detach().clone().requires_grad_();
    at::linear(input, same).square().sum().backward();
    Accelerator accelerator = fp16({"aten::linear", "aten::square"});
    torch::Tensor loss;
    {
        const auto amp = accelerator.autocast();
        loss = at::linear(input, weight).square().sum();
    }
    loss.backward();
    EXPECT_TRUE(torch::equal(weight.grad(), same.grad()));
}

TEST(Fp32Islands, Neighbours_stay_half_and_the_weight_cache_stays_right) {
    Accelerator accelerator = fp16({"aten::mul"});
    const auto input = torch::ones({1, 1});
    auto weight = torch::full({1, 1}, 3.0F, torch::requires_grad());
    const auto amp = accelerator.autocast();
    const auto first = at::linear(input, weight);  // fills the cache
    EXPECT_EQ(first.scalar_type(), at::kHalf);
    EXPECT_EQ((first * first).scalar_type(), at::kFloat);
    EXPECT_EQ(at::linear(first * first, weight).scalar_type(), at::kHalf);  // casts its operand again
    EXPECT_EQ((first + first).scalar_type(), at::kHalf);
    EXPECT_EQ(value(at::linear(input, weight)), 3);
}

TEST(Fp32Islands, Only_this_thread_and_only_the_scope) {
    Accelerator accelerator = fp16({"aten::mul"});
    EXPECT_EQ(value(half(308) * half(231)), infinity);
    {
        const auto outer = accelerator.autocast();
        {
            const auto inner = accelerator.autocast();
            EXPECT_EQ(value(half(308) * half(231)), 71148);
        }
        EXPECT_EQ(value(half(308) * half(231)), 71148);
        double elsewhere = 0;
        std::thread([&] { elsewhere = value(half(308) * half(231)); }).join();
        EXPECT_EQ(elsewhere, infinity);
        EXPECT_THROW(throw std::runtime_error("passes"), std::runtime_error);
    }
    EXPECT_EQ(value(half(308) * half(231)), infinity);
}

TEST(Fp32Islands, Work_in_place_on_half_memory_is_refused_and_on_fp32_memory_computes) {
    const auto in_place = [](const torch::Tensor& x) { return x.clone().mul_(half(231)); };
    const Error error = error_of([&] { through({"gate.mul"}, half(308), in_place); });
    EXPECT_EQ(error.message, "fp32_islands: aten::mul_ in gate writes in place into float16 memory, so it can't compute in fp32");
    EXPECT_THAT(error.hint, HasSubstr("c = a * b"));
    EXPECT_EQ(through({"gate.mul"}, torch::full({1}, 308.0F), in_place), 71148);
    // A whole module may fill memory that was made half outside of it; nothing is computed from it.
    const auto fills = [](const torch::Tensor& x) {
        auto copy = at::clone(x);
        copy.copy_(half(2));
        return copy * 231;
    };
    EXPECT_EQ(through({"gate"}, half(308), fills), 462);
}

TEST(Fp32Islands, Views_stay_views) {
    const auto writes_through = [](const torch::Tensor& x) {
        auto base = x.clone();
        base.view({1}).detach().copy_(half(5));
        return base;
    };
    EXPECT_EQ(through({"gate"}, half(1), writes_through), 5);
}

TEST(Fp32Islands, Entries_that_can_name_nothing_are_refused_at_once) {
    EXPECT_EQ(error_of([] { fp16({"gate", "aten::softmx"}); }).message,
              "fp32_islands[1] is \"aten::softmx\", but torch has no such operation");
    EXPECT_THAT(error_of([] { fp16({"aten::softmx"}); }).hint, HasSubstr("aten::softmax"));
    EXPECT_THAT(error_of([] { fp16({"aten::view"}); }).message, HasSubstr("view only moves or looks at values"));
    for (const char* nothing : {"", "gate.", ".mul", "aten::", "a b"}) {
        EXPECT_THAT(error_of([&] { fp16({nothing}); }).message, HasSubstr("which names nothing")) << nothing;
    }
}

Error after_a_step(std::vector<std::string> islands, Precision precision = Precision::Fp16) {
    Accelerator accelerator({.mixed_precision = precision, .device = "cpu", .fp32_islands = std::move(islands)});
    auto raw = std::make_shared<Gate>(nullptr);
    raw->function = [weight = raw->weight](const torch::Tensor& x) { return at::linear(x, weight.view({1, 1})).relu() * 2; };
    auto optimizer = accelerator.prepare(sgd(raw->parameters()));
    auto model = accelerator.prepare(std::move(raw));
    return error_of([&] {
        for (int i = 0; i < 2; ++i) {
            accelerator.backward(model(torch::ones({1, 1})).sum());
            optimizer.step();
        }
    });
}

TEST(Fp32Islands, What_matched_nothing_in_the_first_step_is_refused_with_what_ran) {
    Error error = after_a_step({"gate.linear", "gate.mull"});
    EXPECT_EQ(error.message, "fp32_islands[1] is \"gate.mull\", but gate ran no mull in the first step");
    EXPECT_EQ(error.hint, "it ran linear, mul, relu, view");
    error = after_a_step({"gait.mul"});
    EXPECT_EQ(error.message, "fp32_islands[0] is \"gait.mul\", but no module of that path ran in the first step");
    EXPECT_THAT(error.hint, HasSubstr("gate.mul"));
    error = after_a_step({"aten::tanh"});
    EXPECT_EQ(error.message, "fp32_islands[0] is \"aten::tanh\", but no tanh ran in the first step");
    error = after_a_step({"aten::matmul"});
    EXPECT_EQ(error.message,
              "fp32_islands[0] is \"aten::matmul\", but matmul only ran inside other operations in the first step");
    EXPECT_EQ(error.hint, "name the operation that runs it: aten::linear");
}

TEST(Fp32Islands, Only_what_ran_at_that_path_is_offered_for_an_op_that_other_paths_ran) {
    const auto sentence = [](const char* entry) {
        IslandLog log;
        log.outermost("head", "linear");
        log.outermost("head", "addmm");
        log.outermost("down", "matmul");
        log.inner("addmm", "linear");
        return log.unmatched(IslandEntries({entry})).value();
    };
    EXPECT_EQ(sentence("down.addmm").message, "fp32_islands[0] is \"down.addmm\", but down ran no addmm in the first step");
    EXPECT_EQ(sentence("down.addmm").hint, "it ran matmul");
    EXPECT_EQ(sentence("aten::linea").hint, "these ran: aten::addmm, aten::linear, aten::matmul");
}

TEST(Fp32Islands, A_mistake_is_found_in_mode_no_too) {
    EXPECT_EQ(after_a_step({"gate.mull"}, Precision::No).message,
              "fp32_islands[0] is \"gate.mull\", but gate ran no mull in the first step");
}

}  // namespace
}  // namespace mantissa
