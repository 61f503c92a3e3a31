// Masks and softmax: rows 18 and 19.
#include "engine/safe_ops.h"
#include "fault_testing.h"

namespace mantissa {
namespace {

const auto last_of_three = [] { return torch::tensor({false, false, true}); };

TEST(Faults, row_18_minus_1e9_is_no_half_number) {
    const auto scores = torch::zeros({3}, torch::kHalf);
    EXPECT_THROW(static_cast<void>(scores.masked_fill(last_of_three(), -1e9)), std::runtime_error);
    // As a half tensor it passes, and is Inf in silence; so it does by addition.
    EXPECT_EQ(value(scores.masked_fill(last_of_three(), torch::tensor(-1e9F).to(torch::kHalf))[2]), -infinity);
    EXPECT_EQ(value((scores + (last_of_three() * -1e9F).to(torch::kHalf))[2]), -infinity);
}

TEST(Faults, row_18_ours_takes_the_least_number_of_the_dtype) {
    for (const auto& [type, least] : {std::pair{torch::kHalf, -65504.0}, std::pair{torch::kBFloat16, -3.3895313892515355e38},
                                      std::pair{torch::kFloat, -3.4028234663852886e38}}) {
        const auto filled = safe::masked_fill(torch::zeros({3}, type), last_of_three());
        EXPECT_EQ(filled.scalar_type(), type);
        EXPECT_EQ(value(filled[2]), least);
        EXPECT_EQ(value(filled[0]), 0);
        EXPECT_EQ(value(torch::softmax(filled.to(torch::kFloat), 0)[2]), 0);
    }
}

// A whole attention step under autocast, where masked_fill sees the half scores of the product.
TEST(Faults, row_18_under_autocast_too) {
    Accelerator accelerator(fp16(1024));
    const auto query = torch::ones({1, 3, 4}, torch::requires_grad());
    torch::Tensor loss;
    {
        const auto amp = accelerator.autocast();
        const auto scores = torch::matmul(query, query.transpose(1, 2));
        EXPECT_EQ(scores.scalar_type(), torch::kHalf);
        loss = torch::softmax(safe::masked_fill(scores, last_of_three()), -1).square().sum();
    }
    EXPECT_NEAR(value(loss), 1.5, 1e-3);
    loss.backward();
    EXPECT_TRUE(torch::isfinite(query.grad()).all().item<bool>());
}

torch::Tensor gradient_of(const torch::Tensor& logits, const torch::Tensor& output) {
    return torch::autograd::grad({output.square().sum()}, {logits})[0];
}

TEST(Faults, row_19_a_fully_masked_row_is_nan_and_so_is_its_gradient) {
    const auto logits = torch::zeros({1, 3}, torch::requires_grad());
    const auto output = torch::softmax(logits + torch::full({1, 3}, -infinity), 1);
    EXPECT_TRUE(torch::isnan(output).all().item<bool>());
    EXPECT_TRUE(torch::isnan(gradient_of(logits, output)).all().item<bool>());
}

TEST(Faults, row_19_ours_gives_a_zero_row_and_a_zero_gradient) {
    for (const auto type : {torch::kFloat, torch::kHalf, torch::kBFloat16}) {
        const auto logits = torch::tensor({{0.0F, 0.0F, 0.0F}, {1.0F, 2.0F, 3.0F}}).to(type).requires_grad_();
        const auto mask = torch::tensor({{true, true, true}, {false, false, true}});
        const auto added = torch::zeros({2, 3}).masked_fill(mask, -infinity).to(type);
        for (const auto& output : {safe::masked_softmax(logits, mask), safe::masked_softmax(logits + added)}) {
            EXPECT_TRUE(torch::equal(output[0], torch::zeros({3})));
            EXPECT_NEAR(value(output[1][0]), 0.268941, 1e-6);
            EXPECT_NEAR(value(output[1][1]), 0.731059, 1e-6);
            EXPECT_EQ(value(output[1][2]), 0);
            const auto gradient = gradient_of(logits, output);
            EXPECT_TRUE(torch::equal(gradient[0], torch::zeros({3}, type)));
            EXPECT_TRUE(torch::isfinite(gradient).all().item<bool>());
            EXPECT_NE(value(gradient[1][0]), 0);
            EXPECT_EQ(value(gradient[1][2]), 0);
        }
    }
}

// Torch's attention gives a masked row zeros since PR 131060; here it is a relative that must stay right.
TEST(Faults, row_19_attention_with_a_fully_masked_row_is_finite) {
    const auto query = torch::randn({1, 1, 2, 4}, torch::requires_grad());
    const auto keep = torch::tensor({{false, false}, {true, true}});
    const auto output = at::scaled_dot_product_attention(query, query, query, keep);
    EXPECT_TRUE(torch::equal(output[0][0][0], torch::zeros({4})));
    output.sum().backward();
    EXPECT_TRUE(torch::isfinite(query.grad()).all().item<bool>());
}

// Where the plain form is used, rule 12 keeps the NaN from the weights.
TEST(Faults, row_19_the_plain_form_is_stopped_before_the_weights) {
    Accelerator accelerator(in_mode(Precision::No));
    auto raw = std::make_shared<SmallModel>(torch::ones({1, 3}));
    const torch::Tensor weight = raw->weight;
    auto raw_optimizer = sgd(raw->parameters(), {.learning_rate = 0.1});
    auto [model, optimizer] = accelerator.prepare(std::move(raw), std::move(raw_optimizer));
    accelerator.backward(torch::softmax(weight + torch::full({1, 3}, -infinity), 1).sum());
    EXPECT_THROW(optimizer.step(), NonFinite);
    EXPECT_TRUE(torch::equal(weight.detach(), torch::ones({1, 3})));
}

}  // namespace
}  // namespace mantissa
