#include "layers/layer_kinds.h"

#include <algorithm>

#include "base/assert.h"
#include "base/numbers.h"
#include "plan/nearest.h"

namespace mantissa::layers {
namespace {

using L = ListedLayer;
constexpr double most_features = 1 << 20, largest_kernel = 1024;

LayerSetting features(const char* name = "out") {
    return {name, &L::out, 1, most_features, true, "classes", {}};
}
LayerSetting bias() {
    return {"bias", &L::bias, 0, 0, false, "", {}};
}
LayerSetting eps() {
    return {"eps", &L::eps, 1e-12, 1.0, false, "", {}};
}
LayerSetting kernel() {
    return {"kernel", &L::kernel, 1, largest_kernel, true, "", {}};
}
LayerSetting stride() {
    return {"stride", &L::stride, 1, largest_kernel, false, "", {}};
}
LayerSetting padding(const char* word) {
    return {"padding", &L::padding, 0, largest_kernel, false, word, {}};
}
LayerSetting groups(bool is_needed) {
    return {"groups", &L::groups, 1, most_features, is_needed, "", {}};
}
LayerSetting layers() {
    return {"layers", &L::layers, 0, 0, true, "", {}};
}

LayerKindEntry convolution(LayerKind kind, const char* id, const char* example) {
    return {kind, id, example, "", {features(), kernel(), stride(), padding("same"), groups(false), bias()}};
}
LayerKindEntry pool(LayerKind kind, const char* id, const char* example) {
    return {kind, id, example, "kernel", {kernel(), stride(), padding("")}};
}
LayerKindEntry plain(LayerKind kind, const char* id, const char* example) {
    return {kind, id, example, "", {}};
}

std::vector<LayerKindEntry> weighted_kinds() {
    return {{LayerKind::Linear, "linear", R"({"linear": 128})", "out", {features(), bias()}},
            convolution(LayerKind::Conv1d, "conv1d", R"({"conv1d": {"out": 8, "kernel": 3, "padding": 1}})"),
            convolution(LayerKind::Conv2d, "conv2d", R"({"conv2d": {"out": 8, "kernel": 3, "padding": 1}})"),
            {LayerKind::Embedding,
             "embedding",
             R"({"embedding": {"vocabulary": 64, "out": 32}})",
             "",
             {{"vocabulary", &L::vocabulary, 1, most_features, true, "classes", {}}, features()}},
            {LayerKind::PositionalEmbedding, "positional_embedding", R"("positional_embedding")", "", {}},
            {LayerKind::Attention,
             "attention",
             R"({"attention": {"heads": 4, "causal": true}})",
             "heads",
             {{"heads", &L::heads, 1, 1024, true, "", {}}, {"causal", &L::causal, 0, 0, false, "", {}}, bias()}},
            {LayerKind::Gate,
             "gate",
             R"({"gate": {"out": 256, "activation": "relu"}})",
             "out",
             {features(), {"activation", &L::activation, 0, 0, false, "", {"relu", "gelu", "silu", "sigmoid", "tanh"}}, bias()}},
            {LayerKind::BatchNorm, "batch_norm", R"("batch_norm")", "", {eps(), {"momentum", &L::momentum, 0, 1, false, "", {}}}},
            {LayerKind::LayerNorm, "layer_norm", R"("layer_norm")", "", {{"dimensions", &L::dimensions, 1, 3, false, "", {}}, eps()}},
            {LayerKind::GroupNorm, "group_norm", R"({"group_norm": 4})", "groups", {groups(true), eps()}},
            {LayerKind::RmsNorm, "rms_norm", R"("rms_norm")", "", {eps()}}};
}

std::vector<LayerKindEntry> plain_kinds() {
    return {plain(LayerKind::Relu, "relu", R"("relu")"),
            plain(LayerKind::Gelu, "gelu", R"("gelu")"),
            plain(LayerKind::Silu, "silu", R"("silu")"),
            plain(LayerKind::Sigmoid, "sigmoid", R"("sigmoid")"),
            plain(LayerKind::Tanh, "tanh", R"("tanh")"),
            plain(LayerKind::Softmax, "softmax", R"("softmax")"),
            plain(LayerKind::Square, "square", R"("square")"),
            {LayerKind::Times, "times", R"({"times": 300})", "factor", {{"factor", &L::factor, -1e38, 1e38, true, "", {}}}},
            {LayerKind::Dropout, "dropout", R"({"dropout": 0.1})", "share", {{"share", &L::share, 0, 1, true, "", {}}}},
            pool(LayerKind::MaxPool1d, "max_pool1d", R"({"max_pool1d": 2})"),
            pool(LayerKind::MaxPool2d, "max_pool2d", R"({"max_pool2d": 2})"),
            pool(LayerKind::AvgPool1d, "avg_pool1d", R"({"avg_pool1d": 2})"),
            pool(LayerKind::AvgPool2d, "avg_pool2d", R"({"avg_pool2d": 2})"),
            plain(LayerKind::GlobalAvgPool, "global_avg_pool", R"("global_avg_pool")"),
            plain(LayerKind::GlobalMaxPool, "global_max_pool", R"("global_max_pool")"),
            plain(LayerKind::MeanTokens, "mean_tokens", R"("mean_tokens")"),
            plain(LayerKind::Flatten, "flatten", R"("flatten")"),
            {LayerKind::Reshape, "reshape", R"({"reshape": [1, 8, 8]})", "sizes", {{"sizes", &L::sizes, 1, most_features, true, "", {}}}},
            plain(LayerKind::Transpose, "transpose", R"("transpose")"),
            {LayerKind::Residual,
             "residual",
             R"({"residual": [{"linear": 64}, "relu"]})",
             "layers",
             {layers(), {"shortcut", &L::shortcut, 0, 0, false, "", {}}, {"in_fp32", &L::in_fp32, 0, 0, false, "", {}}}},
            {LayerKind::Block, "block", R"({"block": [{"linear": 64}, "relu"]})", "layers", {layers()}}};
}

std::string number_text(double value) {
    return value == static_cast<double>(static_cast<std::int64_t>(value)) && value > -1e15 && value < 1e15
               ? std::to_string(static_cast<std::int64_t>(value))
               : to_text(value);
}

std::string value_text(const LayerSetting& setting, const ListedLayer& layer) {
    struct Text {
        const ListedLayer& layer;
        const LayerSetting& setting;
        std::string whole(std::int64_t value) const { return value < 0 && !setting.word.empty() ? setting.word : std::to_string(value); }
        std::string operator()(std::int64_t L::*member) const { return whole(layer.*member); }
        std::string operator()(Pair L::*member) const {
            const Pair& pair = layer.*member;
            const bool is_one = pair.height == pair.width || layer.kind == LayerKind::Conv1d;
            return is_one ? whole(pair.width) : std::to_string(pair.height) + "×" + std::to_string(pair.width);
        }
        std::string operator()(bool L::*member) const { return layer.*member ? "true" : "false"; }
        std::string operator()(double L::*member) const { return number_text(layer.*member); }
        std::string operator()(std::string L::*member) const { return layer.*member; }
        std::string operator()(Shape L::*member) const {
            std::string text;
            for (const std::int64_t size : layer.*member) text += (text.empty() ? "" : "×") + std::to_string(size);
            return text;
        }
        std::string operator()(std::vector<ListedLayer> L::*) const { return ""; }
    };
    return std::visit(Text{layer, setting}, setting.member);
}

}  // namespace

const std::vector<LayerKindEntry>& layer_kinds() {
    static const std::vector<LayerKindEntry> all = [] {
        std::vector<LayerKindEntry> kinds = weighted_kinds(), others = plain_kinds();
        kinds.insert(kinds.end(), others.begin(), others.end());
        return kinds;
    }();
    return all;
}

const LayerKindEntry& entry_of(LayerKind kind) {
    const auto& all = layer_kinds();
    const auto found = std::find_if(all.begin(), all.end(), [kind](const LayerKindEntry& entry) { return entry.kind == kind; });
    MANTISSA_ASSERT(found != all.end());
    return *found;
}

const LayerKindEntry* find_layer_kind(std::string_view id) {
    const auto& all = layer_kinds();
    const auto found = std::find_if(all.begin(), all.end(), [id](const LayerKindEntry& entry) { return entry.id == id; });
    return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> layer_kind_ids() {
    std::vector<std::string> ids;
    for (const LayerKindEntry& entry : layer_kinds()) ids.push_back(entry.id);
    return ids;
}

std::string allowed_values(const LayerSetting& setting) {
    const std::string range = number_text(setting.minimum) + " to " + number_text(setting.maximum);
    const std::string word = setting.word.empty() ? "" : ", or \"" + setting.word + "\"";
    struct Text {
        const LayerSetting& setting;
        const std::string &range, &word;
        std::string operator()(std::int64_t L::*) const { return "a whole number from " + range + word; }
        std::string operator()(Pair L::*) const { return "a whole number from " + range + ", or two of them [height, width]" + word; }
        std::string operator()(bool L::*) const { return "true or false"; }
        std::string operator()(double L::*) const { return "a number from " + range; }
        std::string operator()(std::string L::*) const { return "one of " + join_names(setting.choices); }
        std::string operator()(Shape L::*) const { return "a list of one to four whole numbers from " + range; }
        std::string operator()(std::vector<ListedLayer> L::*) const { return "a list of layers"; }
    };
    return std::visit(Text{setting, range, word}, setting.member);
}

std::string describe(const ListedLayer& layer) {
    const LayerKindEntry& entry = entry_of(layer.kind);
    ListedLayer fresh;
    fresh.kind = layer.kind;
    std::string text = entry.id;
    for (const LayerSetting& setting : entry.settings) {
        const std::string value = value_text(setting, layer);
        if (value.empty() || (!setting.is_needed && value == value_text(setting, fresh))) continue;
        if (setting.name == "stride" && entry.alone == "kernel" && layer.stride == layer.kernel) continue;  // a pool's own
        const bool is_first = setting.name == "out" || (setting.name == entry.alone && setting.name != "heads");
        if (value == "true")
            text += ", " + setting.name;
        else
            text += is_first && text == entry.id ? " " + value : ", " + setting.name + " " + value;
    }
    return text;
}

}  // namespace mantissa::layers
