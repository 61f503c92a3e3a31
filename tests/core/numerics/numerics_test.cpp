#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "engine/autocast_scope.h"
#include "engine/fp8_linear.h"
#include "numerics/dtype_names.h"
#include "numerics/op_counter.h"
#include "numerics/output_meter.h"
#include "numerics/product_timer.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

const OpDtypeRow* find(const std::vector<OpDtypeRow>& rows, const std::string& phase, const std::string& op,
                       const std::string& dtype) {
    for (const OpDtypeRow& row : rows) {
        if (row.phase == phase && row.op == op && row.dtype == dtype) return &row;
    }
    return nullptr;
}

TEST(OpCounter, CountsMultiplyAddsOfALinearLayer) {
    const auto weight = torch::randn({5, 3}).requires_grad_(), bias = torch::zeros({5}).requires_grad_();
    const auto input = torch::randn({7, 3});
    OpCounter counter;
    const auto loss = torch::linear(input, weight, bias).sum();
    counter.set_phase(OpPhase::Backward);
    loss.backward();
    const auto rows = counter.rows(4);
    const OpDtypeRow* forward = find(rows, "forward", "addmm", "float32");
    ASSERT_NE(forward, nullptr);
    EXPECT_EQ(forward->multiply_adds, 7 * 3 * 5);
    EXPECT_EQ(forward->calls, 1);
    EXPECT_EQ(forward->step, 4);
    const OpDtypeRow* backward =
        find(rows, "backward", "mm", "float32");  // the weight's; the input needs none
    ASSERT_NE(backward, nullptr);
    EXPECT_EQ(backward->multiply_adds, 7 * 3 * 5);
    EXPECT_EQ(counter.totals().multiply_adds, 2 * 7 * 3 * 5);
    EXPECT_EQ(counter.totals().multiply_adds_half, 0);
    EXPECT_EQ(counter.callback_error(), "");
}

// Its result is bfloat16, so the table tells the format of the operands.
TEST(OpCounter, AProductInFp8IsToldByItsOperandsAndItsCastsAreOneOpEach) {
    const auto weight = torch::randn({32, 16}).requires_grad_(), input = torch::randn({48, 16}).requires_grad_();
    OpCounter counter;
    const auto loss = fp8_linear(input, weight, std::nullopt).to(torch::kFloat).sum();
    counter.set_phase(OpPhase::Backward);
    loss.backward();
    const std::int64_t once = 48 * 16 * 32;
    const auto rows = counter.rows(0);
    const OpDtypeRow *forward = find(rows, "forward", "_scaled_mm", "float8_e4m3fn"), *backward = find(rows, "backward", "_scaled_mm", "float8_e5m2");
    ASSERT_TRUE(forward != nullptr && backward != nullptr);
    EXPECT_EQ(forward->multiply_adds, once);
    EXPECT_EQ(forward->calls, 1);
    EXPECT_EQ(backward->multiply_adds, 2 * once);
    EXPECT_EQ(backward->calls, 2);
    EXPECT_EQ(counter.totals().multiply_adds, 3 * once);
    EXPECT_EQ(counter.totals().multiply_adds_half, 3 * once);
    const OpDtypeRow *casts = find(rows, "forward", "to_fp8", "float8_e4m3fn"), *of_gradient = find(rows, "backward", "to_fp8", "float8_e5m2");
    ASSERT_TRUE(casts != nullptr && of_gradient != nullptr);
    EXPECT_EQ(casts->casts, 2);
    EXPECT_EQ(casts->cast_bytes, 48 * 16 + 32 * 16);
    EXPECT_EQ(of_gradient->casts, 1);
    EXPECT_EQ(of_gradient->cast_bytes, 48 * 32);
    for (const OpDtypeRow& row : rows) EXPECT_FALSE(row.op == "frexp" || row.op == "amax") << row.op;
    EXPECT_EQ(counter.callback_error(), "");
}

