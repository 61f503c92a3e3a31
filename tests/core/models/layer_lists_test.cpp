// Models of layer lists beside the same modules in PyTorch (make_layer_reference.py), and what the lens, islands and replays see of them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/sha256.h"
#include "base/work_folder.h"
#include "engine/autocast_scope.h"
#include "engine/engine_error.h"
#include "layers/layer_file.h"
#include "layers/layer_rows.h"
#include "models/layer_file_model.h"
#include "models/model_registry.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

std::string preset_file(const std::string& id) { return std::string(MANTISSA_RESOURCES_DIR) + "/models/" + id + ".json"; }

std::shared_ptr<Model> made(const std::string& file, std::int64_t features = 64) {
    auto model = make_model({"mlp", file, 128}, features, 10, 3);
    if (!model) throw EngineError(model.error());
    return *model;
}

std::string digest(const torch::Tensor& tensor) { return sha256_hex({static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()}); }

std::vector<double> ten_losses(const std::string& id, Precision mode) {
    const auto model = made(preset_file(id));
    std::vector<double> losses;
    for (int step = 0; step < 10; ++step) {
        const auto x = ((torch::arange(32 * 64) * 37 + 11 * step).remainder(17)).to(torch::kFloat).div(16).view({32, 64});
        const auto labels = (torch::arange(32) * 7 + step).remainder(10);
        model->zero_grad();
        torch::Tensor loss;
        {
            const AutocastScope autocast(torch::kCPU, autocast_dtype(mode), mode != Precision::No);
            loss = torch::cross_entropy_loss(model->forward(x).to(torch::kFloat), labels);
        }
        loss.backward();
        const torch::NoGradGuard no_grad;
        for (auto& weight : model->parameters()) weight.add_(weight.grad(), -0.05);
        losses.push_back(loss.item<double>());
    }
    return losses;
}

class LayerLists : public testing::TestWithParam<const char*> {
  protected:
    static nlohmann::json reference() { return nlohmann::json::parse(std::ifstream(MANTISSA_TEST_DATA "/core/models/reference_layers.json"))["models"][GetParam()]; }
};

