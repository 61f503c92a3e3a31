#pragma once
// Words for settings of the plan: labels of fields, and of choices where the id alone doesn't explain itself.
#include <QString>
#include <string>

namespace mantissa::ui {

/// Label of a field, in the language of the window; the path itself when there is no better word.
[[nodiscard]] QString labelOf(const std::string& path);
/// A sentence on what a field does, where its label can't say it; mostly empty.
[[nodiscard]] QString helpOf(const std::string& path);
/// What an empty field means, where that isn't "not set"; mostly empty.
[[nodiscard]] QString placeholderOf(const std::string& path);
/// "stop – before any weight moves"; the id alone where nothing needs saying.
[[nodiscard]] QString choiceLabel(const std::string& path, const std::string& choice);

}  // namespace mantissa::ui