// In its mode the call around it is addmm, which has counted when the product runs.
TEST(OpCounter, ALayerInFp8CountsOnceThoughItWasCalledAsAnotherProduct) {
    torch::nn::Linear fits(16, 32), stays(32, 10);
    const auto input = torch::randn({48, 16});
    const Fp8Layers layers;
    OpCounter counter;
    {
        const AutocastScope autocast(at::kCPU, at::kBFloat16, true, true, nullptr, &layers);
        stays(fits(input));
    }
    const auto rows = counter.rows(0);
    const OpDtypeRow *fp8 = find(rows, "forward", "_scaled_mm", "float8_e4m3fn"), *bf16 = find(rows, "forward", "addmm", "bfloat16");
    ASSERT_TRUE(fp8 != nullptr && bf16 != nullptr);
    EXPECT_EQ(fp8->multiply_adds, 48 * 16 * 32);
    EXPECT_EQ(bf16->multiply_adds, 48 * 32 * 10);
    EXPECT_EQ(counter.totals().multiply_adds, 48 * 16 * 32 + 48 * 32 * 10);
    EXPECT_EQ(find(rows, "forward", "_scaled_mm", "bfloat16"), nullptr);
}

class HalfModes : public testing::TestWithParam<at::ScalarType> {};

TEST_P(HalfModes, CountsConvolutionsInTheirTypeOnce) {
    const auto weight = torch::randn({6, 2, 3, 3}).requires_grad_();
    const auto input = torch::randn({4, 2, 8, 8}).requires_grad_();
    OpCounter counter;
    torch::Tensor loss;
    {
        const AutocastScope autocast(at::kCPU, GetParam());
        loss = torch::conv2d(input, weight, {}, 1, 1).to(torch::kFloat).sum();
    }
    counter.set_phase(OpPhase::Backward);
    loss.backward();
    const std::int64_t once = 4LL * 6 * 8 * 8 * 2 * 9;
    const auto rows = counter.rows(0);
    const OpDtypeRow* forward = find(rows, "forward", "convolution", dtype_name(GetParam()));
    ASSERT_NE(forward, nullptr);
    EXPECT_EQ(forward->multiply_adds, once);
    const OpDtypeRow* backward = find(rows, "backward", "convolution_backward", dtype_name(GetParam()));
    ASSERT_NE(backward, nullptr);
    EXPECT_EQ(backward->multiply_adds, 2 * once);
    EXPECT_EQ(counter.totals().multiply_adds, 3 * once);
    EXPECT_EQ(counter.totals().multiply_adds_half, 3 * once);
    EXPECT_GE(counter.totals().op_kinds_half, 2);
    EXPECT_EQ(counter.callback_error(), "");
}

TEST_P(HalfModes, CountsCastsAndTheirBytesOnce) {
    const auto weight = torch::randn({6, 5}).requires_grad_();
    const auto input = torch::randn({4, 5});
    OpCounter counter;
    torch::Tensor loss;
    {
        const AutocastScope autocast(at::kCPU, GetParam());
        loss = torch::mm(input, weight.t()).to(torch::kFloat).sum();  // input and weight to half, result to fp32
    }
    counter.set_phase(OpPhase::Backward);
    loss.backward();  // the gradient to half, the weight's gradient to fp32
    torch::zeros({3}).copy_(torch::ones({3}));                // no other dtype
    torch::zeros({3}, at::kLong).copy_(torch::ones({3}));     // not between floating-point numbers
    torch::zeros({3}, GetParam()).copy_(torch::ones({3}));    // a cast of six bytes
    const auto rows = counter.rows(0);
    const char* const half = dtype_name(GetParam());
    const OpDtypeRow* down = find(rows, "forward", "_to_copy", half);
    ASSERT_NE(down, nullptr);
    EXPECT_EQ(down->casts, 2);
    EXPECT_EQ(down->cast_bytes, (4 * 5 + 6 * 5) * 2);
    const OpDtypeRow* up = find(rows, "forward", "_to_copy", "float32");
    ASSERT_NE(up, nullptr);
    EXPECT_EQ(up->casts, 1);
    EXPECT_EQ(up->cast_bytes, 4 * 6 * 4);
    EXPECT_EQ(find(rows, "backward", "_to_copy", half)->cast_bytes, 4 * 6 * 2);
    EXPECT_EQ(find(rows, "backward", "_to_copy", "float32")->cast_bytes, 6 * 5 * 4);
    std::int64_t casts = 0, bytes_of_copies = 0;
    for (const OpDtypeRow& row : rows) {
        casts += row.casts;
        if (row.op == "copy_") bytes_of_copies += row.cast_bytes;
    }
    EXPECT_EQ(casts, 6);
    EXPECT_EQ(bytes_of_copies, 6);
    EXPECT_EQ(counter.callback_error(), "");
}

