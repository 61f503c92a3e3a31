// Losses and reductions in half: rows 13, 22, 23.
#include "engine/safe_ops.h"
#include "fault_testing.h"
#include "models/losses.h"

namespace mantissa {
namespace {

torch::Tensor half(const torch::Tensor& tensor) { return tensor.to(torch::kHalf); }

torch::Tensor wrong_logits() { return torch::tensor({-20.0F, 20.0F}); }
torch::Tensor wrong_targets() { return torch::tensor({1.0F, 0.0F}); }

TEST(Faults, row_13_the_probability_form_saturates_in_half) {
    const auto probabilities = torch::sigmoid(half(wrong_logits()));
    EXPECT_EQ(value(probabilities[0]), 0);
    EXPECT_EQ(value(probabilities[1]), 1);
    const auto loss = torch::binary_cross_entropy(probabilities.to(torch::kFloat), wrong_targets(), {}, at::Reduction::None);
    EXPECT_EQ(value(loss[0]), 100);
    EXPECT_EQ(value(loss[1]), 100);
}

TEST(Faults, row_13_the_logits_form_gives_twenty_each) {
    for (const auto type : {torch::kHalf, torch::kBFloat16, torch::kFloat}) {
        for (const int i : {0, 1}) {
            const auto loss = safe::binary_cross_entropy_with_logits(wrong_logits()[i].to(type), wrong_targets()[i]);
            EXPECT_NEAR(value(loss), 20, 1e-5);
            EXPECT_EQ(loss.scalar_type(), torch::kFloat);
        }
    }
}

// Torch refuses it under CUDA's autocast only; under ours the rule is the same on a CPU, for torch's own function, too.
void expect_refusal_under_autocast(Precision mode) {
    Accelerator accelerator(in_mode(mode));
    const auto probabilities = torch::tensor({0.25F, 0.75F}, torch::requires_grad());
    const auto targets = wrong_targets();
    {
        const auto amp = accelerator.autocast();
        EXPECT_THAT(message_of([&] { static_cast<void>(torch::binary_cross_entropy(probabilities, targets)); }),
                    HasSubstr("binary_cross_entropy takes probabilities"));
        EXPECT_THAT(message_of([&] { torch::nn::BCELoss()->forward(probabilities, targets); }),
                    HasSubstr("binary_cross_entropy takes probabilities"));
        EXPECT_THAT(message_of([&] { static_cast<void>(safe::binary_cross_entropy(probabilities, targets)); }),
                    HasSubstr("binary_cross_entropy takes probabilities"));
        const auto island = accelerator.fp32_island();
        EXPECT_NEAR(value(safe::binary_cross_entropy(probabilities, targets)), 1.386294, 1e-5);
    }
    EXPECT_NEAR(value(torch::binary_cross_entropy(probabilities, targets)), 1.386294, 1e-5);  // fp32, outside
    EXPECT_THAT(message_of([&] { static_cast<void>(safe::binary_cross_entropy(half(probabilities), targets)); }),
                HasSubstr("binary_cross_entropy takes probabilities"));
}

TEST(Faults, row_13_the_probability_form_is_refused_under_fp16) { expect_refusal_under_autocast(Precision::Fp16); }
TEST(Faults, row_13_the_probability_form_is_refused_under_bf16) { expect_refusal_under_autocast(Precision::Bf16); }

TEST(Faults, row_13_mode_no_may_use_it) {
    Accelerator accelerator(in_mode(Precision::No));
    const auto amp = accelerator.autocast();
    EXPECT_NEAR(value(torch::binary_cross_entropy(torch::tensor({0.25F, 0.75F}), wrong_targets())), 1.386294, 1e-5);
}

// Relatives that pass through a probability: log(sigmoid(x)), log(softmax(x)), a rate instead of its logarithm.
TEST(Faults, row_13_its_relatives_have_forms_that_do_not_pass_through_a_probability) {
    const auto x = half(torch::tensor({-20.0F}));
    EXPECT_EQ(value(torch::log(torch::sigmoid(x))), -infinity);
    EXPECT_NEAR(value(safe::log_sigmoid(x)), -20, 1e-5);

    const auto logits = half(torch::tensor({{20.0F, 0.0F}}));
    const auto label = torch::tensor({1}, torch::kLong);
    EXPECT_EQ(value(-torch::log(torch::softmax(logits, 1))[0][1]), infinity);
    EXPECT_NEAR(value(safe::cross_entropy(logits, label)), 20, 1e-5);
    EXPECT_NEAR(value(safe::nll_loss(safe::log_softmax(logits), label)), 20, 1e-5);
    EXPECT_NEAR(value(safe::kl_div(safe::log_softmax(logits), torch::tensor({{0.0F, 1.0F}}))), 20, 1e-5);

    const auto log_rate = half(torch::tensor({12.0F}));  // its rate, 162755, is no fp16 number
    EXPECT_EQ(value(torch::exp(log_rate)), infinity);
    EXPECT_NEAR(value(safe::poisson_nll_loss(log_rate, torch::tensor({0.0F}))), 162754.79, 0.1);
}

torch::Tensor seventy_thousand_zeros() { return torch::zeros({70000, 2}, torch::kHalf); }

TEST(Faults, row_22_cross_entropy_in_half_loses_its_mean) {
    const auto labels = torch::zeros({70000}, torch::kLong);
    EXPECT_EQ(value(torch::nn::functional::cross_entropy(seventy_thousand_zeros(), labels)), 0);
    const auto sum = torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum);
    EXPECT_NEAR(value(torch::nn::functional::cross_entropy(seventy_thousand_zeros().to(torch::kFloat), labels, sum)), 48520.3,
                0.1);
}

TEST(Faults, row_22_ours_computes_it_in_fp32) {
    const auto labels = torch::zeros({70000}, torch::kLong);
    EXPECT_NEAR(value(safe::cross_entropy(seventy_thousand_zeros(), labels)), 0.693147, 1e-5);
    EXPECT_NEAR(value((*find_loss("cross_entropy"))(seventy_thousand_zeros(), labels)), 0.693147, 1e-5);
    EXPECT_NEAR(value((*find_loss("mse"))(seventy_thousand_zeros(), labels)), 0.5, 1e-5);
}

TEST(Faults, row_22_also_inside_autocast) {
    Accelerator accelerator(fp16(1024));
    const auto amp = accelerator.autocast();
    EXPECT_NEAR(value(safe::cross_entropy(seventy_thousand_zeros(), torch::zeros({70000}, torch::kLong))), 0.693147, 1e-5);
}

// The other reductions: what half gives beside ours.
TEST(Faults, row_22_its_relatives_reduce_in_fp32) {
    const auto ones = torch::ones({70000}, torch::kHalf);
    EXPECT_EQ(value(ones.sum()), infinity);
    EXPECT_EQ(value(safe::sum(ones)), 70000);
    EXPECT_NEAR(value(safe::mean(ones)), 1, 1e-6);

    const auto wide = torch::full({4}, 300, torch::kHalf), zero = torch::zeros({4}, torch::kHalf);
    EXPECT_EQ(value(safe::mse_loss(wide, zero)), 90000);
    EXPECT_EQ(value(safe::l1_loss(wide, zero)), 300);
    EXPECT_EQ(value(safe::smooth_l1_loss(wide, zero)), 299.5);
    EXPECT_EQ(value(safe::huber_loss(wide, zero)), 299.5);
    EXPECT_EQ(value(safe::norm(wide)), 600);
    EXPECT_NEAR(value(safe::norm(ones * 300)) / (300 * std::sqrt(70000)), 1, 1e-4);
    EXPECT_EQ(value(safe::var(half(torch::tensor({600.0F, -600.0F})))), 720000);
    EXPECT_NEAR(value(safe::logsumexp(half(torch::tensor({12.0F, 0.0F})))), 12.0000061, 1e-5);
}

// The gradient comes back in the input's dtype, finite.
TEST(Faults, row_22_gradients_pass_back_to_half) {
    const auto logits = seventy_thousand_zeros().requires_grad_();
    (safe::cross_entropy(logits, torch::zeros({70000}, torch::kLong)) * 65536).backward();
    EXPECT_EQ(logits.grad().scalar_type(), torch::kHalf);
    EXPECT_NEAR(value(logits.grad()[0][1]), 0.5 * 65536 / 70000, 1e-3);
}

struct ThreeHundred : torch::nn::Module {
    ThreeHundred() {
        linear = register_module("linear", torch::nn::Linear(torch::nn::LinearOptions(1, 4).bias(false)));
        linear->weight.data().fill_(300);
    }
    torch::Tensor forward(const torch::Tensor& input) { return linear(input); }
    torch::nn::Linear linear{nullptr};
};

TEST(Faults, row_23_outputs_are_fp32_so_the_loss_is) {
    Accelerator accelerator(fp16(1));
    auto model = accelerator.prepare(std::make_shared<ThreeHundred>());
    const auto output = model(torch::ones({1, 1}));
    EXPECT_EQ(output.scalar_type(), torch::kFloat);
    EXPECT_EQ(value(torch::mse_loss(output, torch::zeros({1, 4}))), 90000);
    const auto amp = accelerator.autocast();  // the same inside
    EXPECT_EQ(value(torch::mse_loss(model(torch::ones({1, 1})), torch::zeros({1, 4}))), 90000);
}

TEST(Faults, row_23_in_half_it_is_infinite) {
    const auto output = torch::full({1, 4}, 300, torch::kHalf);
    EXPECT_EQ(value(torch::mse_loss(output, torch::zeros_like(output))), infinity);
    EXPECT_EQ(value(safe::mse_loss(output, torch::zeros_like(output))), 90000);
}

}  // namespace
}  // namespace mantissa
