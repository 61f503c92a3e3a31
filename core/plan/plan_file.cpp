#include "plan/plan_file.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "plan/field_codec.h"
#include "plan/plan_fields.h"
#include "plan/plan_json.h"

namespace mantissa {
namespace {

using codec::Json;

Error in_file(const std::string& detail, const Error& error) {
    return {error.code, detail + ": " + error.message, error.hint};
}

Error bad_sources(const std::string& path) {
    return {ErrorCode::BadPlan, "sources." + path + " isn't {source, detail, value, overruled[]}",
            "the plan part of the file can be used alone"};
}

std::optional<std::string> text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
}

/// Reads {source, detail, value} of an origin or an overruled value.
template <typename Value>
bool read_value(const Json& object, Value& into) {
    if (!object.is_object()) return false;
    const auto source = text_of(object, "source"), detail = text_of(object, "detail"),
               value = text_of(object, "value");
    const auto parsed = source ? parse_value_source(*source) : std::nullopt;
    if (!parsed || !detail || !value) return false;
    into.source = *parsed;
    into.detail = *detail;
    into.value = *value;
    return true;
}

Result<std::map<std::string, ValueOrigin>> read_origins(const Json& sources) {
    std::map<std::string, ValueOrigin> origins;
    if (!sources.is_object()) return Error{ErrorCode::BadPlan, "sources is not an object", ""};
    for (const auto& [path, entry] : sources.items()) {
        if (!find_plan_field(path)) return unknown_field(path);
        ValueOrigin origin;
        if (!read_value(entry, origin)) return bad_sources(path);
        if (entry.contains("overruled")) {
            if (!entry["overruled"].is_array()) return bad_sources(path);
            for (const Json& loser : entry["overruled"]) {
                OverruledValue value;
                if (!read_value(loser, value)) return bad_sources(path);
                origin.overruled.push_back(std::move(value));
            }
        }
        origins.emplace(path, std::move(origin));
    }
    return origins;
}

bool is_sourced_form(const Json& json) {
    return json.is_object() && json.contains("plan");
}

Result<void> check_sourced_form(const Json& json) {
    for (const auto& [key, value] : json.items())
        if (key != "plan" && key != "sources" && key != "notes" && key != "mantissa_plan" && key != "preset")
            return Error{ErrorCode::BadPlan, "unknown field \"" + key.substr(0, 80) + "\" beside \"plan\"",
                         "settings belong into \"plan\""};
    return {};
}

}  // namespace

nlohmann::json to_json(const SourcedPlan& sourced) {
    Json sources = Json::object();
    for (const auto& [path, origin] : sourced.origins) {
        Json overruled = Json::array();
        for (const OverruledValue& value : origin.overruled)
            overruled.push_back(
                {{"source", to_string(value.source)}, {"detail", value.detail}, {"value", value.value}});
        sources[path] = {{"source", to_string(origin.source)},
                         {"detail", origin.detail},
                         {"value", origin.value},
                         {"overruled", overruled}};
    }
    Json plan = to_json(sourced.plan);
    plan.erase("mantissa_plan");
    return {{"mantissa_plan", plan_version}, {"plan", plan}, {"sources", sources}, {"notes", sourced.notes}};
}

Result<nlohmann::json> plan_object_of(std::string_view text) {
    auto parsed = parse_json_text(text);
    if (!parsed) return parsed.error();
    if (!is_sourced_form(*parsed)) return std::move(parsed).value();
    if (auto checked = check_sourced_form(*parsed); !checked) return checked.error();
    Json plan = (*parsed)["plan"];
    if (plan.is_object() && parsed->contains("mantissa_plan"))
        plan["mantissa_plan"] = (*parsed)["mantissa_plan"];
    return plan;
}

Result<SourcedPlan> read_sourced_plan(std::string_view text, const std::string& detail) {
    auto layer = plan_text_layer(text, ValueSource::Plan, detail);
    if (!layer) return layer.error();
    // A file of a run folder holds what was already decided: comparisons keep their modes, nothing is merged
    // again.
    auto merged = merge_plan({*layer}, PlanUse::Train);
    if (!merged) return merged;
    const Json json = Json::parse(text);
    if (!is_sourced_form(json)) return merged;
    if (json.contains("sources")) {
        auto origins = read_origins(json["sources"]);
        if (!origins) return in_file(detail, origins.error());
        merged->origins = std::move(*origins);
    }
    if (json.contains("notes") && json["notes"].is_array())
        for (const Json& note : json["notes"])
            if (note.is_string()) merged->notes.push_back(note.get<std::string>());
    return merged;
}

Result<SourcedPlan> read_plan_file(const std::filesystem::path& file) {
    auto text = read_file(file, plan_file_limit_bytes);
    if (!text) return text.error();
    return read_sourced_plan(*text, file.string());
}

Result<void> write_plan_file(const std::filesystem::path& file, const SourcedPlan& sourced) {
    return write_file_atomically(file, to_json(sourced).dump(2) + "\n");
}

}  // namespace mantissa
