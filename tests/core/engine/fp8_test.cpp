#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "devices/memory_meter.h"
#include "engine/fp8_linear.h"
#include "engine/module_scope.h"
#include "small_model.h"

namespace mantissa {
namespace {

using at::Tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr at::ScalarType e4m3 = at::kFloat8_e4m3fn, e5m2 = at::kFloat8_e5m2;

Error error_of(const std::function<void()>& function) {
    try {
        function();
    } catch (const EngineError& error) {
        return error.error();
    }
    ADD_FAILURE() << "accepted";
    return {};
}

std::vector<double> numbers(const Tensor& tensor) {
    const Tensor all = tensor.to(at::kDouble).contiguous().view({-1});
    return {all.data_ptr<double>(), all.data_ptr<double>() + all.numel()};
}

std::vector<double> cast_of(std::initializer_list<float> values, at::ScalarType format) {
    return numbers(std::get<0>(to_fp8(torch::tensor(at::ArrayRef<float>(values)), format)));
}

// What the products are given, in double: cast, and multiplied back.
Tensor seen_by_product(const Tensor& values, at::ScalarType format) {
    const auto [cast, scale] = to_fp8(values, format);
    return cast.to(at::kDouble) * scale.to(at::kDouble);
}

TEST(Fp8Cast, The_scale_is_the_largest_power_of_two_that_keeps_the_largest_value_in_the_format) {
    for (const at::ScalarType format : {e4m3, e5m2}) {
        const double end = format == e4m3 ? 448 : 57344;
        for (const float largest : {448.0F, 448.0001F, 57344.0F, 57345.0F, 1.0F, 1.76F, 3e-30F, 3.4e38F, -2.5F}) {
            const auto [cast, scale] = to_fp8(torch::tensor({largest, 0.0F}), format);
            const double power = 1 / value(scale);
            EXPECT_EQ(std::exp2(std::round(std::log2(power))), power) << largest;
            EXPECT_LE(std::fabs(largest) * power, end) << largest;
            EXPECT_GT(std::fabs(largest) * power * 2, end) << largest;
            EXPECT_TRUE(std::isfinite(value(cast[0].to(at::kFloat)))) << largest;
        }
    }
    EXPECT_THAT(cast_of({448, -448, 0.5F}, e4m3), ElementsAre(448, -448, 0.5));
    EXPECT_THAT(cast_of({57344, -57344, 0.5F}, e5m2), ElementsAre(57344, -57344, 0.5));
    // One rounding, ties to even; half of the smallest number flushes.
    EXPECT_THAT(cast_of({448, 17, 19, 0x1p-9F, 0x1p-10F, 0x1.8p-10F}, e4m3), ElementsAre(448, 16, 20, 0x1p-9, 0, 0x1p-9));
    EXPECT_THAT(cast_of({57344, 9, 11, 0x1p-16F, 0x1p-17F}, e5m2), ElementsAre(57344, 8, 12, 0x1p-16, 0));
}

TEST(Fp8Cast, Zeros_and_the_smallest_numbers_have_a_finite_scale) {
    for (const float largest : {0.0F, 1e-45F, 1e-38F}) {
        const auto [cast, scale] = to_fp8(torch::full({4}, largest), e4m3);
        EXPECT_TRUE(std::isnormal(value(scale))) << largest;
        EXPECT_TRUE(std::isnormal(1 / static_cast<float>(value(scale)))) << largest;
        EXPECT_LE(std::fabs(value(cast[0].to(at::kFloat)) * value(scale) - largest), largest / 16 + 0x1p-135) << largest;
    }
}

TEST(Fp8Cast, What_is_not_finite_stays_so_and_spoils_nothing_beside_it) {
    const auto nan = static_cast<float>(not_a_number), inf = static_cast<float>(infinity);
    using ::testing::IsNan;
    EXPECT_THAT(cast_of({nan, inf, -inf, 2}, e4m3), ElementsAre(IsNan(), IsNan(), IsNan(), 256));  // it has no Inf
    EXPECT_THAT(cast_of({nan, inf, -inf, 2}, e5m2), ElementsAre(IsNan(), infinity, -infinity, 32768));
    EXPECT_THAT(cast_of({inf}, e5m2), ElementsAre(infinity));
    const auto [cast, scale] = to_fp8(torch::tensor({2.0F, inf}).to(at::kBFloat16), e5m2);
    EXPECT_THAT(numbers(cast.to(at::kDouble) * scale.to(at::kDouble)), ElementsAre(2, infinity));
}

// The fp32 sum of at most 64 terms, then one rounding to bfloat16.
void expect_rounded(const Tensor& got, const Tensor& reference, const Tensor& of_magnitudes) {
    ASSERT_EQ(got.sizes(), reference.sizes());
    const auto one = numbers(got), right = numbers(reference), sum = numbers(of_magnitudes);
    for (std::size_t i = 0; i < one.size(); ++i) {
        ASSERT_NEAR(one[i], right[i], std::fabs(right[i]) * 0x1p-8 + sum[i] * 1e-6) << i;
    }
}

struct Shape {
    std::vector<std::int64_t> input;
    std::int64_t out;
    bool has_bias;
    friend std::ostream& operator<<(std::ostream& stream, const Shape& shape) {
        for (const std::int64_t size : shape.input) stream << size << 'x';
        return stream << shape.out << (shape.has_bias ? " with bias" : "");
    }
};

class Fp8LinearOf : public ::testing::TestWithParam<Shape> {};

TEST_P(Fp8LinearOf, Three_products_are_those_of_the_fp8_operands_rounded_once) {
    const auto& [shape, out, has_bias] = GetParam();
    torch::manual_seed(5);
    const std::int64_t in = shape.back();
    const Tensor input = (torch::randn(shape) * 900).requires_grad_(), weight = (torch::randn({out, in}) * 1e-3).requires_grad_();
    const Tensor bias = has_bias ? torch::randn({out}).requires_grad_() : Tensor();
    const Tensor output = fp8_linear(input, weight, has_bias ? std::optional(bias) : std::nullopt);
    EXPECT_EQ(output.scalar_type(), at::kBFloat16);
    const Tensor gradient = (torch::randn(output.sizes()) * 1e-7).to(at::kBFloat16);
    output.backward(gradient);

    const Tensor x = seen_by_product(input.detach(), e4m3).view({-1, in}), w = seen_by_product(weight.detach(), e4m3);
    const Tensor g = seen_by_product(gradient, e5m2).view({-1, out});
    const Tensor b = has_bias ? bias.detach().to(at::kBFloat16).to(at::kDouble) : torch::zeros({out}, at::kDouble);
    expect_rounded(output.detach(), (x.mm(w.t()) + b).view(output.sizes()), (x.abs().mm(w.abs().t()) + b.abs()).view(output.sizes()));
    expect_rounded(input.grad(), g.mm(w).view(shape), g.abs().mm(w.abs()).view(shape));
    expect_rounded(weight.grad(), g.t().mm(x), g.abs().t().mm(x.abs()));
    EXPECT_EQ(weight.grad().scalar_type(), at::kFloat);
    if (!has_bias) return;
    const Tensor plain = gradient.to(at::kDouble).view({-1, out});
    expect_rounded(bias.grad(), plain.sum(0), plain.abs().sum(0));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Fp8LinearOf,
                         ::testing::Values(Shape{{32, 64}, 48, true}, Shape{{16, 16}, 16, false}, Shape{{15, 32}, 16, true},
                                           Shape{{17, 16}, 32, false}, Shape{{2, 5, 48}, 16, true}, Shape{{64}, 32, true}));

struct Pair : torch::nn::Module {
    Pair(std::int64_t in, std::int64_t out, bool in_place = false) : writes_in_place(in_place) {
        first = register_module("first", torch::nn::Linear(in, 32));
        last = register_module("last", torch::nn::Linear(32, out));
    }
    Tensor forward(const Tensor& input) {
        const Tensor middle = first->forward(input);
        return last->forward(writes_in_place ? middle.relu_() : middle.relu());
    }
    bool writes_in_place;
    torch::nn::Linear first{nullptr}, last{nullptr};
};

Accelerator fp8(std::vector<std::string> islands = {}, OnNonfinite rule = OnNonfinite::Stop) {
    return Accelerator({.mixed_precision = Precision::Fp8,
                        .allow_emulated = true,
                        .device = "cpu",
                        .on_nonfinite = rule,
                        .fp32_islands = std::move(islands)});
}

std::vector<std::string> words(const std::vector<Fp8Layer>& layers) {
    std::vector<std::string> list;
    for (const Fp8Layer& one : layers) {
        list.push_back(one.module + " " + std::to_string(one.in) + "-" + std::to_string(one.out) + (one.is_fp8 ? " fp8" : " bf16"));
    }
    return list;
}

TEST(Fp8, A_layer_whose_sizes_are_no_multiples_of_16_stays_bf16_to_the_bit_and_is_noted) {
    torch::manual_seed(3);
    const Tensor input = torch::randn({4, 16});
    for (const auto& [in, out] : {std::pair{16, 16}, {16, 15}, {16, 17}, {15, 16}, {17, 16}}) {
        auto raw = std::make_shared<Pair>(in, out);
        const auto bare = raw;
        const Tensor x = torch::randn({4, in});
        Tensor middle, last;
        {
            const AutocastScope bf16(at::kCPU, at::kBFloat16);
            const Tensor w1 = bare->first->weight, w2 = bare->last->weight;
            middle = in == 16 ? fp8_linear(x, w1, bare->first->bias) : bare->first->forward(x);
            last = out == 16 ? fp8_linear(middle.relu(), w2, bare->last->bias) : bare->last->forward(middle.relu());
        }
        Accelerator accelerator = fp8();
        auto model = accelerator.prepare(std::move(raw));
        EXPECT_TRUE(torch::equal(model(x), last.to(at::kFloat))) << in << " " << out;
        EXPECT_THAT(words(accelerator.fp8_layers()),
                    ElementsAre("first " + std::to_string(in) + "-32 " + (in == 16 ? "fp8" : "bf16"),
                                "last 32-" + std::to_string(out) + (out == 16 ? " fp8" : " bf16")));
    }
    // Nothing of it outlives the scope.
    EXPECT_TRUE(torch::equal(torch::linear(input, torch::ones({16, 16})), input.mm(torch::ones({16, 16}))));
}

TEST(Fp8, Trains_with_fp32_weights_without_a_loss_scale_and_adds_up_gradients) {
    torch::manual_seed(3);
    Accelerator accelerator = fp8();
    EXPECT_EQ(accelerator.mixed_precision(), Precision::Fp8);
    EXPECT_FALSE(accelerator.loss_scale_state());
    auto raw = std::make_shared<Pair>(16, 16, /*in_place=*/true);
    auto optimizer_of = adamw(raw->parameters(), {.learning_rate = 1e-2});
    auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(optimizer_of));
    const Tensor x = torch::randn({20, 16}), y = torch::randn({20, 16});
    const auto loss = [&] { return torch::mse_loss(model(x), y); };
    accelerator.backward(loss());
    const Tensor once = model.parameters()[0].grad().clone();
    EXPECT_GT(value(once.abs().sum()), 0);
    accelerator.backward(loss());
    EXPECT_TRUE(torch::equal(model.parameters()[0].grad(), once * 2));
    optimizer.zero_grad();
    const double start = value(loss());
    for (int i = 0; i < 30; ++i) {
        accelerator.backward(loss());
        optimizer.step();
        optimizer.zero_grad();
    }
    EXPECT_LT(value(loss()), start * 0.7);
    EXPECT_EQ(model.parameters()[0].scalar_type(), at::kFloat);
}

TEST(Fp8, Bad_values_reach_the_loss_and_no_weight) {
    for (const double bad : {infinity, not_a_number}) {
        Accelerator accelerator = fp8();
        auto raw = std::make_shared<Pair>(16, 16);
        auto optimizer_of = adamw(raw->parameters(), {.learning_rate = 1e-2});
        auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(optimizer_of));
        Tensor x = torch::ones({16, 16});
        x[3][5] = bad;
        const Tensor output = model(x), before = model.parameters()[0].clone();
        EXPECT_FALSE(output[3].isfinite().any().item<bool>());
        EXPECT_TRUE(output[2].isfinite().all().item<bool>());  // a row of its own
        accelerator.backward(output.sum());
        EXPECT_EQ(error_of([&] { optimizer.step(); }).code, ErrorCode::NonFinite);
        EXPECT_TRUE(torch::equal(model.parameters()[0], before));
    }
}