INSTANTIATE_TEST_SUITE_P(Types, HalfModes, testing::Values(at::kHalf, at::kBFloat16));

TEST(OpCounter, BatchedProducts) {
    OpCounter counter;
    torch::bmm(torch::ones({2, 3, 4}), torch::ones({2, 4, 5}));
    torch::baddbmm(torch::ones({2, 3, 5}), torch::ones({2, 3, 4}), torch::ones({2, 4, 5}));
    EXPECT_EQ(counter.totals().multiply_adds, 2 * 2 * 3 * 4 * 5);
}

TEST(OpCounter, PausedSeesNothingAndDisarmsWithItsEnd) {
    {
        OpCounter counter;
        counter.pause();
        torch::mm(torch::ones({2, 2}), torch::ones({2, 2}));
        EXPECT_TRUE(counter.rows(0).empty());
        counter.resume();
        torch::mm(torch::ones({2, 2}), torch::ones({2, 2}));
        EXPECT_EQ(counter.totals().multiply_adds, 8);
    }
    OpCounter next;  // a second one is possible now, and starts from nothing
    EXPECT_TRUE(next.rows(0).empty());
}

TEST(OpCounter, KeepsTheOpThatRefused) {
    OpCounter counter;
    EXPECT_THROW(torch::mm(torch::ones({2, 3}), torch::ones({2, 3})), c10::Error);
    EXPECT_EQ(counter.op_of_last_failure(), "mm");
}

TEST(OutputMeter, NamesTheFirstPlaceThatTurnedFiniteIntoInf) {
    OutputMeter meter;
    const auto big = torch::full({2}, 300.0f, torch::kHalf), product = big * big;
    meter.read("hidden", "", {torch::ones({2})}, big);
    meter.read("gate", "mul", {big, big}, product);
    meter.read("gate", "", {big}, product);
    meter.read("head", "", {product}, product - product);
    const OutputReading* first = meter.first_nonfinite();
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->module, "gate");
    EXPECT_EQ(first->op, "mul");
    EXPECT_EQ(first->largest, infinity);
    EXPECT_EQ(first->operands_largest, (std::vector<double>{300, 300}));
    EXPECT_EQ(first->dtype, "float16");
    EXPECT_TRUE(meter.readings().back().holds_nan);
    EXPECT_EQ(*headroom_bits(Precision::Fp16, meter), -infinity);
}

TEST(OutputMeter, HeadroomIsThatOfTheLargestOutput) {
    OutputMeter meter;
    EXPECT_FALSE(headroom_bits(Precision::Fp16, meter).has_value());
    meter.read("a", "", {}, torch::tensor({-65504.0f / 4, 1.0f}));
    meter.read("b", "", {}, torch::tensor({3.0f}));
    EXPECT_EQ(meter.largest()->module, "a");
    EXPECT_NEAR(*headroom_bits(Precision::Fp16, meter), 2.0, 1e-9);
    EXPECT_NEAR(*headroom_bits(Precision::Bf16, meter), std::log2(3.3895313892515355e38 / 16376), 1e-9);
    EXPECT_EQ(meter.first_nonfinite(), nullptr);
}

