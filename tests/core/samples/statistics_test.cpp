#include "samples/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using mantissa::testing::TemporaryFolder;
using ::testing::ElementsAre;

// Both sides of each limit. Values as numpy's float16 has them: float16(65519.99) is 65504, float16(65520) is inf; 255.9375 rounds to 256,
// whose square is inf, 255.93 to 255.875, whose square is 65472; 2^-25 rounds to 0, the next above doesn't.
TEST(Statistics, WhatFp16WouldDo) {
    const TemporaryFolder folder;
    DatasetPlan plan;
    plan.missing = MissingRule::Mean;
    plan.file = folder.file("t.csv",
                            "big,square,small,kind\n"
                            "65519.99,255.93,2.9802322e-8,a\n"
                            "65520,255.9375,2.9802325e-8,b\n"
                            "-1e9,-300,0.0001726,a\n"
                            ",2,0.0001728,b\n");
    const auto samples = read_samples(plan);
    ASSERT_TRUE(samples.ok()) << describe(samples.error());
    const auto statistics = describe_samples(*samples);
    ASSERT_EQ(statistics.columns.size(), 3u);
    const auto& [big, square, small] = std::tie(statistics.columns[0], statistics.columns[1], statistics.columns[2]);
    EXPECT_EQ(big.name, "big");
    EXPECT_EQ(big.count, 3);
    EXPECT_EQ(big.missing, 1);
    EXPECT_EQ(big.smallest, -1e9);
    EXPECT_EQ(big.largest, 65520);
    EXPECT_EQ(big.beyond_fp16, 2);
    EXPECT_EQ(big.squares_beyond_fp16, 3);
    EXPECT_EQ(square.squares_beyond_fp16, 2);
    EXPECT_EQ(square.beyond_fp16, 0);
    EXPECT_NEAR(square.mean, (255.93 + 255.9375 - 300 + 2) / 4, 1e-5);
    EXPECT_EQ(small.flushed, 1);
    EXPECT_EQ(small.squares_flushed, 3);
    EXPECT_EQ(statistics.all.count, 11);
    EXPECT_EQ(statistics.all.beyond_fp16, 2);
    EXPECT_THAT(statistics.of_class, ElementsAre(2, 2));
}

TEST(Statistics, OfValuesToBeLearned) {
    const TemporaryFolder folder;
    DatasetPlan plan;
    plan.file = folder.file("t.csv", "x,price\n1,2.5\n2,-1.5\n3,5\n");
    const auto samples = read_samples(plan);
    ASSERT_TRUE(samples.ok());
    const auto statistics = describe_samples(*samples);
    EXPECT_EQ(statistics.smallest_value, -1.5);
    EXPECT_EQ(statistics.largest_value, 5);
    EXPECT_EQ(statistics.mean_value, 2);
    EXPECT_TRUE(statistics.of_class.empty());
}

}  // namespace
}  // namespace mantissa