TEST(Fp8, Islands_are_fp32_by_path_by_path_and_op_and_by_op) {
    torch::manual_seed(3);
    const Tensor x = torch::randn({16, 16});
    for (const char* island : {"first", "first.addmm", "aten::addmm"}) {
        struct Named : Pair {
            Named() : Pair(16, 16) {}
            Tensor forward(const Tensor& input) {
                const ModuleScope here(path);
                return first->forward(input);
            }
            const std::string path = "first";
        };
        auto raw = std::make_shared<Named>();
        const Tensor fp32 = raw->first->forward(x);
        Accelerator accelerator = fp8({island});
        auto model = accelerator.prepare(std::move(raw));
        EXPECT_TRUE(torch::equal(model(x), fp32)) << island;
        EXPECT_TRUE(accelerator.fp8_layers().empty());
    }
    Accelerator accelerator = fp8();
    const Tensor weight = torch::randn({16, 16}), fp32 = x.mm(weight.t());
    const auto block = accelerator.autocast();
    EXPECT_TRUE(torch::equal(torch::linear(x, weight), fp8_linear(x, weight, std::nullopt)));
    const auto island = accelerator.fp32_island();
    EXPECT_TRUE(torch::equal(torch::linear(x, weight), fp32));
}

TEST(Fp8, A_product_is_a_linear_layer_where_its_right_side_is_a_weight_trained_or_frozen) {
    torch::manual_seed(3);
    const Tensor x = torch::randn({2, 8, 16});
    for (const bool is_frozen : {false, true}) {
        for (const bool is_evaluation : {false, true}) {
            auto raw = std::make_shared<Pair>(16, 16);
            raw->first->weight.set_requires_grad(!is_frozen);
            const Tensor trained = raw->first->weight;
            Accelerator accelerator = fp8();
            auto model = accelerator.prepare(std::move(raw));
            model(x[0]);  // from here on its weights are known
            const torch::AutoGradMode mode(!is_evaluation);
            const auto block = accelerator.autocast();
            const Tensor whole = fp8_linear(x, trained, std::nullopt), activation = torch::randn({16, 16});
            EXPECT_TRUE(torch::equal(x.matmul(trained.t()), whole));
            EXPECT_TRUE(torch::equal(x[0].mm(trained.t()), fp8_linear(x[0], trained, std::nullopt)));
            EXPECT_TRUE(torch::equal(torch::addmm(torch::zeros({32}), x[0], trained.t()), fp8_linear(x[0], trained, torch::zeros({32}))));
            // (16, 32) as it lies: its transpose is the weight.
            const Tensor y = torch::randn({4, 32});
            EXPECT_TRUE(torch::equal(y.mm(trained), fp8_linear(y, trained.t(), std::nullopt)));
            EXPECT_FALSE(torch::equal(x[0].mm(activation), fp8_linear(x[0], activation.t(), std::nullopt)));
            EXPECT_FALSE(torch::equal(torch::addmm(torch::zeros({32}), x[0], trained.t(), 1, 2), 2 * fp8_linear(x[0], trained, std::nullopt)));
        }
    }
}

