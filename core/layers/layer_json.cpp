#include "layers/layer_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/numbers.h"
#include "layers/layer_kinds.h"
#include "plan/field_codec.h"
#include "plan/nearest.h"
#include "plan/plan_json.h"

namespace mantissa::layers {
namespace {

using codec::Json;

/// Leaves the reader at the first thing that is wrong; caught where the text was given.
struct Refused {
    Error error;
};

[[noreturn]] void refuse(const std::string& place, const std::string& problem, const std::string& hint) {
    throw Refused{{ErrorCode::BadPlan, place + " " + problem, hint}};
}

std::string shown(const Json& value) {
    if (value.is_object() || value.is_array()) return value.is_object() ? "an object" : "a list";
    return codec::shown(value);
}

std::string did_you_mean(const std::string& written, const std::vector<std::string>& known) {
    const auto near = nearest_names(written, known);
    return near.empty() ? "" : "did you mean " + join_names(near) + "? ";
}

std::string joined(const std::string& place, const std::string& key) {
    return place.empty() ? key : place + "." + key.substr(0, 60);
}

class Reader {
  public:
    std::vector<ListedLayer> list(const Json& json, const std::string& place, int depth);

  private:
    ListedLayer layer(const Json& json, const std::string& place, std::size_t index, int depth);
    void settings(ListedLayer& layer, const LayerKindEntry& entry, const Json& json, int depth);
    void set(ListedLayer& layer, const LayerSetting& setting, const Json& json, const std::string& place, int depth);
    static void set_name(ListedLayer& layer, const Json& json);

