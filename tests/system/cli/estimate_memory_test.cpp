// `mantissa estimate-memory`: Accelerate's figures; what is measured is in estimate_measured_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace mantissa::system_test {
namespace {

using testing::HasSubstr;

TEST(CliEstimateMemory, FiguresAreAccelerates) {
    const Home home;
    const auto outcome = home.run({"estimate-memory", "digits-cnn", "--no-trial", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = outcome.json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["model"], "cnn");
    EXPECT_EQ(json["parameters"], 1930);
    EXPECT_EQ(json["largest_layers"], nlohmann::json({"conv2"}));
    const auto& types = json["accelerate"];
    ASSERT_EQ(types.size(), 5u);
    EXPECT_EQ(types[0]["dtype"], "float32");
    EXPECT_EQ(types[0]["largest_layer_bytes"], 4672);
    EXPECT_EQ(types[0]["total_bytes"], 7856);
    EXPECT_EQ(types[0]["training_with_adam_bytes"]["total"], 4 * 7856);
    EXPECT_EQ(types[1]["total_bytes"], 3928);
    EXPECT_EQ(types[1]["training_with_adam_bytes"]["gradients"], 7856 + 3928);
    EXPECT_EQ(types[1]["training_with_adam_bytes"]["total"], 2 * 7856);
    EXPECT_EQ(types[3]["total_bytes"], 1964);
    EXPECT_TRUE(types[4]["training_with_adam_bytes"].is_null());
    EXPECT_EQ(json["resident"]["total_bytes"], 7856 + 3 * 7720);
    EXPECT_TRUE(json["measured"].empty());
}

TEST(CliEstimateMemory, ThePlanMayBeLeftOut) {
    const Home home;
    const auto json = home.run({"estimate-memory", "--model", "gated", "--dataset", "digits", "--batch-size",
                                "7", "--no-trial", "--json"})
                          .json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["parameters"], 54602);
    EXPECT_EQ(json["batch_size"], 7);
    EXPECT_EQ(json["largest_layers"], nlohmann::json({"gate.value", "gate.opening"}));
    const auto text = home.run({"estimate-memory", "--no-trial"});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("Model mlp on digits: 9,610 parameters\n"));
    EXPECT_THAT(text.out, HasSubstr("training with Adam"));
    EXPECT_THAT(text.out, HasSubstr("fp32 in every mode"));
    EXPECT_EQ(home.run({"estimate-memory", "--model", "nope"}).code, 2);
    EXPECT_EQ(home.run({"estimate-memory", "--model", "cnn", "--dataset", "breast-cancer"}).code, 2);
    EXPECT_THAT(home.run({"train"}).err, HasSubstr("PLAN is required"));
}

}  // namespace
}  // namespace mantissa::system_test