TEST(Fp8, TorchScript_gives_the_bits_of_eager_mode) {
    torch::manual_seed(3);
    torch::jit::Module net("Net"), down("Down");
    const Tensor weight = torch::randn({32, 16}), x = torch::randn({8, 16});
    down.register_parameter("weight", weight.clone().requires_grad_(), false);
    down.define("def forward(self, x):\n    return torch.linear(x, self.weight)\n");
    net.register_module("down", down);
    net.register_attribute("training", c10::BoolType::get(), true);
    net.define("def forward(self, x):\n    return self.down.forward(x)\n");
    Accelerator accelerator = fp8();
    auto model = accelerator.prepare(std::move(net));
    const Tensor output = model(x).toTensor(), plain = weight.clone().requires_grad_();
    const Tensor eager = fp8_linear(x, plain, std::nullopt).to(at::kFloat);
    EXPECT_TRUE(torch::equal(output, eager));
    output.square().sum().backward();
    eager.square().sum().backward();
    EXPECT_TRUE(torch::equal(model.parameters()[0].grad(), plain.grad()));
    EXPECT_THAT(words(accelerator.fp8_layers()), ElementsAre("down 16-32 fp8"));
}

TEST(Fp8, Keeps_one_byte_a_value_for_backward_and_only_what_it_needs) {
    MemoryMeter memory(at::kCPU);
    const auto kept = [&](bool input_needs_gradient, bool in_fp8) {
        const Tensor x = torch::randn({64, 128}).requires_grad_(input_needs_gradient), w = torch::randn({256, 128}).requires_grad_();
        const std::int64_t before = memory.current_bytes();
        const AutocastScope bf16(at::kCPU, at::kBFloat16);
        const Tensor y = in_fp8 ? fp8_linear(x, w, std::nullopt) : torch::linear(x, w);
        return memory.current_bytes() - before - static_cast<std::int64_t>(y.nbytes());
    };
    const std::int64_t values = 64 * 128, weights = 256 * 128;
    EXPECT_NEAR(kept(true, true), values + weights, 64);
    EXPECT_NEAR(kept(false, true), values, 64);
    EXPECT_GE(kept(true, false), 2 * (values + weights));
}

