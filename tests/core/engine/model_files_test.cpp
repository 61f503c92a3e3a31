// save_model, load_model: what Python finds, shards, tied weights, lists of what doesn't fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/accelerator.h"
#include "tests/core/engine/small_model.h"
#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;
namespace nn = torch::nn;
using mantissa::testing::content_of;
using mantissa::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct Net : nn::Module {
    Net() {
        in = register_module("in", nn::Linear(3, 4));
        norm = register_module("norm", nn::BatchNorm1d(4));
        out = register_module("out", nn::Linear(4, 2));
    }
    torch::Tensor forward(const torch::Tensor& x) { return out(norm(in(x))); }
    nn::Linear in{nullptr}, out{nullptr};
    nn::BatchNorm1d norm{nullptr};
};

struct Table : nn::Module {
    explicit Table(torch::Tensor start) : weight(register_parameter("weight", std::move(start))) {}
    torch::Tensor weight;
};
struct Tied : nn::Module {
    Tied() {
        embed = register_module("embed", std::make_shared<Table>(torch::randn({5, 3})));
        head = register_module("head", std::make_shared<Table>(embed->weight));
    }
    std::shared_ptr<Table> embed, head;
};

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

void expect_equal(const nn::Module& a, const nn::Module& b) {
    const auto left = weights_of(a), right = weights_of(b);
    ASSERT_EQ(left.size(), right.size());
    for (std::size_t i = 0; i < left.size(); ++i) EXPECT_TRUE(torch::equal(left[i].second, right[i].second)) << left[i].first;
}

TEST(ModelFilesTest, Fault36APreparedModelIsSavedUnderBareNamesInFp32AndReloadsPlain) {
    const TemporaryFolder folder;
    Accelerator accelerator({.mixed_precision = Precision::Fp16, .device = "cpu"});
    auto model = accelerator.prepare(std::make_shared<Net>());
    (void)model(torch::randn({4, 3}));  // the statistics of batch norm are no longer what they were made with
    EXPECT_THAT(accelerator.save_model(model, folder.path()), ElementsAre(folder.path() / "model.safetensors"));
    std::vector<std::string> names;
    for (const auto& [name, tensor] : read_weights(folder.path())) {
        names.push_back(name);
        EXPECT_EQ(tensor.scalar_type(), name == "norm.num_batches_tracked" ? at::kLong : at::kFloat) << name;
    }
    EXPECT_THAT(names, UnorderedElementsAre("in.weight", "in.bias", "norm.weight", "norm.bias", "norm.running_mean",
                                            "norm.running_var", "norm.num_batches_tracked", "out.weight", "out.bias"));
    Net plain;
    EXPECT_TRUE(load_weights(plain, folder.path()).is_complete());
    expect_equal(plain, *model.unwrap());
}

TEST(ModelFilesTest, LargeModelsGoIntoShardsWithAnIndexAndOldShardsGo) {
    const TemporaryFolder folder;
    const Net net;
    const auto files = save_weights(weights_of(net), folder.path(), {.max_shard_size = 40});
    EXPECT_THAT(names_in(folder.path()),
                ElementsAre("model-00001-of-00005.safetensors", "model-00002-of-00005.safetensors", "model-00003-of-00005.safetensors",
                            "model-00004-of-00005.safetensors", "model-00005-of-00005.safetensors", "model.safetensors.index.json"));
    EXPECT_THAT(content_of(folder.path() / "model.safetensors.index.json"), HasSubstr("\"total_size\": 176"));
    Net other;
    EXPECT_TRUE(load_weights(other, folder.path()).is_complete());
    expect_equal(other, net);
    save_weights(weights_of(net), folder.path(), {.max_shard_size = 150});
    EXPECT_EQ(names_in(folder.path()).size(), 3u);
    EXPECT_TRUE(load_weights(other, folder.path() / "model.safetensors.index.json").is_complete());
    save_weights(weights_of(net), folder.path());
    EXPECT_THAT(names_in(folder.path()), ElementsAre("model.safetensors"));
}

