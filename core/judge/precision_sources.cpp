#include "judge/precision_sources.h"

#include <nlohmann/json.hpp>

#include "judge/report_words.h"

namespace mantissa {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* name) {
    return object.is_object() && object.contains(name) && object.at(name).is_string() ? object.at(name).get<std::string>()
                                                                                       : std::string();
}

/// "the flag --mixed_precision", "built-in default".
std::string source_words(const Json& source, const TextCatalogue& texts) {
    const std::string kind = text_of(source, "source");
    std::string detail = text_of(source, "detail");
    if (detail.starts_with(kind + " ")) detail.erase(0, kind.size() + 1);  // a preset's detail names its kind
    const std::string key = "checks.source." + kind + (detail.empty() ? "_alone" : "");
    return texts.has(key) ? word(texts, key, {{"detail", detail}}) : kind + " " + detail;
}

void add_overruled(const Json& origin, const TextCatalogue& texts, std::vector<std::string>& lines) {
    if (!origin.contains("overruled") || !origin.at("overruled").is_array()) return;
    const std::string winner = text_of(origin, "value");
    for (const Json& lost : origin.at("overruled")) {
        const std::string value = text_of(lost, "value");
        if (value.empty() || value == winner) continue;  // two sources that agree: nothing was overruled
        lines.push_back(
            word(texts, "checks.sources.overruled", {{"value", value}, {"source", source_words(lost, texts)}}));
    }
}

}  // namespace

std::vector<std::string> precision_source_lines(const std::string& plan_json, const TextCatalogue& texts) {
    std::vector<std::string> lines;
    const Json file = Json::parse(plan_json, nullptr, false);
    if (!file.is_object() || !file.contains("sources") || !file.at("sources").is_object()) return lines;
    const Json& sources = file.at("sources");
    const Json builtin{{"source", "default"}, {"detail", ""}};
    const auto origin_of = [&](const char* path) -> const Json& {
        return sources.contains(path) && sources.at(path).is_object() ? sources.at(path) : builtin;
    };
    // A run of a comparison has its mode from the list of modes, which stands before every other source.
    const bool in_list = sources.contains("modes") && !sources.contains("mixed_precision");
    const Json& mode = origin_of(in_list ? "modes" : "mixed_precision");
    const TextValues from{{"value", text_of(mode, "value")}, {"source", source_words(mode, texts)}};
    lines.push_back(word(texts, in_list ? "checks.sources.list" : "checks.sources.mode", from));
    add_overruled(mode, texts, lines);
    const Json& device = origin_of("device");
    lines.push_back(word(texts, "checks.sources.device", {{"value", text_of(device, "value").empty() ? "auto" : text_of(device, "value")},
                                                          {"source", source_words(device, texts)}}));
    add_overruled(device, texts, lines);
    return lines;
}

}  // namespace mantissa
