// What a layer list says, and the sentence for each thing that is wrong with one.
#include "layers/layer_json.h"

#include <gtest/gtest.h>

#include "layers/layer_kinds.h"

namespace mantissa::layers {
namespace {

std::string listed(const std::string& layers, const std::string& more = "") { return R"({"mantissa_layers": 1, "layers": [)" + layers + "]" + more + "}"; }

LayerList good(const std::string& layers) {
    const auto list = parse_layer_list(listed(layers), "net");
    EXPECT_TRUE(list) << mantissa::describe(list.error());
    return list ? *list : LayerList{};
}

std::string refusal(const std::string& text) {
    const auto list = parse_layer_list(text, "net");
    if (list) return "nothing";
    EXPECT_EQ(list.error().code, ErrorCode::BadPlan);
    return mantissa::describe(list.error());
}

std::string refusal_of(const std::string& layers) { return refusal(listed(layers)); }

TEST(LayerJson, ShortAndLongFormsSayTheSame) {
    const LayerList list = good(R"({"linear": 128}, {"linear": {"out": 128}}, "relu", {"relu": {}, "name": "act"}, {"linear": "classes", "name": "head"},
        {"conv2d": {"out": 8, "kernel": [3, 5], "stride": 2, "padding": "same", "bias": false}}, {"max_pool2d": 2}, {"max_pool2d": {"kernel": 3, "stride": 1}}, {"conv1d": {"out": 4, "kernel": 3}})");
    ASSERT_EQ(list.layers.size(), 9u);
    EXPECT_EQ(list.name, "net");
    EXPECT_EQ(list.layers[0].out, 128);
    EXPECT_EQ(list.layers[1].out, 128);
    EXPECT_EQ(list.layers[1].name, "1");
    EXPECT_EQ(list.layers[3].name, "act");
    EXPECT_EQ(list.layers[3].place, "layers[3]");
    EXPECT_EQ(list.layers[4].out, as_many_as_classes);
    EXPECT_EQ(list.layers[5].kernel, (Pair{3, 5}));
    EXPECT_EQ(list.layers[5].padding, (Pair{same_size, same_size}));
    EXPECT_FALSE(list.layers[5].bias);
    EXPECT_EQ(list.layers[6].stride, (Pair{2, 2}));
    EXPECT_EQ(list.layers[7].stride, (Pair{1, 1}));
    EXPECT_EQ(list.layers[8].kernel, (Pair{1, 3}));
    EXPECT_EQ(describe(list.layers[5]), "conv2d 8, kernel 3×5, stride 2, padding same, bias false");
    EXPECT_EQ(describe(list.layers[6]), "max_pool2d 2");
    EXPECT_EQ(describe(list.layers[4]), "linear classes");
}

TEST(LayerJson, LayersInLayersKnowTheirPlace) {
    const LayerList list = good(R"({"residual": [{"linear": 4}, {"block": ["relu"]}]}, {"residual": {"layers": ["relu"], "shortcut": [{"linear": 3}], "in_fp32": true}})");
    EXPECT_EQ(list.layers[0].layers[1].layers[0].place, "layers[0].residual[1].block[0]");
    EXPECT_EQ(list.layers[1].shortcut[0].place, "layers[1].residual.shortcut[0]");
    EXPECT_TRUE(list.layers[1].in_fp32);
    EXPECT_EQ(describe(list.layers[1]), "residual, in_fp32");
}

TEST(LayerJson, EveryExampleOfTheTableIsReadAsItsKind) {
    for (const LayerKindEntry& entry : layer_kinds()) {
        const LayerList list = good(entry.example);
        ASSERT_EQ(list.layers.size(), 1u) << entry.id;
        EXPECT_EQ(list.layers[0].kind, entry.kind) << entry.id;
    }
}

TEST(LayerJson, WhatIsWrongIsNamedByItsPlaceWithTheWayOut) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {R"({"lineer": 128})", R"(layers[0] names "lineer", which is no kind of layer — did you mean linear? Kinds: )"},
        {R"("relu", "rely")", R"(layers[1] names "rely", which is no kind of layer — did you mean relu, gelu? Kinds: )"},
        {R"({"conv2d": {"out": 8, "kernl": 3}})", "layers[0].conv2d.kernl is no setting of conv2d — did you mean kernel? it has out, kernel, stride, padding, groups, bias"},
        {R"({"conv2d": {"out": 8}})", R"(layers[0].conv2d has no kernel — write it like {"conv2d": {"out": 8, "kernel": 3, "padding": 1}})"},
        {R"({"conv2d": 8})", R"(layers[0].conv2d is 8 — write it like {"conv2d": {"out": 8, "kernel": 3, "padding": 1}})"},
        {R"("linear")", R"(layers[0].linear has no out — write it like {"linear": 128})"},
        {R"({"linear": 0})", R"(layers[0].linear is 0 — use a whole number from 1 to 1048576, or "classes")"},
        {R"({"linear": 2000000})", R"(layers[0].linear is 2000000 — use a whole number from 1 to 1048576, or "classes")"},
        {R"({"linear": 1.5})", R"(layers[0].linear is 1.5 — use a whole number from 1 to 1048576, or "classes")"},
        {R"({"linear": "class"})", R"(layers[0].linear is "class" — use a whole number from 1 to 1048576, or "classes")"},
        {R"({"linear": true})", R"(layers[0].linear is true — use a whole number from 1 to 1048576, or "classes")"},
        {R"({"linear": {"out": 4, "bias": 1}})", "layers[0].linear.bias is 1 — use true or false"},
        {R"({"relu": 3})", R"(layers[0].relu is 3 — write it like "relu")"},
        {R"({"relu": {"slope": 1}})", "layers[0].relu.slope is no setting of relu — relu has none"},
        {R"({"dropout": 1.5})", "layers[0].dropout is 1.5 — use a number from 0 to 1"},
        {R"({"times": "two"})", R"(layers[0].times is "two" — use a number from )"},
        {R"({"max_pool2d": [2, 2, 2]})", "layers[0].max_pool2d is a list of 3 — use a whole number from 1 to 1024, or two of them [height, width]"},
        {R"({"max_pool1d": [2, 2]})", "layers[0].max_pool1d is a list, but along one dimension there is one size — use a whole number"},
        {R"({"conv2d": {"out": 8, "kernel": [3, 0]}})", "layers[0].conv2d.kernel[1] is 0 — use a whole number from 1 to 1024"},
        {R"({"gate": {"out": 4, "activation": "rellu"}})", R"(layers[0].gate.activation is "rellu" — did you mean relu, gelu? use one of relu, gelu, silu, sigmoid, tanh)"},
        {R"({"linear": 4, "relu": {}})", "layers[0] names two kinds, linear and relu — one layer in each pair of braces"},
        {R"({"name": "a"})", R"(layers[0] names no kind of layer — write it like {"linear": 128})"},
        {R"(7)", R"(layers[0] is 7, no layer — write it like "relu" or {"linear": 128})"},
        {R"({"linear": 4, "name": "a.b"})", R"(layers[0].name is "a.b" — use letters, digits and _, a letter or _ first, at most 40)"},
        {R"({"linear": 4, "name": "3"})", R"(layers[0].name is "3" — use letters, digits and _, a letter or _ first, at most 40)"},
        {R"({"linear": 4, "name": "shortcut"})", R"(layers[0].name is "shortcut", the name of a residual's second way — choose another)"},
        {R"({"linear": 4, "name": "a"}, "relu", {"linear": 4, "name": "a"})", R"(layers[2].name is "a", which is layers[0]'s already — choose another)"},
        {R"({"residual": "relu"})", R"(layers[0].residual is "relu", not a list of layers — write it like [{"linear": 128}, "relu"])"},
        {R"({"residual": []})", "layers[0].residual is empty — a list of layers has one at least"},
        {R"({"residual": [{"conv2d": {"out": 4, "kernel": 3}}, {"residual": [{"linear": -1}]}]})", R"(layers[0].residual[1].residual[0].linear is -1 — use a whole number)"},
        {R"({"reshape": []})", "layers[0].reshape is a list of 0 — use a list of one to four whole numbers from 1 to 1048576"},
        {R"({"reshape": [4, "x"]})", R"(layers[0].reshape[1] is "x" — use a list of one to four)"}};
    for (const auto& [layers, sentence] : cases) EXPECT_TRUE(refusal_of(layers).starts_with(sentence)) << refusal_of(layers) << "\n  instead of\n" << sentence;
}

