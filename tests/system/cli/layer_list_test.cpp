// A layer list trains, is compared, goes on and is done again like a model of the catalogue; nobody is asked for trust.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "program.h"

namespace mantissa::system_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST(CliLayerList, IsComparedInThreeModesAndOneIsDoneAgainToTheBit) {
    const Home home;
    const auto compared = home.run({"compare", "digits-mlp", "--cpu", "--allow-emulated", "--model", "cnn-small", "--modes", "no,fp16,bf16", "--max-steps", "20", "--json"});
    ASSERT_EQ(compared.code, 0) << compared.err;
    const auto json = compared.json();
    EXPECT_EQ(json["fair"], true);
    ASSERT_EQ(json["runs"].size(), 3u);
    for (const auto& run : json["runs"]) {
        EXPECT_EQ(run["state"], "finished");
        EXPECT_EQ(run["steps"], 20);
    }
    const auto again = home.run({"replay", json["runs"][1]["run_dir"], "--step", "15", "--what-if", "fp32_islands=head", "--json"});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.json()["reproduced"], "bits");
}

TEST(CliLayerList, TrainsToTheBitsOfTheSameModelOfTheCatalogue) {
    const Home home;
    for (const char* mode : {"no", "bf16", "fp16"}) {
        std::vector<double> losses;
        for (const char* model : {"gated", "gated-layers"}) {
            const auto trained = home.run({"train", "gated-overflow", "--cpu", "--allow-emulated", "--mixed-precision", mode, "--model", model, "--max-steps", "20", "--json"});
            ASSERT_EQ(trained.code, 0) << trained.err;
            losses.push_back(trained.json()["final_loss"]);
        }
        EXPECT_EQ(losses[0], losses[1]) << mode;
    }
}

TEST(CliLayerList, WhatWasChangedSinceIsRefused) {
    const Home home;
    const auto file = home.write("net.json", R"({"mantissa_layers": 1, "layers": [{"linear": 32}, "relu", {"dropout": 0.1}, {"linear": "classes"}]})");
    const auto trained = home.run({"train", "digits-mlp", "--cpu", "--model", file.string(), "--scope", "thread", "--max-steps", "20", "--json"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const std::string run = trained.json()["run_dir"];
    const auto on = home.run({"train", "--resume-from", run, "--max-steps", "30", "--json"});
    ASSERT_EQ(on.code, 0) << on.err;
    const auto again = home.run({"replay", run, "--step", "10", "--what-if", "training.optimizer.learning_rate=0.01", "--json"});
    EXPECT_EQ(again.json()["reproduced"], "bits") << again.err;
    home.write("net.json", R"({"mantissa_layers": 1, "layers": [{"linear": 32}, "tanh", {"dropout": 0.1}, {"linear": "classes"}]})");
    for (const std::vector<std::string>& verb : {std::vector<std::string>{"replay", run, "--step", "10", "--what-if", "training.optimizer.learning_rate=0.02"},
                                                 {"train", "--resume-from", run, "--max-steps", "30"}}) {
        const auto refused = home.run(verb);
        EXPECT_EQ(refused.code, 6) << verb[0];
        EXPECT_THAT(refused.err, HasSubstr("the layer list " + file.string() + " has changed since")) << verb[0];
    }
}

TEST(CliLayerList, LearnsTheNextCharacterOfATextAndAValueOfATable) {
    const Home home;
    const auto text = home.run({"compare", "digits-mlp", "--cpu", "--allow-emulated", "--model", "char-transformer", "--dataset", "constitution", "--max-steps", "10", "--json"});
    ASSERT_EQ(text.code, 0) << text.err;
    for (const auto& run : text.json()["runs"]) EXPECT_LT(run["final_loss"].get<double>(), 4.4) << run["mode"];  // ln 74 = 4.3
    std::string table = "rooms,size,price\n";
    for (int i = 0; i < 200; ++i) table += std::to_string(i % 7) + "," + std::to_string(i * 13 % 50) + ".5," + std::to_string(i % 7 + i * 13 % 50) + ".25\n";
    const auto value = home.run({"train", "digits-mlp", "--cpu", "--model", "deep-mlp", "--dataset", home.write("houses.csv", table).string(), "--set", "training.loss=mse", "--set", "evaluation.metric=loss",
                                 "--set", "dataset.normalise=standardise", "--max-steps", "60", "--json"});
    ASSERT_EQ(value.code, 0) << value.err;
    EXPECT_EQ(value.json()["steps"], 60);
}

TEST(CliLayerList, TrainsInSeveralProcesses) {
    const Home home;
    const auto ranks = home.run({"train", "digits-mlp", "--cpu", "--model", "resnet-small", "--num_processes", "2", "--max-steps", "5", "--json"});
    ASSERT_EQ(ranks.code, 0) << ranks.err;
    EXPECT_EQ(ranks.json()["steps"], 5);
}

}  // namespace
}  // namespace mantissa::system_test
