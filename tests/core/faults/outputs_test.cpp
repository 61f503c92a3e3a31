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

using Mapped = std::map<std::string, std::vector<Inner>>;

struct MappedOutputs : torch::nn::Module {
    MappedOutputs() { linear = register_module("linear", torch::nn::Linear(2, 2)); }
    Mapped forward(const torch::Tensor& input) {
        const auto half = linear(input);
        return {{"hidden", {{half, 1, "a"}, {half, 2, "b"}}}};
    }
    torch::nn::Linear linear{nullptr};
};

at::ScalarType dtype_in_a_map(const AcceleratorOptions& options) {
    Accelerator accelerator(options);
    auto model = accelerator.prepare(std::make_shared<MappedOutputs>());
    const Mapped output = model(torch::ones({1, 2}));
    EXPECT_EQ(std::get<2>(output.at("hidden").at(1)), "b");
    return std::get<0>(output.at("hidden").at(1)).scalar_type();
}

TEST(Faults, row_24_also_in_maps_of_vectors_of_tuples) { EXPECT_EQ(dtype_in_a_map(fp16(1024)), torch::kFloat); }

TEST(Faults, row_24_or_they_stay_half_on_request) {
    auto options = fp16(1024);
    options.keep_half_outputs = true;
    EXPECT_EQ(dtype_in_a_map(options), torch::kHalf);
}

}  // namespace
}  // namespace mantissa