TEST(Fp8, A_second_derivative_is_refused) {
    const Tensor x = torch::ones({16, 16}).requires_grad_(), w = torch::ones({16, 16}).requires_grad_();
    const Tensor y = fp8_linear(x, w, std::nullopt).sum();
    const Error error = error_of([&] { static_cast<void>(torch::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true)); });
    EXPECT_THAT(error.message, HasSubstr("second derivative"));
}

TEST(Fp8, A_CPU_trains_in_it_only_where_emulation_is_allowed) {
    const Error refused = error_of([] { Accelerator({.mixed_precision = Precision::Fp8, .device = "cpu"}); });
    EXPECT_EQ(refused.code, ErrorCode::UnsupportedPrecision);
    EXPECT_EQ(refused.message, "fp8 (from the argument) can't be used: cpu has no fp8 units");
    EXPECT_THAT(refused.hint, HasSubstr("allow_emulated"));
    setenv("ACCELERATE_MIXED_PRECISION", "fp8", 1);
    EXPECT_THAT(error_of([] { Accelerator({.device = "cpu"}); }).message, HasSubstr("fp8 (from the ACCELERATE_MIXED_PRECISION)"));
    EXPECT_EQ(Accelerator({.allow_emulated = true, .device = "cpu"}).mixed_precision(), Precision::Fp8);
}

}  // namespace
}  // namespace mantissa