TEST(OutputMeter, IntegersAndEmptyTensorsSayNothing) {
    OutputMeter meter;
    meter.read("labels", "", {}, torch::tensor({1, 2}, torch::kLong));
    meter.read("none", "", {}, torch::empty({0}));
    EXPECT_EQ(meter.first_nonfinite(), nullptr);
    EXPECT_FALSE(headroom_bits(Precision::Fp16, meter).has_value());
}

TEST(DtypeNames, AreThoseOfRecordings) {
    EXPECT_STREQ(dtype_name(at::kFloat), "float32");
    EXPECT_STREQ(dtype_name(at::kHalf), "float16");
    EXPECT_STREQ(dtype_name(at::kBFloat16), "bfloat16");
    EXPECT_TRUE(is_half(at::kHalf) && is_half(at::kBFloat16));
    EXPECT_FALSE(is_half(at::kFloat) || is_half(at::kDouble));
}

// No figure is judged by how fast this machine is: only by what may and may not be in it.
TEST(ProductTimer, CountsProductsOfBothPassesAndNothingElse) {
    const auto weight = torch::randn({64, 64}).requires_grad_(), input = torch::randn({32, 64});
    ProductTimer timer;
    auto plain = (input * 2).exp().sum() + weight.relu().sum();
    plain.backward();
    EXPECT_EQ(timer.ns(), 0) << "elementwise ops and sums are no products";
    const std::int64_t start = monotonic_ns();
    const auto loss = torch::linear(input, weight).sum();
    const std::int64_t forward = timer.ns();
    EXPECT_GT(forward, 0);
    loss.backward();
    const std::int64_t whole = monotonic_ns() - start;
    EXPECT_GT(timer.ns(), forward) << "of the backward pass";
    EXPECT_LE(timer.ns(), whole);
    timer.begin_step();
    EXPECT_EQ(timer.ns(), 0);
    EXPECT_ANY_THROW(torch::mm(input, input));
    timer.begin_step();
    torch::exp(input);
    EXPECT_EQ(timer.ns(), 0) << "a product that threw has ended";
}

TEST(ProductTimer, AStepOfMostlyElementwiseOpsInBf16StaysWithinItsTime) {
    const auto weight = torch::randn({64, 64}).requires_grad_(), input = torch::randn({512, 64});
    ProductTimer timer;
    const std::int64_t start = monotonic_ns();
    {
        const AutocastScope autocast(at::kCPU, at::kBFloat16);
        auto value = torch::linear(input, weight);
        for (int i = 0; i < 40; ++i) value = torch::sigmoid(value) * 2 - value.tanh();
        value.sum().to(torch::kFloat).backward();
    }
    const std::int64_t whole = monotonic_ns() - start;
    EXPECT_GT(timer.ns(), 0);
    EXPECT_LE(timer.ns(), whole);
}

// Under autocast the outermost call of a product holds its casts. Each of the two is held up here, so that they stand out on any machine.
TEST(ProductTimer, CastsBeforeAProductAreNotOfIt) {
    const auto left = torch::randn({8, 4}), right = torch::randn({4, 8});
    const AutocastScope autocast(at::kCPU, at::kBFloat16);
    ProductTimer timer;
    const auto handle = at::addGlobalCallback(at::RecordFunctionCallback([](const at::RecordFunction& function) {
                                                  if (std::string_view(function.name()) == "aten::_to_copy")
                                                      std::this_thread::sleep_for(std::chrono::milliseconds(10));
                                                  return std::unique_ptr<at::ObserverContext>();
                                              }).scopes({at::RecordScope::FUNCTION}));
    const std::int64_t start = monotonic_ns();
    torch::mm(left, right);
    const std::int64_t whole = monotonic_ns() - start;
    at::removeCallback(handle);
    EXPECT_GT(timer.ns(), 0);
    EXPECT_LE(timer.ns() + 20'000'000, whole);
}

}  // namespace
}  // namespace mantissa
