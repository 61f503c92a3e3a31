#include "plan/presets.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/paths.h"
#include "plan/nearest.h"
#include "plan/plan_json.h"

namespace mantissa {
namespace {

using Json = nlohmann::json;

// From healthy to broken late; a preset that somebody adds to the folder comes after these.
constexpr std::array<const char*, 7> first_presets{"digits-cnn", "digits-mlp",      "article-1",     "article-2",
                                                   "cancer-overflow", "gated-overflow", "digits-bright"};

std::filesystem::path folder_or_default(const std::filesystem::path& folder) {
    return folder.empty() ? resources_folder() / "presets" : folder;
}

Result<Preset> read_preset(const std::filesystem::path& file) {
    auto text = read_file(file, plan_file_limit_bytes);
    if (!text) return text.error();
    auto json = parse_json_text(*text);
    if (!json)
        return Error{json.error().code, file.string() + ": " + json.error().message, json.error().hint};
    Preset preset;
    preset.id = file.stem().string();
    preset.title = preset.id;
    preset.text = std::move(*text);
    const Json about = json->is_object() ? json->value("preset", Json::object()) : Json::object();
    if (about.is_object()) {
        if (about.contains("title") && about["title"].is_string()) preset.title = about["title"];
        if (about.contains("summary") && about["summary"].is_string()) preset.summary = about["summary"];
        if (about.contains("compare_steps") && about["compare_steps"].is_number_integer())
            preset.compare_steps = about["compare_steps"].get<std::int64_t>();
    }
    return preset;
}

Result<std::vector<std::string>> preset_ids(const std::filesystem::path& folder) {
    std::vector<std::string> ids;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        if (entry->path().extension() == ".json") ids.push_back(entry->path().stem().string());
    if (error)
        return Error{ErrorCode::InputOutput,
                     "the presets' folder " + folder.string() + " can't be read: " + error.message(),
                     "MANTISSA_RESOURCES names the folder with the program's resources"};
    const auto rank = [](const std::string& id) {
        return std::find(first_presets.begin(), first_presets.end(), id);
    };
    std::sort(ids.begin(), ids.end(), [&rank](const std::string& a, const std::string& b) {
        return rank(a) != rank(b) ? rank(a) < rank(b) : a < b;
    });
    return ids;
}

}  // namespace

Result<std::vector<Preset>> list_presets(const std::filesystem::path& folder) {
    const auto where = folder_or_default(folder);
    auto ids = preset_ids(where);
    if (!ids) return ids.error();
    std::vector<Preset> presets;
    for (const std::string& id : *ids) {
        auto preset = read_preset(where / (id + ".json"));
        if (!preset) return preset.error();
        presets.push_back(std::move(*preset));
    }
    return presets;
}

Result<Preset> load_preset(const std::string& id, const std::filesystem::path& folder) {
    const auto where = folder_or_default(folder);
    auto ids = preset_ids(where);
    if (!ids) return ids.error();
    if (std::find(ids->begin(), ids->end(), id) != ids->end()) return read_preset(where / (id + ".json"));
    const auto near = nearest_names(id, *ids);
    return Error{
        ErrorCode::BadPlan, "\"" + id.substr(0, 80) + "\" is neither a plan file nor a preset",
        (near.empty() ? "" : "did you mean " + join_names(near) + "? ") + "Presets: " + join_names(*ids)};
}

Result<PlanLayer> preset_layer(const Preset& preset) {
    return plan_text_layer(preset.text, ValueSource::Preset, "preset " + preset.id);
}

CompareDefaults compare_defaults(const std::optional<Preset>& preset) {
    CompareDefaults defaults;
    if (preset && preset->compare_steps) {
        defaults.steps = *preset->compare_steps;
        defaults.is_fixed = true;
    }
    return defaults;
}

}  // namespace mantissa
