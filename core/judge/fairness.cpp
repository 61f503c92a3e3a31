#include "judge/fairness.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

namespace mantissa {
namespace {

constexpr std::array<const char*, 4> hash_names{"initial_state", "data", "sample_order", "plan"};

/// What belongs to one run by its nature, or is what the comparison varies.
constexpr std::array<std::string_view, 16> run_specific{
    "hashes",         "mode",   "mixed_precision", "requested", "effective",  "support",
    "support_reason", "reason", "choice",          "precision", "process_id", "pid",
    "started_ns",     "time",   "run_dir",         "name"};

using Settings = std::map<std::string, std::string>;

void flatten(const nlohmann::json& node, const std::string& path, Settings& settings) {
    if (!node.is_object()) {
        settings[path] = node.dump();
        return;
    }
    for (const auto& [name, value] : node.items()) {
        if (std::find(run_specific.begin(), run_specific.end(), name) != run_specific.end()) continue;
        flatten(value, path.empty() ? name : path + "." + name, settings);
    }
}

struct Environment {
    std::string mode;
    std::map<std::string, std::string> hashes;
    Settings settings;
};

std::optional<Environment> read_environment(const RunEvidence& run) {
    const auto json = nlohmann::json::parse(run.environment_json, nullptr, false);
    if (!json.is_object() || !json.contains("hashes") || !json.at("hashes").is_object()) return {};
    Environment environment;
    environment.mode = to_string(run.summary.mode);
    for (const char* name : hash_names) {
        const auto& hashes = json.at("hashes");
        if (!hashes.contains(name) || !hashes.at(name).is_string()) return {};
        environment.hashes[name] = hashes.at(name).get<std::string>();
    }
    flatten(json, "", environment.settings);
    return environment;
}

void compare_hashes(const Environment& first, const Environment& other, FairnessFinding& finding) {
    for (const char* name : hash_names) {
        if (first.hashes.at(name) == other.hashes.at(name)) continue;
        finding.fair = false;
        finding.differences.push_back(
            {std::string("fairness.") + name, {{"first", first.mode}, {"other", other.mode}}});
    }
}

void compare_settings(const Environment& first, const Environment& other, FairnessFinding& finding) {
    for (const auto& [name, value] : first.settings) {
        const auto theirs = other.settings.find(name);
        if (theirs != other.settings.end() && theirs->second == value) continue;
        finding.differences.push_back(
            {"fairness.setting",
             {{"setting", name},
              {"first", first.mode},
              {"first_value", value},
              {"other", other.mode},
              {"other_value", theirs == other.settings.end() ? "-" : theirs->second}}});
    }
}

}  // namespace

FairnessFinding compare_environments(const std::vector<RunEvidence>& runs, const std::string& order) {
    FairnessFinding finding;
    std::vector<Environment> environments;
    for (const RunEvidence& run : runs) {
        if (auto environment = read_environment(run)) {
            environments.push_back(std::move(*environment));
        } else {
            finding.differences.push_back({"fairness.missing", {{"mode", to_string(run.summary.mode)}}});
        }
    }
    finding.known = !runs.empty() && environments.size() == runs.size();
    finding.fair = finding.known;
    for (std::size_t i = 1; i < environments.size(); ++i) {
        compare_hashes(environments.front(), environments[i], finding);
        compare_settings(environments.front(), environments[i], finding);
    }
    if (order == "at-once") finding.differences.push_back({"fairness.times_shared", {}});
    return finding;
}

Fairness fill_fairness(const FairnessFinding& finding, const TextCatalogue& texts) {
    return {finding.known, finding.fair, fill_facts(finding.differences, texts)};
}

}  // namespace mantissa
