// Sizes, weights and multiply-adds of a list on a data set, and the layer that doesn't fit.
#include "layers/layer_fit.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/work_folder.h"
#include "layers/layer_file.h"
#include "layers/layer_json.h"
#include "layers/layer_rows.h"
#include "layers/layer_shapes.h"

namespace mantissa::layers {
namespace {

const SampleForm digits{"digits", {64}, 10};

FittedList fitted(const std::string& layers, const SampleForm& sample = digits, const std::string& input = "") {
    const auto list = parse_layer_list(R"({"mantissa_layers": 1, )" + (input.empty() ? "" : "\"input\": " + input + ", ") + R"("layers": [)" + layers + "]}", "net");
    EXPECT_TRUE(list) << describe(list.error());
    return fit(list ? *list : LayerList{}, sample);
}

TEST(LayerFit, SizesWeightsAndMultiplyAddsAreThoseOfTheLayers) {
    const FittedList net = fitted(R"({"conv2d": {"out": 8, "kernel": 3, "padding": 1}}, "batch_norm", "relu", {"max_pool2d": 2}, {"conv2d": {"out": 16, "kernel": 3, "padding": "same", "groups": 4, "bias": false}},
        {"group_norm": 4}, "global_avg_pool", {"linear": "classes"})", digits, "[1, 8, 8]");
    ASSERT_FALSE(net.problem) << describe(*net.problem);
    const auto rows = layer_rows(net);
    ASSERT_EQ(rows.size(), 8u);
    const auto row = [&](std::size_t i) { return shape_text(rows[i].output) + " " + std::to_string(rows[i].parameters) + " " + std::to_string(rows[i].multiply_adds); };
    EXPECT_EQ(row(0), "8×8×8 80 " + std::to_string(8 * 64 * 9));
    EXPECT_EQ(row(1), "8×8×8 16 0");
    EXPECT_EQ(rows[1].buffer_bytes, 2 * 8 * 4 + 8);
    EXPECT_EQ(row(3), "8×4×4 0 0");
    EXPECT_EQ(row(4), "16×4×4 " + std::to_string(16 * 2 * 9) + " " + std::to_string(16 * 16 * 2 * 9));
    EXPECT_EQ(rows[4].text, "conv2d 16, kernel 3, padding 1, groups 4, bias false");
    EXPECT_EQ(row(5), "16×4×4 32 0");
    EXPECT_EQ(row(6), "16 0 0");
    EXPECT_EQ(row(7), "10 170 160");
    EXPECT_EQ(rows[7].path, "7");
}

TEST(LayerFit, TextsGatesAndResidualsHaveNamedParts) {
    const FittedList net = fitted(R"({"embedding": {"vocabulary": 17, "out": 32}}, "positional_embedding", {"residual": ["layer_norm", {"attention": {"heads": 4, "causal": true}}]},
        {"residual": ["rms_norm", {"gate": 64}, {"linear": 32}], "name": "feed"}, {"residual": {"layers": [{"linear": 16}], "shortcut": [{"linear": {"out": 16, "bias": false}}]}}, "mean_tokens", {"linear": "classes"})");
    ASSERT_FALSE(net.problem) << describe(*net.problem);
    std::string modules;
    for (const ModuleSize& module : module_sizes(net.list)) modules += module.path + ":" + std::to_string(module.parameters) + " ";
    EXPECT_EQ(modules, "0:544 1:2048 2.0:64 2.1.qkv:3168 2.1.out:1056 feed.0:32 feed.1.value:2112 feed.1.opening:2112 feed.2:2080 4.0:528 4.shortcut.0:512 6:170 ");
    const auto rows = layer_rows(net);
    EXPECT_EQ(rows[2].depth, 0);
    EXPECT_EQ(rows[4].depth, 1);
    EXPECT_EQ(rows[4].path, "2.1");
    EXPECT_EQ(rows[4].multiply_adds, 4 * 64 * 32 * 32 + 2 * 64 * 64 * 32);
    EXPECT_EQ(shape_text(rows[0].output), "64×32");
}

TEST(LayerFit, TheLayerThatDoesntFitIsNamedWithWhatItGot) {
    const std::string image = "[1, 8, 8]";
    const std::vector<std::tuple<std::string, std::string, std::string, std::string>> cases{
        {"", R"({"linear": 20}, {"conv2d": {"out": 8, "kernel": 3}})", "layers[1]", "layers[1] conv2d: takes channels × height × width, not the 20 that layers[0] linear gives — say the form of a sample with \"input\", or put a reshape before it"},
        {image, R"({"conv2d": {"out": 8, "kernel": 3, "padding": 1}}, {"max_pool2d": 2}, {"conv2d": {"out": 8, "kernel": 5}})", "layers[2]",
         "layers[2] conv2d: kernel 5 doesn't fit the 8×4×4 that layers[1] max_pool2d gives (width 4) — use a kernel of at most 4, or padding 1"},
        {image, R"({"max_pool2d": 9})", "layers[0]", "layers[0] max_pool2d: kernel 9 doesn't fit the 1×8×8 that input gives (width 8) — use a kernel of at most 8, or padding 1"},
        {image, R"({"conv2d": {"out": 8, "kernel": 2, "padding": "same"}})", "layers[0]", "layers[0] conv2d: pads to the same size, which needs stride 1 and an odd kernel — say the padding as a number"},
        {image, R"({"conv2d": {"out": 8, "kernel": 3, "groups": 2}})", "layers[0]", "layers[0] conv2d: can't divide 1 channels in and 8 out into 2 groups — use a number of groups that divides both, as 1 does"},
        {image, R"({"group_norm": 4})", "layers[0]", "layers[0] group_norm: can't divide 1 channels into 4 groups — use a number of groups that divides 1"},
        {image, R"({"max_pool2d": {"kernel": 2, "padding": 2}})", "layers[0]", "layers[0] max_pool2d: pads by more than half of its kernel — use a padding of at most half the kernel"},
        {"", R"({"reshape": [3, 8, 8]})", "layers[0]", "layers[0] reshape: to 3×8×8 needs 192 values, the 64 that a sample of digits gives has 64 — use sizes whose product is 64"},
        {"", R"({"layer_norm": {"dimensions": 2}})", "layers[0]", "layers[0] layer_norm: goes over 2 dimensions, more than the 64 that a sample of digits gives — use at most 1"},
        {"", R"({"embedding": {"vocabulary": 17, "out": 30}}, {"attention": 4})", "layers[1]", "layers[1] attention: can't divide 30 features among 4 heads — use a number of heads that divides 30"},
        {"", R"({"attention": 4})", "layers[0]", "layers[0] attention: takes pieces × features, not the 64 that a sample of digits gives — say the form"},
        {"", R"({"residual": [{"linear": 32}, "relu"]})", "layers[0]", "layers[0] residual: its layers give 32, its input is 64, and only equal sizes can be added — let its layers keep the sizes"},
        {"", R"({"residual": {"layers": [{"linear": 32}], "shortcut": [{"linear": 16}]}})", "layers[0]", "layers[0] residual: its layers give 32, its shortcut gives 16, and only equal"},
        {"", R"({"residual": [{"linear": 64}, {"max_pool2d": 2}]})", "layers[0].residual[1]", "layers[0].residual[1] max_pool2d: takes channels × height × width, not the 64 that layers[0].residual[0] linear gives"},
        {"", R"({"linear": 8})", "layers[0]", R"(layers[0] linear: the list ends with 8 for a sample, but digits has 10 classes, each with a number of its own — end it with "flatten" or "mean_tokens" and {"linear": "classes"})"},
        {image, R"({"conv2d": {"out": 8, "kernel": 3}})", "layers[0]", "layers[0] conv2d: the list ends with 8×6×6 for a sample, but digits has 10 classes"},
        {"", R"("relu")", "layers[0]", "layers[0] relu: no layer of the list has weights, so nothing can be trained"},
        {"[1, 28, 28]", R"({"linear": "classes"})", "", "input is 1×28×28, 784 values, but a sample of digits has 64 — say the form of its samples, or drop input"},
        {"", R"({"linear": 1000000}, {"linear": 1000000})", "layers[1]", "layers[1] linear: has 1,000,001,000,000 weights, more than 1,000,000,000 — use smaller sizes"},
        {"", R"({"linear": 1000000}, {"linear": 900}, {"linear": 1000000})", "layers[2]", "layers[2] linear: the model has more than 1,000,000,000 weights here"},
        {"", R"({"reshape": [64, 1]}, {"linear": 1000000}, {"attention": 1})", "layers[2]", "layers[2] attention: "}};
    for (const auto& [input, layers, place, sentence] : cases) {
        const FittedList net = fitted(layers, digits, input);
        ASSERT_TRUE(net.problem) << layers;
        EXPECT_EQ(net.problem->code, ErrorCode::BadPlan);
        EXPECT_EQ(net.problem_place, place) << layers;
        EXPECT_TRUE(describe(*net.problem).starts_with(sentence)) << describe(*net.problem) << "\n  instead of\n" << sentence;
    }
}

TEST(LayerFit, AValueWantsOneNumberAndATextOneRowForEachPiece) {
    SampleForm house{"houses", {8}, 1, SampleForm::Target::Value};
    EXPECT_FALSE(fitted(R"({"linear": 16}, "relu", {"linear": "classes"})", house).problem);
    EXPECT_TRUE(fitted(R"({"linear": 2})", house).problem->message.ends_with("the list ends with 2 for a sample, but the labels of houses are values, one a sample"));
    SampleForm text{"poem", {16}, 30, SampleForm::Target::EachPiece};
    const std::string start = R"({"embedding": {"vocabulary": "classes", "out": 8}}, "positional_embedding", {"attention": {"heads": 2, "causal": true}})";
    EXPECT_FALSE(fitted(start + R"(, {"linear": "classes"})", text).problem);
    EXPECT_TRUE(fitted(start + R"(, "mean_tokens", {"linear": "classes"})", text).problem->message.ends_with("the list ends with 30 for a sample, but poem has 30 classes for each of the 16 pieces"));
}

TEST(LayerFit, RowsUpToTheProblemStandWithTheirSizes) {
    const FittedList net = fitted(R"({"linear": 16}, {"max_pool2d": 2}, {"linear": "classes"})");
    const auto rows = layer_rows(net);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_TRUE(rows[0].is_fitted);
    EXPECT_EQ(rows[0].problem, "");
    EXPECT_FALSE(rows[1].is_fitted);
    EXPECT_NE(rows[1].problem, "");
    EXPECT_FALSE(rows[2].is_fitted);
    EXPECT_EQ(rows[2].problem, "");
}

TEST(LayerFile, KnowsTheFormOfTheCataloguesSamplesAndOfAFiles) {
    DatasetPlan data;
    EXPECT_EQ(sample_form(data)->sizes, (Shape{64}));
    data.name = "fashion-mnist-part";
    EXPECT_EQ(sample_form(data)->sizes, (Shape{1, 28, 28}));
    EXPECT_EQ(sample_form(data)->classes, 10);
    data.name = "constitution";
    EXPECT_EQ(sample_form(data)->sizes, (Shape{64}));
    EXPECT_EQ(sample_form(data)->classes, 74);
    EXPECT_EQ(sample_form(data)->target, SampleForm::Target::EachPiece);
    const WorkFolder folder = WorkFolder::make("layers").value();
    data.file = (folder.path() / "houses.csv").string();
    std::ofstream(data.file) << "rooms,size,price\n1,20.5,1.5\n2,30.5,2.25\n3,40.5,3.125\n";
    EXPECT_EQ(sample_form(data)->name, "houses.csv");
    EXPECT_EQ(sample_form(data)->sizes, (Shape{2}));
    EXPECT_EQ(sample_form(data)->target, SampleForm::Target::Value);
}

TEST(LayerFile, ThePresetsFitTheDataThatTheyAreFor) {
    for (const auto& [preset, dataset] : {std::pair{"char-transformer", "constitution"}, {"cnn-pictures", "fashion-mnist-part"}, {"cnn-small", "digits"}, {"deep-mlp", "breast-cancer"},
                                          {"gated-layers", "digits"}, {"pixel-transformer", "digits"}, {"resnet-small", "digits"}, {"t5-feed-forward", "digits"}}) {
        RunPlan plan;
        plan.model.file = std::string(MANTISSA_RESOURCES_DIR) + "/models/" + preset + ".json";
        plan.dataset.name = dataset;
        const auto fits = check_layer_list(plan);
        EXPECT_TRUE(fits) << describe(fits.error());
    }
}

TEST(LayerFile, ErrorsNameTheFileAndItsCodeTellsReadingFromContent) {
    const WorkFolder folder = WorkFolder::make("layers").value();
    const std::string file = (folder.path() / "net.json").string();
    EXPECT_EQ(read_layer_list(file).error().code, ErrorCode::InputOutput);
    EXPECT_EQ(describe(read_layer_list(file).error()), file + " can't be read: No such file or directory");
    RunPlan plan;
    plan.model.file = file;
    EXPECT_EQ(check_layer_list(plan).error().code, ErrorCode::InputOutput);
    std::ofstream(file) << R"({"mantissa_layers": 1, "layers": [{"linear": 3}]})";
    EXPECT_EQ(read_layer_list(file)->name, "net");
    EXPECT_EQ(check_layer_list(plan).error().code, ErrorCode::BadPlan);
    EXPECT_TRUE(check_layer_list(plan).error().message.starts_with(file + ": layers[0] linear: the list ends with 3 for a sample"));
    plan.dataset.name = "breast-cancer";
    EXPECT_TRUE(check_layer_list(plan));  // two classes
    std::ofstream(file) << std::string(layer_file_limit_bytes + 1, ' ');
    EXPECT_EQ(read_layer_list(file).error().code, ErrorCode::InputOutput);
    // A TorchScript file is a zip archive.
    const std::string script = (folder.path() / "net.pt").string();
    std::ofstream(script) << "PK\x03\x04 zip";
    plan.model.file = script;
    EXPECT_TRUE(check_layer_list(plan));
}

}  // namespace
}  // namespace mantissa::layers
