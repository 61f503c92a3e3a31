// Environment and settings of a report: flattened JSON as tables.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "judge/html_text.h"
#include "judge/report_sections.h"
#include "judge/report_words.h"

namespace mantissa {
namespace {

using html::Cell;
using Flat = std::map<std::string, std::string>;

std::string plain(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

void flatten(const nlohmann::json& node, const std::string& path, Flat& flat) {
    if (!node.is_object()) {
        flat[path] = plain(node);
        return;
    }
    for (const auto& [name, value] : node.items())
        flatten(value, path.empty() ? name : path + "." + name, flat);
}

Flat flattened(const std::string& text) {
    Flat flat;
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_object()) flatten(json, "", flat);
    return flat;
}

std::string value_of(const Flat& flat, const std::string& name) {
    const auto found = flat.find(name);
    return found == flat.end() ? "–" : found->second;
}

std::string overruled_text(const nlohmann::json& source) {
    if (!source.is_object() || !source.contains("overruled") || !source.at("overruled").is_array()) return {};
    std::string text;
    for (const auto& entry : source.at("overruled")) {
        if (!entry.is_object()) continue;
        const auto part = [&](const char* name) {
            return entry.contains(name) ? plain(entry.at(name)) : std::string();
        };
        text +=
            (text.empty() ? "" : "; ") + part("value") + " (" + part("source") + " " + part("detail") + ")";
    }
    return text;
}

std::string source_text(const nlohmann::json& source) {
    if (!source.is_object()) return plain(source);
    const auto part = [&](const char* name) {
        return source.contains(name) ? plain(source.at(name)) : std::string();
    };
    return part("detail").empty() ? part("source") : part("source") + " " + part("detail");
}

}  // namespace

std::string environment_html(const ComparisonEvidence& evidence, const TextCatalogue& texts) {
    std::vector<Flat> environments;
    std::set<std::string> names;
    std::vector<std::string> head{word(texts, "report.column.setting")}, classes{""};
    for (const RunEvidence& run : evidence.runs) {
        environments.push_back(flattened(run.environment_json));
        head.push_back(to_string(run.summary.mode));
        classes.push_back("mode " + head.back());
        for (const auto& [name, value] : environments.back()) names.insert(name);
    }
    if (names.empty()) return html::text_element("p", word(texts, "report.no_environment"));
    std::vector<std::vector<Cell>> rows;
    for (const std::string& name : names) {
        std::vector<Cell> row{{name, ""}};
        const std::string first = value_of(environments.front(), name);
        for (const Flat& environment : environments) {
            const std::string value = value_of(environment, name);
            row.push_back({value, value == first ? "" : "differs"});
        }
        rows.push_back(std::move(row));
    }
    return html::table(head, rows, classes);
}

std::string settings_html(const std::string& plan_json, const TextCatalogue& texts) {
    const auto file = nlohmann::json::parse(plan_json, nullptr, false);
    if (!file.is_object()) return html::text_element("p", word(texts, "report.no_settings"));
    const bool sourced = file.contains("plan") && file.at("plan").is_object();
    const auto sources = sourced && file.contains("sources") ? file.at("sources") : nlohmann::json::object();
    Flat plan;
    flatten(sourced ? file.at("plan") : file, "", plan);
    std::vector<std::vector<Cell>> rows;
    for (const auto& [name, value] : plan) {
        const bool known = sources.is_object() && sources.contains(name);
        rows.push_back({{name, ""},
                        {value, ""},
                        {known ? source_text(sources.at(name)) : "", ""},
                        {known ? overruled_text(sources.at(name)) : "", "bad_cell"}});
    }
    std::vector<std::string> head;
    for (const char* name : {"setting", "value", "source", "overruled"})
        head.push_back(word(texts, std::string("report.column.") + name));
    return html::table(head, rows) + html::text_element("p", word(texts, "report.defaults"), "quiet");
}

}  // namespace mantissa