TEST_P(LayerLists, InitialWeightsArePythons) {
    const auto expected = reference()["parameters"];
    const auto parameters = made(preset_file(GetParam()))->parameters();
    ASSERT_EQ(parameters.size(), expected.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_EQ(digest(parameters[i].detach()), expected[i]) << i;
}

// The last bits are the CPU's own; on the one where the reference was made all are equal (recorded as a property).
TEST_P(LayerLists, TenStepsArePythonsInFp32AndBf16) {
    for (const Precision mode : {Precision::No, Precision::Bf16}) {
        const auto expected = reference()["losses"][to_string(mode)].get<std::vector<double>>();
        const auto losses = ten_losses(GetParam(), mode);
        int equal = 0;
        for (std::size_t i = 0; i < 10; ++i) {
            equal += losses[i] == expected[i] ? 1 : 0;
            EXPECT_NEAR(losses[i], expected[i], mode == Precision::No ? 1e-4 : 0.02) << to_string(mode) << " step " << i;
        }
        RecordProperty(std::string("equal_bits_") + to_string(mode), equal);
        std::cout << GetParam() << " " << to_string(mode) << ": " << equal << " of 10 losses to the bit\n";
    }
}

TEST_P(LayerLists, AreAsLargeAsTheirTableSays) {
    const auto model = made(preset_file(GetParam()));
    std::int64_t parameters = 0, bytes = 0;
    for (const auto& tensor : model->parameters()) parameters += tensor.numel(), bytes += static_cast<std::int64_t>(tensor.nbytes());
    for (const auto& buffer : model->buffers()) bytes += static_cast<std::int64_t>(buffer.nbytes());
    const auto list = layers::read_fitted_list(preset_file(GetParam()), {"digits", {64}, 10});
    ASSERT_TRUE(list);
    const ModelSize size = model_size(layers::module_sizes(*list));
    EXPECT_EQ(size.parameters, parameters);
    EXPECT_EQ(size.bytes, bytes);
    // Every module of the table holds weights under its name.
    std::set<std::string> owners;
    for (const auto& entry : model->named_parameters()) owners.insert(entry.key().substr(0, entry.key().rfind('.')));
    for (const ModuleSize& module : layers::module_sizes(*list)) EXPECT_EQ(owners.erase(module.path), 1u) << module.path;
    EXPECT_TRUE(owners.empty()) << *owners.begin();
}

class Outputs : public OutputWatch {
  public:
    void output(const std::string& module, const std::string& op, const std::vector<torch::Tensor>&, const torch::Tensor& result) override {
        names.push_back(op.empty() ? module : module + "." + op);
        shapes[module] = {result.sizes().begin() + 1, result.sizes().end()};
    }
    std::vector<std::string> names;
    std::map<std::string, layers::Shape> shapes;
};

TEST_P(LayerLists, EveryLayerTellsTheOutputThatTheTableSays) {
    const auto model = made(preset_file(GetParam()));
    Outputs outputs;
    const WatchScope scope(outputs);
    (void)model->forward(torch::ones({4, 64}));
    layers::FittedList fitted{*layers::read_fitted_list(preset_file(GetParam()), {"digits", {64}, 10}), {}, {}};
    for (const auto& row : layers::layer_rows(fitted)) EXPECT_EQ(outputs.shapes[row.path], row.output) << row.path;
    for (const std::string& path : model->paths()) EXPECT_TRUE(outputs.shapes.contains(path)) << path;
}

INSTANTIATE_TEST_SUITE_P(Presets, LayerLists, testing::Values("deep-mlp", "cnn-small", "resnet-small", "pixel-transformer", "gated-layers", "t5-feed-forward"),
                         [](const auto& one) { std::string name = one.param; std::replace(name.begin(), name.end(), '-', '_'); return name; });

class OwnList : public testing::Test {
  protected:
    std::string written(const std::string& layers, const std::string& more = "") {
        const std::string file = (m_folder.path() / "net.json").string();
        std::ofstream(file) << R"({"mantissa_layers": 1, )" << more << R"("layers": [)" << layers << "]}";
        return file;
    }
    WorkFolder m_folder = WorkFolder::make("lists").value();
};

TEST_F(OwnList, PathsAndIslandsAreThoseOfNestedModules) {
    const auto model = made(written(R"({"linear": 32}, {"residual": {"layers": [{"gate": 48}, {"linear": 32}], "shortcut": [{"linear": 32}]}, "name": "feed"}, {"linear": "classes"})"));
    EXPECT_EQ(model->paths(), (std::vector<std::string>{"0", "feed.0.value", "feed.0.opening", "feed.0", "feed.1", "feed.shortcut.0", "feed", "2"}));
    Outputs outputs;
    {
        const WatchScope scope(outputs);
        (void)model->forward(torch::ones({2, 64}));
    }
    EXPECT_EQ(outputs.names, (std::vector<std::string>{"0", "feed.0.value", "feed.0.opening", "feed.0.mul", "feed.0", "feed.1", "feed.shortcut.0", "feed", "2"}));
    ASSERT_TRUE(model->set_fp32_islands({"feed.0"}));
    const AutocastScope autocast(torch::kCPU, at::kBFloat16);
    struct Types : OutputWatch {
        void output(const std::string& module, const std::string&, const std::vector<torch::Tensor>&, const torch::Tensor& result) override { types[module] = result.scalar_type(); }
        std::map<std::string, at::ScalarType> types;
    } types;
    const WatchScope scope(types);
    (void)model->forward(torch::ones({2, 64}));
    EXPECT_EQ(types.types["0"], at::kBFloat16);
    EXPECT_EQ(types.types["feed.0.value"], at::kFloat);
    EXPECT_EQ(types.types["feed.0"], at::kFloat);
    EXPECT_EQ(types.types["feed.1"], at::kBFloat16);
}

TEST_F(OwnList, EveryOtherKindComputesWhatItsNameSays) {
    const auto x = torch::arange(16).to(torch::kFloat).view({2, 8}) - 5;
    const auto out = [&](const std::string& layers, const std::string& more = "") {
        const torch::NoGradGuard no_grad;
        return (*load_layer_list(written(layers, more), {"digits", {8}, 1}))->forward(x);
    };
    const std::string head = R"(, {"linear": {"out": 8, "bias": false}})";
    const auto weight = [&](std::int64_t in) { torch::manual_seed(3); return torch::nn::Linear(torch::nn::LinearOptions(in, 8).bias(false))->weight.detach(); };
    const auto through = [&](const torch::Tensor& value) { const auto w = weight(value.size(1)); torch::manual_seed(3); return torch::linear(value, w); };
    const auto expect = [&](const std::string& layers, const torch::Tensor& value, const std::string& more = "") {
        const auto expected = through(value);
        EXPECT_TRUE(torch::allclose(out(layers + head, more), expected, 1e-5, 1e-6)) << layers;
    };
    const std::string image = R"("input": [2, 2, 2], )", row = R"("input": [2, 4], )";
    expect(R"("silu")", torch::silu(x));
    expect(R"("sigmoid")", torch::sigmoid(x));
    expect(R"("tanh")", torch::tanh(x));
    expect(R"("gelu")", torch::gelu(x));
    expect(R"("softmax")", torch::softmax(x, 1));
    expect(R"("square")", x * x);
    expect(R"({"times": -0.5})", x * -0.5);
    expect(R"({"block": ["relu", {"times": 2}]})", torch::relu(x) * 2);
    expect(R"({"max_pool2d": 2}, "flatten")", x.view({2, 2, 4}).amax(2), image);
    expect(R"({"avg_pool2d": 2}, "flatten")", x.view({2, 2, 4}).mean(2), image);
    expect(R"({"max_pool1d": 2}, "flatten")", x.view({2, 4, 2}).amax(2), row);
    expect(R"({"avg_pool1d": 2}, "flatten")", x.view({2, 4, 2}).mean(2), row);
    expect(R"("global_max_pool")", x.view({2, 2, 4}).amax(2), image);
    expect(R"("global_avg_pool")", x.view({2, 2, 4}).mean(2), row);
    expect(R"("mean_tokens")", x.view({2, 2, 4}).mean(1), row);
    expect(R"("transpose", "flatten")", x.view({2, 2, 4}).transpose(1, 2).flatten(1), row);
    expect(R"({"reshape": [4, 2]}, "mean_tokens")", x.view({2, 4, 2}).mean(1));
    expect(R"({"group_norm": 2})", torch::group_norm(x, 2));
    expect(R"("batch_norm")", torch::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false));
    expect(R"({"layer_norm": {"dimensions": 2}}, "flatten")", torch::layer_norm(x.view({2, 2, 4}), {2, 4}).flatten(1), row);
}

