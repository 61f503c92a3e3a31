#include "plan/plan_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "plan/field_codec.h"
#include "plan/plan_fields.h"

namespace mantissa {
namespace {

using codec::Json;

Json::json_pointer pointer_of(const std::string& path) {
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    return Json::json_pointer(pointer);
}

bool is_group(const std::string& path) {
    const std::string prefix = path + ".";
    return std::any_of(plan_fields().begin(), plan_fields().end(),
                       [&prefix](const PlanField& field) { return field.path.starts_with(prefix); });
}

std::string place(std::string_view text, std::size_t byte) {
    byte = std::min(byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte), '\n');
    return "line " + std::to_string(line) + ", byte " + std::to_string(byte);
}

Error not_json(std::string_view text, const Json::parse_error& error) {
    // nlohmann counts bytes from 1 and points behind the last one it read.
    const std::size_t byte = error.byte > 0 ? error.byte - 1 : 0;
    if (byte >= text.size())
        return {ErrorCode::BadPlan, "the text ends too early, at " + place(text, text.size()),
                "the file is not complete: copy or write it again"};
    std::string reason = error.what();
    if (const auto at = reason.find("syntax error"); at != std::string::npos) reason = reason.substr(at);
    return {ErrorCode::BadPlan, "not JSON at " + place(text, byte) + ": " + reason, ""};
}

// A plan has three levels. Writing out a value in an error recurses per level, so hostile depth is stopped at the parser.
constexpr int deepest_nesting = 64;
struct NestedTooDeep {};

// Tells apart what nlohmann silently merges: the same key twice in one object.
class DuplicateKeys {
  public:
    bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
        if (depth > deepest_nesting) throw NestedTooDeep{};
        if (event == Json::parse_event_t::object_start) m_open.emplace_back();
        if (event == Json::parse_event_t::object_end) m_open.pop_back();
        if (event == Json::parse_event_t::key && !m_open.back().insert(parsed.get<std::string>()).second &&
            first.empty())
            first = parsed.get<std::string>();
        return true;
    }
    std::string first;

  private:
    std::vector<std::set<std::string>> m_open;
};

Result<void> collect(const Json& node, const std::string& path, std::vector<PlanSetting>& settings);

Result<void> collect_object(const Json& node, const std::string& path, std::vector<PlanSetting>& settings) {
    for (const auto& [key, value] : node.items()) {
        if (path.empty() && key == "mantissa_plan") continue;
        if (auto done = collect(value, path.empty() ? key : path + "." + key, settings); !done) return done;
    }
    return {};
}

Result<void> collect(const Json& node, const std::string& path, std::vector<PlanSetting>& settings) {
    if (const PlanField* field = find_plan_field(path); field && path.find('/') == std::string::npos) {
        RunPlan scratch;
        if (auto checked = field->set(*field, scratch, node); !checked) return checked.error();
        settings.push_back({path, node.dump()});
        return {};
    }
    if (!is_group(path)) return unknown_field(path);
    if (node.is_object()) return collect_object(node, path, settings);
    const std::string name = name_path_of_object(path);
    if (!name.empty() && node.is_string()) return collect(node, name, settings);
    const char* hint =
        name.empty() ? "use an object of its fields" : "use a catalogue id, or an object of its fields";
    return Error{ErrorCode::BadPlan, path + " is " + codec::shown(node) + ", not an object", hint};
}

Result<void> check_version(const Json& plan) {
    const auto version = plan.find("mantissa_plan");
    if (version == plan.end()) return {};
    if (!version->is_number_integer())
        return Error{ErrorCode::BadPlan,
                     "mantissa_plan is " + codec::shown(*version) + ", not a version number", "use 1"};
    if (*version == plan_version) return {};
    return Error{ErrorCode::BadPlan,
                 "mantissa_plan is " + codec::shown(*version) + ": a version that this program doesn't know",
                 "this program reads version 1"};
}

const char* to_string(bool value) { return value ? "true" : "false"; }

