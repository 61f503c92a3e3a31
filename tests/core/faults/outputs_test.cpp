// Outputs of a prepared forward: row 24.
#include "fault_testing.h"

namespace mantissa {
namespace {

using Inner = std::tuple<torch::Tensor, int, std::string>;
using Outputs = std::tuple<torch::Tensor, Inner, torch::Tensor, torch::Tensor, std::map<std::string, Inner>>;

struct ManyOutputs : torch::nn::Module {
    ManyOutputs() { linear = register_module("linear", torch::nn::Linear(2, 2)); }
    Outputs forward(const torch::Tensor& input) {
        const auto half = linear(input);
        dtype = half.scalar_type();
        return {half, {half, 3, "text"}, input.to(torch::kDouble), torch::ones({1}, torch::kLong), {{"hidden", {half, 4, "more"}}}};
    }
    torch::nn::Linear linear{nullptr};
    at::ScalarType dtype = torch::kFloat;
};

void expect_outputs(bool keeps, at::ScalarType expected) {
    auto options = fp16(1024);
    options.keep_half_outputs = keeps;
    Accelerator accelerator(options);
    auto model = accelerator.prepare(std::make_shared<ManyOutputs>());
    const auto [tensor, inner, wide, whole, map] = model(torch::ones({1, 2}));
    EXPECT_EQ(model.unwrap()->dtype, torch::kHalf);
    EXPECT_EQ(tensor.scalar_type(), expected);
    EXPECT_EQ(std::get<0>(inner).scalar_type(), expected);
    EXPECT_EQ(std::get<1>(inner), 3);
    EXPECT_EQ(std::get<2>(inner), "text");
    EXPECT_EQ(wide.scalar_type(), torch::kDouble);
    EXPECT_EQ(whole.scalar_type(), torch::kLong);
    EXPECT_EQ(std::get<0>(map.at("hidden")).scalar_type(), expected);
}

TEST(Faults, row_24_half_tensors_in_nested_outputs_become_fp32_and_nothing_else) { expect_outputs(false, torch::kFloat); }
TEST(Faults, row_24_or_stay_half_on_request) { expect_outputs(true, torch::kHalf); }

}  // namespace
}  // namespace mantissa