TEST_F(OwnList, AConvolutionAlongOneDimensionHasItsStrideAndPadding) {
    const auto model = made(written(R"({"conv1d": {"out": 4, "kernel": 3, "stride": 2, "padding": 1}}, "flatten", {"linear": "classes"})", R"("input": [1, 64], )"));
    EXPECT_EQ(model->forward(torch::ones({5, 64})).sizes(), (std::vector<std::int64_t>{5, 10}));
    EXPECT_EQ(model->named_parameters()["2.weight"].size(1), 4 * 32);
}

TEST_F(OwnList, ACausalAttentionDoesntSeeWhatComesLater) {
    const auto model = load_layer_list(written(R"({"embedding": {"vocabulary": 5, "out": 8}}, {"attention": {"heads": 2, "causal": true}}, {"linear": 1}, "flatten")"), {"texts", {6}, 1});
    ASSERT_TRUE(model) << describe(model.error());
    const torch::NoGradGuard no_grad;
    const auto one = (*model)->forward(torch::tensor({{0, 1, 2, 3, 4, 0}})), other = (*model)->forward(torch::tensor({{0, 1, 2, 4, 4, 4}}));
    EXPECT_TRUE(torch::equal(one.slice(1, 0, 3), other.slice(1, 0, 3)));
    EXPECT_FALSE(torch::equal(one.slice(1, 3), other.slice(1, 3)));
    try {
        (void)(*model)->forward(torch::tensor({{0, 1, 2, 3, 4, 5}}));
        FAIL();
    } catch (const EngineError& error) {
        EXPECT_EQ(error.error().message, "layers[0] embedding: a sample holds a number that is none of the 5 pieces 0 to 4");
    }
}

TEST_F(OwnList, WhatDoesntFitTheDataIsRefusedByItsLayer) {
    const auto model = make_model({"mlp", written(R"({"max_pool2d": 2})"), 128}, 64, 10, 3);
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::BadPlan);
    EXPECT_NE(model.error().message.find("net.json: layers[0] max_pool2d: takes channels"), std::string::npos) << model.error().message;
}

}  // namespace
}  // namespace mantissa