TEST(LayerJson, TheWholeIsCheckedBeforeItsLayers) {
    EXPECT_EQ(refusal(R"({"layers": ["relu"]})"), R"(mantissa_layers is missing — a layer list begins with "mantissa_layers": 1)");
    EXPECT_EQ(refusal(R"({"mantissa_layers": 2, "layers": ["relu"]})"), "mantissa_layers is 2 — this program reads version 1");
    EXPECT_EQ(refusal(R"({"mantissa_layers": 1, "layer": []})"), R"("layer" is no part of a layer list — did you mean layers? it has mantissa_layers, name, about, input, layers)");
    EXPECT_TRUE(refusal(R"({"mantissa_layers": 1})").starts_with("layers is missing"));
    EXPECT_TRUE(refusal("[]").starts_with("it is a list, no layer list — write it like {"));
    EXPECT_TRUE(refusal("").starts_with("it is empty (line 1, byte 0) — write it like {"));
    EXPECT_TRUE(refusal("{\"mantissa_layers\": 1,\n \"layers\": [}").starts_with("not JSON at line 2, byte ")) << refusal("{\"mantissa_layers\": 1,\n \"layers\": [}");
    EXPECT_TRUE(refusal(R"({"mantissa_layers": 1, "mantissa_layers": 1})").starts_with(R"("mantissa_layers" appears twice in one object)"));
    EXPECT_TRUE(refusal(listed(R"("relu")", R"(, "input": 28)")).starts_with("input is 28 — use a list of one to four whole numbers"));
    EXPECT_TRUE(refusal(listed(R"("relu")", R"(, "name": "")")).starts_with("name is empty, too long or no single line"));
}

TEST(LayerJson, ItsCostIsBounded) {
    std::string many = R"("relu")";
    for (std::size_t i = 1; i < most_layers; ++i) many += R"(,"relu")";
    EXPECT_EQ(refusal_of(many), "nothing");
    EXPECT_EQ(refusal_of(many + R"(,"relu")"), "layers ends a list of more than 1,000 layers — use fewer");
    const auto nested = [](int depth) {
        std::string text = R"("relu")";
        for (int i = 1; i < depth; ++i) text = R"({"block": [)" + text + "]}";
        return text;
    };
    EXPECT_EQ(refusal_of(nested(deepest_layers)), "nothing");
    EXPECT_NE(refusal_of(nested(deepest_layers + 1)).find("lies in more than 8 layers"), std::string::npos);
    EXPECT_NE(refusal_of(nested(5000)).find("nested deeper than 64 levels"), std::string::npos);
}

}  // namespace
}  // namespace mantissa::layers
