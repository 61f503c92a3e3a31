#pragma once
// The one table of the kinds of layers: id, settings with bounds, and which of them may stand alone ({"linear": 128}). Reading,
// messages and the help of `mantissa models show` work from it.
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "layers/layer_list.h"

namespace mantissa::layers {

using SettingMember = std::variant<std::int64_t ListedLayer::*, Pair ListedLayer::*, bool ListedLayer::*, double ListedLayer::*,
                                   std::string ListedLayer::*, Shape ListedLayer::*, std::vector<ListedLayer> ListedLayer::*>;

struct LayerSetting {
    std::string name;
    SettingMember member;
    double minimum = 0, maximum = 0;   // of numbers
    bool is_needed = false;
    std::string word;                  // the one text that a number may be instead: "classes", "same"
    std::vector<std::string> choices;  // of texts
};

struct LayerKindEntry {
    LayerKind kind;
    std::string id;
    std::string example;  // how it is written
    std::string alone;    // the setting that a plain value stands for; empty: none
    std::vector<LayerSetting> settings;
};

[[nodiscard]] const std::vector<LayerKindEntry>& layer_kinds();
[[nodiscard]] const LayerKindEntry& entry_of(LayerKind kind);
[[nodiscard]] const LayerKindEntry* find_layer_kind(std::string_view id);
[[nodiscard]] std::vector<std::string> layer_kind_ids();
/// "a whole number from 1 to 1,048,576, or \"classes\"".
[[nodiscard]] std::string allowed_values(const LayerSetting& setting);
/// "conv2d 8, kernel 3, padding 1": the layer with what differs from the defaults.
[[nodiscard]] std::string describe(const ListedLayer& layer);

}  // namespace mantissa::layers
