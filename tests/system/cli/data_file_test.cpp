// Data of one's own: looked into, trained on in every mode, done again, and refused before a folder is made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "program.h"

namespace mantissa::system_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// Two clouds of points, not on one another; a word names each.
std::string flowers(double shift = 0) {
    std::string text = "id,长度,width,species\n";
    for (int i = 0; i < 120; ++i) {
        const bool is_rose = i % 3 == 0;
        const double a = (is_rose ? 2 : -2) + (i * 37 % 100) / 100.0 + shift, b = (is_rose ? -1 : 1) + (i * 53 % 100) / 100.0;
        text += std::to_string(i) + "," + std::to_string(a) + "," + std::to_string(b) + "," + (is_rose ? "rose" : "tulip") + "\n";
    }
    return text;
}

TEST(CliDataFile, IsShownWithItsColumnsAndWhatFp16WouldDo) {
    const Home home;
    const auto file = home.write("flowers.csv", flowers() + "121,70000,300,rose\n");
    const auto shown = home.run({"datasets", "show", file.string(), "--set", "leave_out=id"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("flowers.csv: CSV, 121 samples of 2 features\n    labels: species, 2 classes\n"));
    EXPECT_THAT(shown.out, HasSubstr("classes: rose 41, tulip 80"));
    EXPECT_THAT(shown.out, HasSubstr("1 (0.8 %)"));
    const auto json = home.run({"datasets", "show", file.string(), "--set", "dataset.leave_out=id", "--json"}).json();
    EXPECT_EQ(json.at("columns").at(0).at("name"), "长度");
    EXPECT_EQ(json.at("columns").at(0).at("largest"), 70000);
    EXPECT_EQ(json.at("columns").at(0).at("infinite_in_fp16"), 1);
    EXPECT_EQ(json.at("columns").at(1).at("square_infinite_in_fp16"), 1);
    EXPECT_EQ(json.at("classes").at(1).at("samples"), 80);
    EXPECT_TRUE(home.run_folders().empty());
}

TEST(CliDataFile, TrainsInEveryModeAndIsDoneAgain) {
    const Home home;
    const auto file = home.write("flowers.csv", flowers());
    const std::vector<std::string> common{"--dataset", file.string(), "--set", "dataset.leave_out=id", "--cpu", "--max-steps", "60"};
    std::vector<std::string> compare{"compare", "digits-mlp", "--modes", "no,fp16,bf16", "--json"};
    compare.insert(compare.end(), common.begin(), common.end());
    const auto compared = home.run(compare);
    ASSERT_EQ(compared.code, 0) << compared.err;
    for (const auto& run : compared.json().at("runs")) EXPECT_GT(run.at("metric").get<double>(), 0.95) << run.dump();
    // A run in another folder, with the file named from there, knows it by its whole path.
    const std::string run = compared.json().at("runs").at(0).at("run_dir");
    const auto again = home.run({"replay", run, "--step", "5", "--what-if", "training.optimizer.learning_rate=0.01", "--json"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.json().at("reproduced"), "bits");
    // Written anew, the file is not what the run was trained on.
    static_cast<void>(home.write("flowers.csv", flowers(0.5)));
    const auto changed = home.run({"replay", run, "--step", "4", "--what-if", "training.optimizer.learning_rate=0.01", "--json"});
    EXPECT_THAT(changed.out + changed.err, HasSubstr("the data aren't those that the run was trained on"));
    fs::remove(file);
    const auto gone = home.run({"replay", run, "--step", "5", "--what-if", "training.optimizer.learning_rate=0.01"});
    EXPECT_EQ(gone.code, 6);
    EXPECT_THAT(gone.err, HasSubstr("is not there"));
}

TEST(CliDataFile, ValuesAreLearnedWithALossForValues) {
    const Home home;
    std::string text = "x,y,price\n";
    for (int i = 0; i < 200; ++i) text += std::to_string(i % 20 / 10.0) + "," + std::to_string(i % 7 / 7.0) + "," + std::to_string(0.5 * (i % 20 / 10.0) - (i % 7 / 7.0) + 0.25) + "\n";
    const auto file = home.write("prices.csv", text);
    const auto refused = home.run({"train", "digits-mlp", "--dataset", file.string(), "--cpu", "--max-steps", "5"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("the labels of prices.csv are values, not classes"));
    EXPECT_THAT(refused.err, HasSubstr("training.loss mse"));
    const auto trained = home.run({"train", "digits-mlp", "--dataset", file.string(), "--cpu", "--max-steps", "300", "--set", "training.loss=mse", "--set", "evaluation.metric=loss",
                                   "--set", "dataset.normalise=standardise", "--set", "training.optimizer.learning_rate=0.01", "--json"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_LT(trained.json().at("final_loss").get<double>(), 0.01);
}

TEST(CliDataFile, WhatCanNotBeReadIsRefusedBeforeAFolderIsMade) {
    const Home home;
    const std::vector<std::tuple<std::string, std::string, int, std::string>> cases{
        {"cut.csv", "a,b\n1,2\n3\n", 6, "cut.csv line 3: 1 values instead of 2"},
        {"words.csv", "a,b,label\n1,x,0\n2,y,1\n", 6, "words.csv line 2, column 2 (b): 'x' is no number"},
        {"gap.csv", "a,label\n1,0\n,1\n", 6, "gap.csv line 3, column 1 (a): the value is missing"},
        {"noise.bin", std::string("\x01\x02\x00\x03", 4), 6, "none of the kinds of data files"},
        {"one.csv", "a,label\n1,0\n2,0\n", 2, "has one class only, 0"}};
    for (const auto& [name, content, code, sentence] : cases) {
        const auto file = home.write(name, content);
        const auto refused = home.run({"compare", "digits-mlp", "--dataset", file.string(), "--cpu"});
        EXPECT_EQ(refused.code, code) << refused.err;
        EXPECT_THAT(refused.err, HasSubstr(sentence));
        EXPECT_EQ(refused.out, "");
    }
    const auto gone = home.run({"train", "digits-mlp", "--dataset", "nowhere.csv", "--cpu"});
    EXPECT_EQ(gone.code, 6);
    EXPECT_THAT(gone.err, HasSubstr("nowhere.csv can't be read: No such file"));
    const auto column = home.run({"train", "digits-mlp", "--dataset", home.write("ok.csv", flowers()).string(), "--set", "dataset.labels=specis", "--cpu"});
    EXPECT_EQ(column.code, 2);
    EXPECT_THAT(column.err, HasSubstr("did you mean species?"));
    const auto alone = home.run({"train", "digits-mlp", "--set", "dataset.labels=species", "--cpu"});
    EXPECT_EQ(alone.code, 2);
    EXPECT_THAT(alone.err, HasSubstr("no data file is named"));
    EXPECT_TRUE(home.run_folders().empty());
}

TEST(CliDataFile, PicturesOfClothesAreLearned) {
    const Home home;
    const auto trained = home.run({"train", "digits-mlp", "--dataset", "fashion-mnist-part", "--cpu", "--max-steps", "150", "--json"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_GT(trained.json().at("metric").get<double>(), 0.7);
    const auto text = home.run({"train", "digits-mlp", "--dataset", "constitution", "--cpu"});
    EXPECT_EQ(text.code, 2);
    EXPECT_THAT(text.err, HasSubstr("constitution"));
}

}  // namespace
}  // namespace mantissa::system_test
