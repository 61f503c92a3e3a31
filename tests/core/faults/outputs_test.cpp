// Outputs of a prepared forward: row 24.
#include "fault_testing.h"

namespace mantissa {
namespace {

using Inner = std::tuple<torch::Tensor, int, std::string>;
using Outputs = std::tuple<torch::Tensor, Inner, torch::Tensor, torch::Tensor>;

struct ManyOutputs : torch::nn::Module {
    ManyOutputs() { linear = register_module("linear", torch::nn::Linear(2, 2)); }
    Outputs forward(const torch::Tensor& input) {
        const auto half = linear(input);
        dtype = half.scalar_type();
        return {half, {half, 3, "text"}, input.to(torch::kDouble), torch::ones({1}, torch::kLong)};
    }
    torch::nn::Linear linear{nullptr};
    at::ScalarType dtype = torch::kFloat;
};

TEST(Faults, row_24_half_tensors_in_nested_outputs_become_fp32_and_nothing_else) {
    Accelerator accelerator(fp16(1024));
    auto model = accelerator.prepare(std::make_shared<ManyOutputs>());
    const auto [tensor, inner, wide, whole] = model(torch::ones({1, 2}));
    EXPECT_EQ(model.unwrap()->dtype, torch::kHalf);
    EXPECT_EQ(tensor.scalar_type(), torch::kFloat);
    EXPECT_EQ(std::get<0>(inner).scalar_type(), torch::kFloat);
    EXPECT_EQ(std::get<1>(inner), 3);
    EXPECT_EQ(std::get<2>(inner), "text");
    EXPECT_EQ(wide.scalar_type(), torch::kDouble);
    EXPECT_EQ(whole.scalar_type(), torch::kLong);
}

}  // namespace
}  // namespace mantissa
