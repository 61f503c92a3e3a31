#include "base/numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

namespace mantissa {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename T>
std::optional<T> parse_whole(std::string_view text) {
    T value{};
    const char* first = text.data();
    const char* last = first + text.size();
    if (first != last && *first == '+') ++first;
    const auto [end, error] = std::from_chars(first, last, value);
    if (error != std::errc() || end != last || first == last) return std::nullopt;
    return value;
}

std::string printed(const char* format, double value, int precision) {
    std::array<char, 64> text{};
    const int size = std::snprintf(text.data(), text.size(), format, precision, value);
    return {text.data(), static_cast<std::size_t>(size)};
}

/// Three significant digits without an exponent, as in "12.4" or "0.031".
std::string short_number(double value, int significant) {
    const double magnitude = std::fabs(value);
    if (magnitude == 0) return "0";
    // Round first, so that 0.9996 becomes 1.00 and not 1.000.
    const double rounded = std::strtod(printed("%.*e", magnitude, significant - 1).c_str(), nullptr);
    const int digits_before = static_cast<int>(std::floor(std::log10(rounded))) + 1;
    return printed("%.*f", value, std::max(0, significant - digits_before));
}

}  // namespace

std::string to_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    std::array<char, 64> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    return {text.data(), end};
}

std::optional<double> parse_double(std::string_view text) { return parse_whole<double>(text); }
std::optional<std::int64_t> parse_int(std::string_view text) { return parse_whole<std::int64_t>(text); }

nlohmann::json number_to_json(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    return value;
}

nlohmann::json number_to_json(const std::optional<double>& value) {
    return value ? number_to_json(*value) : nlohmann::json(nullptr);
}

std::optional<double> number_from_json(const nlohmann::json& value) {
    if (value.is_number()) return value.get<double>();
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "+Inf") return infinity;
    if (text == "-Inf") return -infinity;
    return std::nullopt;
}

std::string readable_bytes(std::uint64_t bytes) {
    if (bytes < 1000) return std::to_string(bytes) + " B";
    constexpr std::array units{"kB", "MB", "GB", "TB", "PB"};
    double value = static_cast<double>(bytes) / 1000.0;
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000.0;
        ++unit;
    }
    return short_number(value, 3) + " " + units[unit];
}

std::string readable_duration_ns(std::int64_t nanoseconds) {
    const double seconds = static_cast<double>(nanoseconds) / 1e9;
    if (seconds < 1e-3) return short_number(seconds * 1e6, 3) + " µs";
    if (seconds < 1.0) return short_number(seconds * 1e3, 3) + " ms";
    if (seconds < 120) return short_number(seconds, 3) + " s";
    if (seconds < 7200) return short_number(seconds / 60, 3) + " min";
    return short_number(seconds / 3600, 3) + " h";
}

std::string readable_scale(double scale) {
    int exponent = 0;
    if (scale > 0 && std::isfinite(scale) && std::frexp(scale, &exponent) == 0.5) return "2^" + std::to_string(exponent - 1);
    return readable_number(scale);
}

std::string readable_count(std::int64_t count) {
    std::string digits = std::to_string(count < 0 ? -count : count);
    for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return count < 0 ? "−" + digits : digits;
}

std::string readable_number(double value, int significant) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "−Inf";
    const double magnitude = std::fabs(value);
    if (magnitude != 0 && (magnitude < 1e-3 || magnitude >= 1e7)) return printed("%.*e", value, significant - 1);
    if (magnitude >= 1000) return readable_count(std::llround(value));
    return short_number(value, significant);
}

std::string readable_percent(double share, int decimals) {
    if (!std::isfinite(share)) return readable_number(share);
    return printed("%.*f", share * 100.0, decimals) + " %";
}

}  // namespace mantissa
