#pragma once
// The Qt-free catalogue of sentences: resources/texts/<language>/*.json, one nested object a file whose file
// stem is the first part of a key ("verdicts.scale_probing.what.both"). Placeholders are {name};
// {name:skip|skips} prints the first form where the value of `name` is 1. A missing key and a placeholder
// without a value are errors, never holes in a sentence.
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mantissa {

using TextValues = std::map<std::string, std::string>;

class TextCatalogue {
  public:
    static Result<TextCatalogue> load(const std::filesystem::path& texts_folder, const std::string& language);

    [[nodiscard]] bool has(std::string_view key) const;
    [[nodiscard]] Result<std::string> fill(std::string_view key, const TextValues& values = {}) const;
    [[nodiscard]] const std::string& language() const { return m_language; }
    [[nodiscard]] std::vector<std::string> keys() const;
    /// Names of the values that a text shows, sorted, each once (both languages must agree; plural forms are
    /// a language's own).
    [[nodiscard]] std::vector<std::string> placeholders(std::string_view key) const;

  private:
    std::string m_language;
    std::map<std::string, std::string, std::less<>> m_texts;
};

/// "en" and "zh".
[[nodiscard]] const std::vector<std::string>& text_languages();
/// `asked` (an argument of --lang, may be empty) > LC_ALL > LC_MESSAGES > LANG; what we have no texts for
/// becomes "en".
[[nodiscard]] std::string text_language(std::string_view asked = {});
/// Loaded once per language from resources_folder()/texts.
[[nodiscard]] Result<const TextCatalogue*> text_catalogue(std::string_view language);

}  // namespace mantissa
