#pragma once
// One line of a CSV file in its fields (RFC 4180: quotes around a field, doubled inside), and what a field is.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa::formats {

struct FieldProblem {
    enum Kind { TextAfterQuote, OpenQuote, TooManyFields } kind;
    std::size_t column;  // from 0
};

/// Fills `fields`; the problem that stopped it, if any.
std::optional<FieldProblem> split_fields(std::string_view line, char separator, std::int64_t most, std::vector<std::string>& fields);

[[nodiscard]] std::string_view trimmed(std::string_view text);  // of blanks and tabs
[[nodiscard]] std::optional<double> number_of(std::string_view field);
/// What an error shows of a field: short, on one line, in quotes; bytes that aren't UTF-8 as '?'.
[[nodiscard]] std::string shown_field(std::string_view text);

}  // namespace mantissa::formats
