#pragma once
// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mantissa {

/// Place of the first byte that begins no well-formed character; nothing when all do.
[[nodiscard]] std::optional<std::size_t> first_bad_utf8(std::string_view text);

/// The character at `at`, which is moved behind it; nothing when none begins there (then `at` stays).
[[nodiscard]] std::optional<char32_t> next_character(std::string_view text, std::size_t& at);

/// The character as UTF-8.
[[nodiscard]] std::string to_utf8(char32_t character);

}  // namespace mantissa
