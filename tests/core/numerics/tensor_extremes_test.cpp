#include "numerics/tensor_extremes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mantissa {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(TensorExtremes, LargestFiniteMagnitudeAndCountOfTheRest) {
    torch::manual_seed(7);
    torch::Tensor long_one = torch::randn({10'007});
    long_one[10'000] = -40.0;
    long_one[3] = infinity;
    long_one[10'006] = std::nan("");
    const torch::Tensor hole = torch::ones({4, 6}).slice(1, 0, 6, 2) * -2;
    const std::vector<torch::Tensor> tensors{long_one,
                                             torch::Tensor(),
                                             torch::zeros({0}),
                                             at::full({5}, std::nan("")),
                                             hole.t(),
                                             torch::tensor({-300.0, 2.0}).to(at::kHalf),
                                             torch::tensor({1e300, infinity}, at::kDouble),
                                             torch::tensor({-0.0f, 0x1p-149f})};
    TensorExtremes extremes(tensors, 0.5);
    EXPECT_FALSE(extremes.is_on_device());
    constexpr float most = std::numeric_limits<float>::max();
    EXPECT_EQ(extremes.largest(), (std::vector<float>{20, 0, 0, 0, 1, 150, most, 0}));
    EXPECT_EQ(extremes.nonfinite(), (std::vector<std::uint32_t>{2, 0, 0, 5, 0, 0, 1, 0}));
    const torch::Tensor packed = packed_extremes(tensors, 0.5);
    for (std::int64_t i = 0; i < packed.size(1); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool leaves_fp32 = extremes.largest()[at] == most || i == 7;  // the packed figure is a double
        if (!leaves_fp32) {
            EXPECT_EQ(packed[0][i].item<double>(), extremes.largest()[at]) << i;
        }
        EXPECT_EQ(packed[1][i].item<double>(), extremes.nonfinite()[at]) << i;
    }
}

TEST(TensorExtremes, NothingAtAll) {
    TensorExtremes none;
    EXPECT_TRUE(none.largest().empty());
    EXPECT_TRUE(TensorExtremes(std::vector<torch::Tensor>{}).nonfinite().empty());
    EXPECT_EQ(TensorExtremes(std::vector<torch::Tensor>(1)).largest(), std::vector<float>{0});
}

}  // namespace
}  // namespace mantissa
