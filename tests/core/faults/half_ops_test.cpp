// Autocast's own traps and operations in half: rows 12, 16, 17, and the extra number facts.
#include "engine/safe_ops.h"
#include "fault_testing.h"
#include "models/model.h"

namespace mantissa {
namespace {

// --- Row 12: a cast that was made without a graph must not be taken for one with it.
void expect_a_graph_after_a_forward_without(Precision mode, bool cache) {
    auto options = in_mode(mode);
    options.autocast_cache = cache;
    options.loss_scale.initial = 1024;
    Accelerator accelerator(options);
    torch::nn::Linear linear(2, 2);
    const torch::Tensor weight = linear->weight;
    auto model = accelerator.prepare(std::move(linear));
    torch::Tensor output;
    {
        const auto amp = accelerator.autocast();
        {
            const torch::NoGradGuard no_grad;
            EXPECT_FALSE(model(torch::ones({1, 2})).requires_grad());
        }
        output = model(torch::ones({1, 2}));
    }
    EXPECT_TRUE(output.requires_grad());
    accelerator.backward(output.sum());
    ASSERT_TRUE(weight.grad().defined());
    EXPECT_EQ(value(weight.grad()[0][0]), mode == Precision::Fp16 ? 1024 : 1);
}

TEST(Faults, row_12_a_forward_without_graph_leaves_the_next_its_graph_in_fp16) {
    expect_a_graph_after_a_forward_without(Precision::Fp16, true);
}
TEST(Faults, row_12_in_bf16_too) { expect_a_graph_after_a_forward_without(Precision::Bf16, true); }
TEST(Faults, row_12_and_without_the_cache) { expect_a_graph_after_a_forward_without(Precision::Fp16, false); }

// Its relative: the cache is keyed by the tensor, not by its version.
TEST(Faults, row_12_a_changed_weight_is_seen_after_the_region_or_without_the_cache) {
    for (const bool cache : {true, false}) {
        auto options = in_mode(Precision::Bf16);
        options.autocast_cache = cache;
        Accelerator accelerator(options);
        const auto weight = torch::ones({1, 1}, torch::requires_grad()), input = torch::ones({1, 1});
        {
            const auto amp = accelerator.autocast();
            EXPECT_EQ(value(torch::linear(input, weight)), 1);
            weight.data().add_(1);
            EXPECT_EQ(value(torch::linear(input, weight)), cache ? 1 : 2);  // a stale cast
        }
        const auto amp = accelerator.autocast();
        EXPECT_EQ(value(torch::linear(input, weight)), 2);
    }
}

// --- Row 16.
double sum_of_a_wide_linear(Precision mode) {
    Accelerator accelerator(in_mode(mode));
    torch::nn::Linear linear(torch::nn::LinearOptions(1024, 1).bias(false));
    linear->weight.data().fill_(1);
    auto model = accelerator.prepare(std::move(linear));
    return value(model(torch::full({1, 1024}, 100.0F)));
}
TEST(Faults, row_16_fp16_ends_before_102400) { EXPECT_EQ(sum_of_a_wide_linear(Precision::Fp16), infinity); }
TEST(Faults, row_16_bf16_holds_it) { EXPECT_EQ(sum_of_a_wide_linear(Precision::Bf16), 102400); }
TEST(Faults, row_16_fp32_too) { EXPECT_EQ(sum_of_a_wide_linear(Precision::No), 102400); }

// The cure that needs no other mode: this one layer in fp32, everything else in fp16.
TEST(Faults, row_16_an_island_holds_it_in_fp16) {
    Accelerator accelerator(fp16(1024));
    auto raw = std::make_shared<LayerList>("wide", std::vector<LayerSpec>{{"sum", "linear_without_bias", {1024, 1}}});
    raw->parameters()[0].data().fill_(1);
    ASSERT_TRUE(raw->set_fp32_islands({"sum"}).ok());
    auto model = accelerator.prepare(std::move(raw));
    EXPECT_EQ(value(model(torch::full({1, 1024}, 100.0F))), 102400);
}

// --- Row 17.
TEST(Faults, row_17_a_square_overflows_in_half_from_256) {
    Accelerator accelerator(fp16(1024));
    const auto amp = accelerator.autocast();
    const auto x = torch::tensor({255.0F, 256.0F, 300.0F}).to(torch::kHalf);
    const auto squares = x * x;
    EXPECT_EQ(value(squares[0]), 65024);
    EXPECT_EQ(value(squares[1]), infinity);
    EXPECT_EQ(value(squares[2]), infinity);
    EXPECT_EQ(value(safe::square(x)[2]), 90000);
    EXPECT_EQ(value((x.to(torch::kFloat).pow(2))[2]), 90000);
}

TEST(Faults, row_17_so_a_norm_in_half_is_zero_and_ours_is_one) {
    Accelerator accelerator(fp16(1024));
    const auto amp = accelerator.autocast();
    const auto x = torch::full({1, 8}, 300, torch::kHalf);
    EXPECT_EQ(value((x * torch::rsqrt((x * x).mean(-1, true)))[0][0]), 0);
    EXPECT_NEAR(value(safe::rms_norm(x)[0][0]), 1, 1e-6);
    const auto weight = torch::full({8}, 2.0F);
    EXPECT_NEAR(value(safe::rms_norm(x, weight)[0][0]), 2, 1e-6);
    const auto spread = torch::tensor({{600.0F, -600.0F}}).to(torch::kHalf);
    EXPECT_NEAR(value(safe::layer_norm(spread)[0][0]), 1, 1e-6);
    EXPECT_NEAR(value(safe::layer_norm(spread, torch::full({2}, 3.0F), torch::ones({2}))[0][0]), 4, 1e-5);
}

// In a model of the catalogue's kind the square can be an island.
TEST(Faults, row_17_an_island_holds_the_square) {
    Accelerator accelerator(fp16(1024));
    for (const bool island : {false, true}) {
        auto raw = std::make_shared<LayerList>("squares", std::vector<LayerSpec>{{"hidden", "linear_without_bias", {1, 1}},
                                                                                  {"square", "square", {}}});
        raw->parameters()[0].data().fill_(300);
        ASSERT_TRUE(raw->set_fp32_islands(island ? std::vector<std::string>{"square"} : std::vector<std::string>{}).ok());
        auto model = accelerator.prepare(std::move(raw));
        EXPECT_EQ(value(model(torch::ones({1, 1}))), island ? 90000 : infinity);
    }
}

// --- Extra number facts.
torch::Tensor cast(double number, at::ScalarType type) { return torch::full({}, number, torch::kDouble).to(torch::kFloat).to(type); }

TEST(Faults, fact_where_half_ends) {
    EXPECT_EQ(value(cast(65519, torch::kHalf)), 65504);
    EXPECT_EQ(value(cast(65520, torch::kHalf)), infinity);
    EXPECT_EQ(value(torch::exp(cast(11.0, torch::kHalf))), 59872);
    EXPECT_EQ(value(torch::exp(cast(11.1, torch::kHalf))), infinity);
    EXPECT_EQ(value(torch::exp(cast(11.1, torch::kBFloat16))), 68096);
    EXPECT_EQ(value(cast(1e-5, torch::kHalf).reciprocal()), infinity);
}

TEST(Faults, fact_a_softmax_written_out_is_nan_in_half_and_the_librarys_is_not) {
    const auto logits = torch::tensor({12.0F, 0.0F}).to(torch::kHalf);
    const auto naive = torch::exp(logits) / torch::exp(logits).sum();
    EXPECT_TRUE(std::isnan(value(naive[0])));
    const auto softmax = torch::softmax(logits, 0);
    EXPECT_EQ(value(softmax[0]), 1);
    EXPECT_NEAR(value(softmax[1]), 6.1e-6, 1e-7);
}

TEST(Faults, fact_a_gradient_of_1e_8_lives_by_the_scale) {
    EXPECT_EQ(value(cast(1e-8, torch::kHalf)), 0);
    EXPECT_NEAR(value(cast(1e-8 * 65536, torch::kHalf)) / 65536, 9.997e-9, 1e-12);
}

// The same through a product under the accelerator: the gradient of the half copy passes through fp16.
TEST(Faults, fact_the_accelerator_brings_it_through) {
    const auto weight = torch::ones({1, 1}, torch::requires_grad());
    Accelerator accelerator(fp16(65536));
    auto optimizer = accelerator.prepare(sgd({weight}, {.learning_rate = 1}));
    torch::Tensor loss;
    {
        const auto amp = accelerator.autocast();
        loss = torch::linear(torch::ones({1, 1}), weight).to(torch::kFloat).sum() * 1e-8;
    }
    accelerator.backward(loss);
    accelerator.unscale_gradients();
    EXPECT_NEAR(value(weight.grad()), 9.997e-9, 1e-12);
}

TEST(Faults, fact_steps_of_the_formats) {
    EXPECT_EQ(value(cast(256, torch::kBFloat16) + 1), 256);
    EXPECT_EQ(value(cast(2048, torch::kHalf) + 1), 2048);
    EXPECT_EQ((cast(1, torch::kHalf).reshape({1}) + torch::ones({1})).scalar_type(), torch::kFloat);
    EXPECT_EQ(value(cast(257, torch::kBFloat16)), 256);
    EXPECT_EQ(value(cast(259, torch::kBFloat16)), 260);
    EXPECT_EQ(value(torch::ones({70000}, torch::kHalf).sum()), infinity);
}

TEST(Faults, fact_an_inf_in_the_first_micro_batch_skips_the_window) {
    auto options = fp16(8);
    options.gradient_accumulation_steps = 2;
    Accelerator accelerator(options);
    Trained trained(accelerator, {.learning_rate = 0.1});
    for (const double gradient : {infinity, 1.0}) {
        accelerator.accumulate();
        accelerator.backward(finite_loss_with_gradient(trained.weight, gradient));
        trained.optimizer.step();
    }
    EXPECT_TRUE(accelerator.optimizer_step_was_skipped());
    EXPECT_EQ(accelerator.loss_scale_state()->scale, 4);
    EXPECT_EQ(value(trained.weight), 1);
}

}  // namespace
}  // namespace mantissa
