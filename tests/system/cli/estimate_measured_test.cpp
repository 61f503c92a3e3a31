// The part of `mantissa estimate-memory` that runs the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace mantissa::system_test {
namespace {

TEST(CliEstimateMemory, EveryModeIsMeasuredOrSaysWhyNot) {
    const Home home;
    const auto outcome =
        home.run({"estimate-memory", "digits-cnn", "--cpu", "--modes", "no,bf16,fp8", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = outcome.json();
    ASSERT_TRUE(json.is_object()) << outcome.out;
    const auto& measured = json["measured"];
    ASSERT_EQ(measured.size(), 3u);
    for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_TRUE(measured[i]["peak_bytes"].is_number()) << measured[i];
        EXPECT_GT(measured[i]["peak_bytes"], json["resident"]["total_bytes"]);
        EXPECT_EQ(measured[i]["reason"], "");
    }
    EXPECT_EQ(measured[0]["mode"], "no");
    EXPECT_TRUE(measured[2]["peak_bytes"].is_null());
    EXPECT_THAT(measured[2]["reason"].get<std::string>(), testing::HasSubstr("fp8"));
    // More samples in a batch take more memory; the arithmetic on the weights doesn't see it.
    const auto large =
        home.run({"estimate-memory", "digits-cnn", "--cpu", "--modes", "no", "--batch-size", "512", "--json"})
            .json();
    ASSERT_TRUE(large.is_object());
    EXPECT_GT(large["measured"][0]["peak_bytes"].get<long>(), 2 * measured[0]["peak_bytes"].get<long>());
    EXPECT_EQ(large["accelerate"], json["accelerate"]);
    EXPECT_TRUE(home.run_folders().empty());
}

}  // namespace
}  // namespace mantissa::system_test