TEST(ModelFilesTest, ADamagedIndexOrAMissingShardIsNamed) {
    const TemporaryFolder folder;
    const Net net;
    save_weights(weights_of(net), folder.path(), {.max_shard_size = 40});
    fs::remove(folder.path() / "model-00003-of-00005.safetensors");
    const auto refusal = [&] {
        try {
            (void)read_weights(folder.path());
        } catch (const std::exception& problem) {
            return std::string(problem.what());
        }
        return std::string("no refusal");
    };
    EXPECT_THAT(refusal(), HasSubstr("model-00003-of-00005.safetensors can't be read"));
    std::ofstream(folder.path() / "model.safetensors.index.json") << R"({"weight_map":{"a":"../../secret.safetensors"}})";
    EXPECT_THAT(refusal(), HasSubstr("names '../../secret.safetensors', which is no shard beside it"));
    std::ofstream(folder.path() / "model.safetensors.index.json") << "[]";
    EXPECT_THAT(refusal(), HasSubstr("has no \"weight_map\""));
    fs::remove(folder.path() / "model.safetensors.index.json");
    EXPECT_THAT(refusal(), HasSubstr("holds neither model.safetensors nor model.safetensors.index.json"));
}

TEST(ModelFilesTest, TiedWeightsAreSavedOnceAndStayTied) {
    const TemporaryFolder folder;
    Tied tied;
    save_weights(weights_of(tied), folder.path());
    EXPECT_EQ(fs::file_size(folder.path() / "model.safetensors") % 8, 4u);  // 15 values once
    EXPECT_THAT(content_of(folder.path() / "model.safetensors"), HasSubstr(R"("head.weight":"embed.weight")"));
    Tied other;
    EXPECT_TRUE(load_weights(other, folder.path()).is_complete());
    EXPECT_TRUE(torch::equal(other.head->weight, tied.embed->weight));
    EXPECT_EQ(other.head->weight.const_data_ptr(), other.embed->weight.const_data_ptr());
    // Python drops the tied name without a word in the metadata.
    ASSERT_TRUE(write_tensor_file(folder.path() / "bare.safetensors", {{"embed.weight", torch::ones({5, 3})}}));
    EXPECT_TRUE(load_weights(other, folder.path() / "bare.safetensors").is_complete());
    EXPECT_TRUE(torch::equal(other.head->weight, torch::ones({5, 3})));
}

TEST(ModelFilesTest, WhatDoesNotFitIsListedAndStrictTakesNothing) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "w.safetensors";
    ASSERT_TRUE(write_tensor_file(file, {{"in.weight", torch::ones({4, 3})}, {"in.bias", torch::ones({5})}, {"lost", torch::ones({1})}}));
    Net net;
    const torch::Tensor before = net.in->weight.detach().clone();
    try {
        (void)load_weights(net, file);
        FAIL();
    } catch (const EngineError& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("missing: norm.weight"));
        EXPECT_THAT(problem.what(), HasSubstr("not in the model: lost"));
        EXPECT_THAT(problem.what(), HasSubstr("in.bias: Float [5] in the file, Float [4] in the model"));
    }
    EXPECT_TRUE(torch::equal(net.in->weight, before));
    const LoadedModel found = load_weights(net, file, false);
    EXPECT_THAT(found.unexpected, ElementsAre("lost"));
    EXPECT_THAT(found.mis_shaped, ElementsAre("in.bias: Float [5] in the file, Float [4] in the model"));
    EXPECT_EQ(found.missing.size(), 7u);
    EXPECT_TRUE(torch::equal(net.in->weight, torch::ones({4, 3})));
}

TEST(ModelFilesTest, AFileOfPythonInHalfFillsAnFp32Model) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "w.safetensors";
    ASSERT_TRUE(write_tensor_file(file, {{"weight", torch::full({1}, 1.5, at::kHalf)}}));
    const auto model = small_model(0.0);
    EXPECT_THAT(load_weights(*model, file).mis_shaped, IsEmpty());
    EXPECT_EQ(value(model->weight), 1.5);
    EXPECT_EQ(model->weight.scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace mantissa