    std::size_t m_layers = 0;
};

std::int64_t whole(const LayerSetting& setting, const Json& json, const std::string& place) {
    const bool fits = json.is_number_integer() && json >= setting.minimum && json <= setting.maximum;
    if (!fits) refuse(place, "is " + shown(json), "use " + allowed_values(setting));
    return json.get<std::int64_t>();
}

std::int64_t whole_or_word(const LayerSetting& setting, const Json& json, const std::string& place, std::int64_t meaning) {
    if (!setting.word.empty() && json.is_string() && json == setting.word) return meaning;
    return whole(setting, json, place);
}

Pair pair_of(const LayerSetting& setting, const Json& json, const std::string& place, bool is_flat) {
    if (!json.is_array()) {
        const std::int64_t both = whole_or_word(setting, json, place, same_size);
        return is_flat ? Pair{setting.name == "padding" ? 0 : 1, both} : Pair{both, both};
    }
    if (is_flat || json.size() != 2)
        refuse(place, is_flat ? "is a list, but along one dimension there is one size" : "is a list of " + std::to_string(json.size()),
               is_flat ? "use a whole number" : "use " + allowed_values(setting));
    return {whole(setting, json[0], place + "[0]"), whole(setting, json[1], place + "[1]")};
}

bool is_flat(LayerKind kind) {
    return kind == LayerKind::Conv1d || kind == LayerKind::MaxPool1d || kind == LayerKind::AvgPool1d;
}

Shape shape_of(const LayerSetting& setting, const Json& json, const std::string& place) {
    if (!json.is_array() || json.empty() || json.size() > 4)
        refuse(place, "is " + (json.is_array() ? "a list of " + std::to_string(json.size()) : shown(json)), "use " + allowed_values(setting));
    Shape sizes;
    for (std::size_t i = 0; i < json.size(); ++i) sizes.push_back(whole(setting, json[i], place + "[" + std::to_string(i) + "]"));
    return sizes;
}

void Reader::set(ListedLayer& layer, const LayerSetting& setting, const Json& json, const std::string& place, int depth) {
    struct Set {
        Reader& reader;
        ListedLayer& layer;
        const LayerSetting& setting;
        const Json& json;
        const std::string& place;
        int depth;
        void operator()(std::int64_t ListedLayer::*member) const { layer.*member = whole_or_word(setting, json, place, as_many_as_classes); }
        void operator()(Pair ListedLayer::*member) const { layer.*member = pair_of(setting, json, place, is_flat(layer.kind)); }
        void operator()(bool ListedLayer::*member) const {
            if (!json.is_boolean()) refuse(place, "is " + shown(json), "use " + allowed_values(setting));
            layer.*member = json.get<bool>();
        }
        void operator()(double ListedLayer::*member) const {
            const bool fits = json.is_number() && json.get<double>() >= setting.minimum && json.get<double>() <= setting.maximum;
            if (!fits) refuse(place, "is " + shown(json), "use " + allowed_values(setting));
            layer.*member = json.get<double>();
        }
        void operator()(std::string ListedLayer::*member) const {
            const bool fits =
                json.is_string() && std::find(setting.choices.begin(), setting.choices.end(), json.get<std::string>()) != setting.choices.end();
            if (!fits)
                refuse(place, "is " + shown(json), (json.is_string() ? did_you_mean(json, setting.choices) : "") + "use " + allowed_values(setting));
            layer.*member = json.get<std::string>();
        }
        void operator()(Shape ListedLayer::*member) const { layer.*member = shape_of(setting, json, place); }
        void operator()(std::vector<ListedLayer> ListedLayer::*member) const { layer.*member = reader.list(json, place, depth + 1); }
    };
    std::visit(Set{*this, layer, setting, json, place, depth}, setting.member);
}

/// Of {"conv2d": {…}}; a value that is no object is the setting that may stand alone.
void Reader::settings(ListedLayer& layer, const LayerKindEntry& entry, const Json& json, int depth) {
    const std::string place = layer.place + "." + entry.id;
    std::set<std::string> given;
    const auto of_name = [&entry](const std::string& name) {
        return std::find_if(entry.settings.begin(), entry.settings.end(), [&name](const LayerSetting& one) { return one.name == name; });
    };
    if (!json.is_object()) {
        if (entry.alone.empty()) refuse(place, "is " + shown(json), "write it like " + entry.example);
        set(layer, *of_name(entry.alone), json, place, depth);
        given.insert(entry.alone);
    } else {
        std::vector<std::string> known;
        for (const LayerSetting& setting : entry.settings) known.push_back(setting.name);
        for (const auto& [key, value] : json.items()) {
            const auto setting = of_name(key);
            if (setting == entry.settings.end())
                refuse(joined(place, key), "is no setting of " + entry.id,
                       did_you_mean(key, known) + (known.empty() ? entry.id + " has none" : "it has " + join_names(known)));
            set(layer, *setting, value, joined(place, key), depth);
            given.insert(key);
        }
    }
    for (const LayerSetting& setting : entry.settings)
        if (setting.is_needed && !given.contains(setting.name)) refuse(place, "has no " + setting.name, "write it like " + entry.example);
    if (entry.alone == "kernel" && !given.contains("stride")) layer.stride = layer.kernel;
}

void Reader::set_name(ListedLayer& layer, const Json& json) {
    const std::string place = layer.place + ".name";
    const char* hint = "use letters, digits and _, a letter or _ first, at most 40";
    if (!json.is_string()) refuse(place, "is " + shown(json), hint);
    const auto& name = json.get_ref<const std::string&>();
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const bool fits = !name.empty() && name.size() <= 40 && is_letter(name.front()) &&
                      std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
    if (!fits) refuse(place, "is " + shown(json), hint);
    if (name == "shortcut") refuse(place, "is \"shortcut\", the name of a residual's second way", "choose another");
    layer.name = name;
}

ListedLayer Reader::layer(const Json& json, const std::string& place, std::size_t index, int depth) {
    ListedLayer layer;
    layer.place = place;
    layer.name = std::to_string(index);
    const auto entry_named = [&place](const std::string& id) -> const LayerKindEntry& {
        const LayerKindEntry* entry = find_layer_kind(id);
        if (entry == nullptr)
            refuse(place, "names \"" + id.substr(0, 60) + "\", which is no kind of layer",
                   did_you_mean(id, layer_kind_ids()) + "Kinds: " + join_names(layer_kind_ids()));
        return *entry;
    };
    if (json.is_string()) {
        const LayerKindEntry& entry = entry_named(json);
        layer.kind = entry.kind;
        settings(layer, entry, Json::object(), depth);
        return layer;
    }
    if (!json.is_object()) refuse(place, "is " + shown(json) + ", no layer", "write it like \"relu\" or {\"linear\": 128}");
    std::string kind;
    for (const auto& [key, value] : json.items()) {
        if (key == "name") {
            set_name(layer, value);
            continue;
        }
        (void)entry_named(key);
        if (!kind.empty()) refuse(place, "names two kinds, " + kind + " and " + key, "one layer in each pair of braces");
        kind = key;
    }
    if (kind.empty()) refuse(place, "names no kind of layer", "write it like {\"linear\": 128}");
    const LayerKindEntry& entry = entry_named(kind);
    layer.kind = entry.kind;
    settings(layer, entry, json.at(kind), depth);
    return layer;
}

std::vector<ListedLayer> Reader::list(const Json& json, const std::string& place, int depth) {
    if (!json.is_array()) refuse(place, "is " + shown(json) + ", not a list of layers", "write it like [{\"linear\": 128}, \"relu\"]");
    if (json.empty()) refuse(place, "is empty", "a list of layers has one at least");
    if (depth > deepest_layers) refuse(place, "lies in more than " + std::to_string(deepest_layers) + " layers", "put fewer layers into each other");
    m_layers += json.size();
    if (m_layers > most_layers) refuse(place, "ends a list of more than " + readable_count(most_layers) + " layers", "use fewer");
    std::vector<ListedLayer> layers;
    layers.reserve(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
        layers.push_back(layer(json[i], place + "[" + std::to_string(i) + "]", i, depth));
        const auto twin = std::find_if(layers.begin(), layers.end() - 1, [&](const ListedLayer& other) { return other.name == layers.back().name; });
        if (twin != layers.end() - 1)
            refuse(layers.back().place + ".name", "is \"" + twin->name + "\", which is " + twin->place + "'s already", "choose another");
    }
    return layers;
}

std::string short_text(const Json& json, const std::string& key, std::size_t longest) {
    if (!json.is_string()) refuse(key, "is " + shown(json), "use a text");
    const auto& text = json.get_ref<const std::string&>();
    const bool is_plain = std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (text.empty() || text.size() > longest || !is_plain)
        refuse(key, "is empty, too long or no single line", "use one line of at most " + std::to_string(longest) + " bytes");
    return text;
}

LayerList read(const Json& json, const std::string& name) {
    if (!json.is_object())
        refuse("it", "is " + shown(json) + ", no layer list", R"(write it like {"mantissa_layers": 1, "layers": [{"linear": "classes"}]})");
    const std::vector<std::string> known{"mantissa_layers", "name", "about", "input", "layers"};
    for (const auto& [key, value] : json.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            refuse("\"" + key.substr(0, 60) + "\"", "is no part of a layer list", did_you_mean(key, known) + "it has " + join_names(known));
    if (!json.contains("mantissa_layers")) refuse("mantissa_layers", "is missing", "a layer list begins with \"mantissa_layers\": 1");
    if (json.at("mantissa_layers") != layer_list_version)
        refuse("mantissa_layers", "is " + shown(json.at("mantissa_layers")), "this program reads version 1");
    LayerList list;
    list.name = json.contains("name") ? short_text(json.at("name"), "name", 100) : name;
    if (json.contains("about")) list.about = short_text(json.at("about"), "about", 500);
    const LayerSetting input{"input", &ListedLayer::sizes, 1, 1 << 20, false, "", {}};
    if (json.contains("input")) list.input = shape_of(input, json.at("input"), "input");
    if (!json.contains("layers")) refuse("layers", "is missing", R"(write it like "layers": [{"linear": 128}, "relu", {"linear": "classes"}])");
    list.layers = Reader().list(json.at("layers"), "layers", 1);
    return list;
}

}  // namespace

Result<LayerList> parse_layer_list(std::string_view text, const std::string& name) {
    const auto json = parse_json_text(text);
    if (!json) {
        const bool speaks_of_plans = json.error().hint.starts_with("a plan");
        return Error{json.error().code, json.error().message,
                     speaks_of_plans ? R"(write it like {"mantissa_layers": 1, "layers": [{"linear": "classes"}]})" : json.error().hint};
    }
    try {
        return read(*json, name);
    } catch (const Refused& refused) {
        return refused.error;
    }
}

}  // namespace mantissa::layers
