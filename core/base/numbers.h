#pragma once
// One formatter for files (C locale, shortest that round-trips) and one for people. JSON has no Inf or NaN: they travel as
// the strings "NaN" "+Inf" "-Inf"; CSV uses nan inf -inf.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace mantissa {

[[nodiscard]] std::string to_text(double value);                        // shortest round trip; "nan" "inf" "-inf"
[[nodiscard]] std::optional<double> parse_double(std::string_view text);  // whole text, C locale, also nan/inf
[[nodiscard]] std::optional<std::int64_t> parse_int(std::string_view text);

[[nodiscard]] nlohmann::json number_to_json(double value);
[[nodiscard]] nlohmann::json number_to_json(const std::optional<double>& value);  // empty -> null
[[nodiscard]] std::optional<double> number_from_json(const nlohmann::json& value);  // null or wrong type -> empty

// For people (English, no locale): "12.4 MB", "5.1 ms", "2^16", "1,437", "0.031", "95.3 %".
[[nodiscard]] std::string readable_bytes(std::uint64_t bytes);
[[nodiscard]] std::string readable_duration_ns(std::int64_t nanoseconds);
[[nodiscard]] std::string readable_scale(double scale);   // power of two as 2^k, else a number
[[nodiscard]] std::string readable_count(std::int64_t count);
[[nodiscard]] std::string readable_number(double value, int significant = 3);
[[nodiscard]] std::string readable_percent(double share, int decimals = 1);

}  // namespace mantissa
