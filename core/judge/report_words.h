#pragma once
#include <string>
#include <string_view>

#include "judge/texts.h"

namespace mantissa {

/// A text of the report; a key that is missing shows itself (tests see to it that none is).
[[nodiscard]] std::string word(const TextCatalogue& texts, std::string_view key,
                               const TextValues& values = {});
/// "–" for what was not measured.
[[nodiscard]] std::string or_dash(std::string text);

}  // namespace mantissa
