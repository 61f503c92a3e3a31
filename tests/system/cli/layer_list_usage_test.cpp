// What is said of a layer list before anything is started: its table, its memory, and the layer that is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace mantissa::system_test {
namespace {

using ::testing::HasSubstr;

TEST(CliLayerList, ModelsListsThoseThatComeWithTheProgramAndShowsOne) {
    const Home home;
    const auto listed = home.run({"models"});
    EXPECT_EQ(listed.code, 0);
    for (const auto& [name, dataset] : {std::pair{"char-transformer", "constitution"}, {"cnn-pictures", "fashion-mnist-part"}, {"cnn-small", "digits"}, {"deep-mlp", "breast-cancer"},
                                        {"gated-layers", "digits"}, {"pixel-transformer", "digits"}, {"resnet-small", "digits"}, {"t5-feed-forward", "digits"}}) {
        EXPECT_THAT(listed.out, HasSubstr(std::string("\n  ") + name + " "));
        const auto shown = home.run({"models", "show", name, "--dataset", dataset});
        EXPECT_EQ(shown.code, 0) << shown.err;
    }
    const auto houses = home.write("houses.csv", "rooms,size,price\n1,20.5,1.5\n2,30.5,2.25\n3,40.5,3.125\n").string();
    EXPECT_THAT(home.run({"models", "show", "deep-mlp", "--dataset", houses}).out, HasSubstr("linear 1 "));
    EXPECT_THAT(home.run({"models", "show", "deep-mlp", "--dataset", "digitz"}).err, HasSubstr("--dataset is digitz, which is no data set"));
    const auto table = home.run({"models", "show", "cnn-small", "--json"});
    ASSERT_EQ(table.code, 0) << table.err;
    const auto json = table.json();
    EXPECT_EQ(json["parameters"], 80 + 16 + 1168 + 32 + 650);
    EXPECT_EQ(json["layers"][0]["output"], (std::vector<int>{8, 8, 8}));
    EXPECT_EQ(json["layers"][9]["path"], "head");
    EXPECT_EQ(json["training_bytes"], 4 * 4 * 1946 + (16 + 32) * 4 + 16);
    EXPECT_EQ(json["problem"], nullptr);
    EXPECT_EQ(home.run({"models", "show", "cnn-smal"}).code, 2);
    EXPECT_THAT(home.run({"models", "show", "cnn"}).err, HasSubstr("cnn is a model of the catalogue, which is no layer list"));
    EXPECT_EQ(home.run({"models", "show", "gone.json"}).code, 6);
    EXPECT_THAT(home.run({"models", "show", "--kinds"}).out, HasSubstr(R"({"conv2d": {"out": 8, "kernel": 3, "padding": 1}})"));
}

TEST(CliLayerList, TheLayerThatIsWrongIsNamedAndNothingIsMade) {
    const Home home;
    const auto list = home.write("net.json", R"({"mantissa_layers": 1, "layers": [{"linear": 32}, {"conv2d": {"out": 8, "kernel": 3}}]})").string();
    const std::string sentence = list + ": layers[1] conv2d: takes channels × height × width, not the 32 that layers[0] linear gives\n          say the form of a sample with \"input\", or put a reshape before it";
    const auto shown = home.run({"models", "show", list});
    EXPECT_EQ(shown.code, 2);
    EXPECT_THAT(shown.out, HasSubstr("✗ 1"));
    EXPECT_THAT(shown.err, HasSubstr(sentence));
    const std::vector<std::vector<std::string>> verbs{{"train", "digits-mlp", "--cpu"}, {"compare", "digits-mlp", "--cpu"}, {"estimate-memory", "digits-mlp", "--no-trial"}};
    for (std::vector<std::string> verb : verbs) {
        verb.insert(verb.end(), {"--model", list});
        const auto refused = home.run(verb);
        EXPECT_EQ(refused.code, 2) << verb[0];
        EXPECT_THAT(refused.err, HasSubstr(sentence)) << verb[0];
        EXPECT_EQ(refused.out, "") << verb[0];
    }
    const auto gone = home.run({"train", "digits-mlp", "--cpu", "--model", "gone.json"});
    EXPECT_EQ(gone.code, 6);
    EXPECT_THAT(gone.err, HasSubstr("gone.json can't be read: No such file or directory"));
    EXPECT_TRUE(home.run_folders().empty());
}

TEST(CliLayerList, MemoryIsCountedFromTheList) {
    const Home home;
    const auto list = home.run({"estimate-memory", "digits-mlp", "--model", home.write("mlp.json", R"({"mantissa_layers": 1, "layers": [{"linear": 128}, "relu", {"linear": "classes"}]})").string(), "--no-trial", "--json"});
    const auto catalogue = home.run({"estimate-memory", "digits-mlp", "--model", "mlp", "--set", "model.hidden=128", "--no-trial", "--json"});
    ASSERT_EQ(list.code, 0) << list.err;
    ASSERT_EQ(catalogue.code, 0) << catalogue.err;
    for (const char* part : {"parameters", "accelerate", "resident"}) EXPECT_EQ(list.json()[part], catalogue.json()[part]) << part;
    EXPECT_EQ(list.json()["largest_layers"], (std::vector<std::string>{"0"}));
}

}  // namespace
}  // namespace mantissa::system_test
