#include "judge/texts.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/paths.h"

namespace mantissa {
namespace {

struct Placeholder {
    std::string name, singular, plural;  // without a plural form both are empty
    bool counts = false;
};

Placeholder parse_placeholder(std::string_view inside) {
    Placeholder result;
    const auto colon = inside.find(':');
    result.name = std::string(inside.substr(0, colon));
    if (colon == std::string_view::npos) return result;
    const std::string_view forms = inside.substr(colon + 1);
    const auto bar = forms.find('|');
    result.counts = true;
    result.singular = std::string(forms.substr(0, bar));
    result.plural = bar == std::string_view::npos ? result.singular : std::string(forms.substr(bar + 1));
    return result;
}

/// Calls `literal` and `placeholder` for the parts of a template in their order; false on a brace without its
/// partner.
template <typename Literal, typename Found>
bool walk(std::string_view text, Literal literal, Found found) {
    while (!text.empty()) {
        const auto open = text.find('{');
        literal(text.substr(0, open));
        if (open == std::string_view::npos) return true;
        const auto close = text.find('}', open);
        if (close == std::string_view::npos) return false;
        found(parse_placeholder(text.substr(open + 1, close - open - 1)));
        text.remove_prefix(close + 1);
    }
    return true;
}

Result<void> flatten(const nlohmann::json& node, const std::string& prefix,
                     std::map<std::string, std::string, std::less<>>& texts) {
    for (const auto& [name, value] : node.items()) {
        const std::string key = prefix + "." + name;
        if (value.is_string()) {
            texts[key] = value.get<std::string>();
        } else if (value.is_object()) {
            if (auto inner = flatten(value, key, texts); !inner) return inner;
        } else {
            return Error{ErrorCode::InputOutput, "text " + key + " is neither a text nor an object", {}};
        }
    }
    return {};
}

std::string environment_value(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Result<TextCatalogue> TextCatalogue::load(const std::filesystem::path& texts_folder,
                                          const std::string& language) {
    TextCatalogue catalogue;
    catalogue.m_language = language;
    const auto folder = texts_folder / language;
    std::error_code problem;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    if (problem || files.empty()) {
        return Error{ErrorCode::InputOutput, "no texts in " + folder.string(),
                     "set MANTISSA_RESOURCES to the resources folder"};
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        const auto content = read_file(file);
        if (!content) return content.error();
        const auto json = nlohmann::json::parse(*content, nullptr, false);
        if (!json.is_object())
            return Error{ErrorCode::InputOutput, file.string() + " isn't a JSON object", {}};
        if (auto done = flatten(json, file.stem().string(), catalogue.m_texts); !done) return done.error();
    }
    return catalogue;
}

bool TextCatalogue::has(std::string_view key) const {
    return m_texts.find(key) != m_texts.end();
}

Result<std::string> TextCatalogue::fill(std::string_view key, const TextValues& values) const {
    const auto entry = m_texts.find(key);
    if (entry == m_texts.end()) {
        return Error{ErrorCode::Internal, "no text '" + std::string(key) + "' in language " + m_language, {}};
    }
    std::string result, missing;
    const bool closed = walk(
        entry->second, [&](std::string_view literal) { result += literal; },
        [&](const Placeholder& placeholder) {
            const auto value = values.find(placeholder.name);
            if (value == values.end()) {
                missing = placeholder.name;
            } else if (placeholder.counts) {
                result += value->second == "1" ? placeholder.singular : placeholder.plural;
            } else {
                result += value->second;
            }
        });
    if (!closed)
        return Error{
            ErrorCode::Internal, "text '" + std::string(key) + "' has a brace without its partner", {}};
    if (!missing.empty()) {
        return Error{
            ErrorCode::Internal, "text '" + std::string(key) + "' needs a value for {" + missing + "}", {}};
    }
    return result;
}

std::vector<std::string> TextCatalogue::keys() const {
    std::vector<std::string> result;
    for (const auto& [key, text] : m_texts) result.push_back(key);
    return result;
}

std::vector<std::string> TextCatalogue::placeholders(std::string_view key) const {
    std::vector<std::string> names;
    const auto entry = m_texts.find(key);
    if (entry == m_texts.end()) return names;
    walk(
        entry->second, [](std::string_view) {},
        [&](const Placeholder& placeholder) {
            if (!placeholder.counts) names.push_back(placeholder.name);
        });
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

const std::vector<std::string>& text_languages() {
    static const std::vector<std::string> languages{"en", "zh"};
    return languages;
}

std::string text_language(std::string_view asked) {
    std::string wanted(asked);
    for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
        if (wanted.empty()) wanted = environment_value(name);
    }
    const std::string stem = wanted.substr(0, wanted.find_first_of("_-.@"));
    for (const auto& language : text_languages()) {
        if (stem == language) return language;
    }
    return "en";
}

Result<const TextCatalogue*> text_catalogue(std::string_view language) {
    static std::mutex mutex;  // protects `loaded`
    static std::map<std::string, std::unique_ptr<TextCatalogue>> loaded;
    const std::string name = text_language(language);
    const std::lock_guard lock(mutex);
    if (const auto entry = loaded.find(name); entry != loaded.end()) return entry->second.get();
    auto catalogue = TextCatalogue::load(resources_folder() / "texts", name);
    if (!catalogue) return catalogue.error();
    auto& slot = loaded[name];
    slot = std::make_unique<TextCatalogue>(std::move(catalogue).value());
    return slot.get();
}

}  // namespace mantissa