template <typename Value>
Result<void> switch_over(const char* path, Value& member, Value wanted,
                         const std::set<std::string>& set_paths) {
    if (set_paths.contains(path) && member != wanted)
        return Error{ErrorCode::BadPlan,
                     std::string(path) + " is " + to_string(member) + ", but compat = accelerate needs " +
                         to_string(wanted),
                     "drop one of the two"};
    member = wanted;
    return {};
}

}  // namespace

nlohmann::json to_json(const RunPlan& plan) {
    Json result = {{"mantissa_plan", plan_version}};
    for (const PlanField& field : plan_fields()) result[pointer_of(field.path)] = field.get(plan);
    return result;
}

Result<nlohmann::json> parse_json_text(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return Error{ErrorCode::BadPlan,
                     text.empty() ? "it is empty (line 1, byte 0)" : "it holds white space only",
                     "a plan is a JSON object; {} is one with all defaults"};
    DuplicateKeys duplicates;
    try {
        Json parsed = Json::parse(text.begin(), text.end(), std::ref(duplicates));
        if (!duplicates.first.empty())
            return Error{ErrorCode::BadPlan, "\"" + duplicates.first + "\" appears twice in one object",
                         "keep one of them"};
        return parsed;
    } catch (const NestedTooDeep&) {
        return Error{ErrorCode::BadPlan,
                     "it is nested deeper than " + std::to_string(deepest_nesting) + " levels",
                     "a plan is an object of groups of settings"};
    } catch (const Json::parse_error& error) {
        return not_json(text, error);
    } catch (const Json::exception& error) {
        // The only other error of its parser: "… number overflow parsing '1e999'".
        const std::string reason = error.what();
        const auto quote = reason.find('\'');
        return Error{
            ErrorCode::BadPlan,
            quote == std::string::npos
                ? "a number in it is too large"
                : "the number " + reason.substr(quote + 1, reason.size() - quote - 2) + " is too large",
            "numbers go up to 1.8e308"};
    }
}

Result<std::vector<PlanSetting>> read_settings(const nlohmann::json& plan) {
    if (!plan.is_object())
        return Error{ErrorCode::BadPlan, "the plan is " + codec::shown(plan) + ", not an object",
                     "a plan is a JSON object such as {\"model\": \"mlp\"}"};
    if (auto version = check_version(plan); !version) return version.error();
    std::vector<PlanSetting> settings;
    if (auto done = collect_object(plan, "", settings); !done) return done.error();
    std::set<std::string> seen;
    for (const PlanSetting& setting : settings)
        if (!seen.insert(setting.path).second)
            return Error{ErrorCode::BadPlan, setting.path + " is set twice", "keep one of them"};
    return settings;
}

Result<ReadPlan> read_plan_json(std::string_view text, const RunPlan& base) {
    auto parsed = parse_json_text(text);
    if (!parsed) return parsed.error();
    auto settings = read_settings(*parsed);
    if (!settings) return settings.error();
    ReadPlan result{base, {}};
    for (const PlanSetting& setting : *settings) {
        const PlanField* field = find_plan_field(setting.path);
        if (auto set = field->set(*field, result.plan, Json::parse(setting.value_json)); !set)
            return set.error();
        result.set_paths.insert(setting.path);
    }
    if (auto compat = apply_compat(result.plan, result.set_paths); !compat) return compat.error();
    return result;
}

Result<void> apply_compat(RunPlan& plan, const std::set<std::string>& set_paths) {
    if (plan.compat != Compat::Accelerate) return {};
    if (auto done = switch_over("training.optimizer.implementation", plan.training.optimizer.implementation,
                                OptimizerImplementation::Exact, set_paths);
        !done)
        return done;
    if (auto done = switch_over("cpu_half", plan.cpu_half, CpuHalf::Torch, set_paths); !done) return done;
    if (auto done = switch_over("on_nonfinite", plan.on_nonfinite, OnNonfinite::Mark, set_paths); !done)
        return done;
    if (auto done =
            switch_over("batch_norm_on_skip", plan.batch_norm_on_skip, BatchNormOnSkip::Keep, set_paths);
        !done)
        return done;
    if (auto done = switch_over("launch.sync_batch_norm", plan.launch.sync_batch_norm, false, set_paths); !done) return done;
    return switch_over("short_window", plan.short_window, ShortWindow::Upstream, set_paths);
}

}  // namespace mantissa
