#include "lessons/number_bits.h"

#include <cmath>
#include <limits>

#include "base/numbers.h"

namespace mantissa {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::uint32_t ones(int bits) { return (1u << bits) - 1; }

/// Largest pattern without the sign that is a number.
std::uint32_t largest_pattern(NumberFormat format) {
    const BitLayout layout = layout_of(format);
    if (!limits_of(format).has_inf) return ones(layout.width() - 1) - 1;  // e4m3fn: only the last pattern is NaN
    return (ones(layout.exponent_bits) << layout.mantissa_bits) - 1;
}

std::uint32_t pattern_of_magnitude(NumberFormat format, double magnitude) {
    const BitLayout layout = layout_of(format);
    const std::uint32_t all = ones(layout.width() - 1);
    if (std::isnan(magnitude)) return limits_of(format).has_inf ? all & ~ones(layout.mantissa_bits - 1) : all;
    if (std::isinf(magnitude)) return limits_of(format).has_inf ? largest_pattern(format) + 1 : all;
    if (magnitude < limits_of(format).min_normal)
        return static_cast<std::uint32_t>(std::llround(magnitude / limits_of(format).min_subnormal));
    const int exponent = std::ilogb(magnitude);
    const double fraction = std::ldexp(magnitude, layout.mantissa_bits - exponent) - std::ldexp(1.0, layout.mantissa_bits);
    return (static_cast<std::uint32_t>(exponent + layout.bias) << layout.mantissa_bits) |
           static_cast<std::uint32_t>(std::llround(fraction));
}

double magnitude_of_pattern(NumberFormat format, std::uint32_t magnitude) {
    const BitLayout layout = layout_of(format);
    if (magnitude > largest_pattern(format)) {
        const bool is_inf = limits_of(format).has_inf && magnitude == largest_pattern(format) + 1;
        return is_inf ? infinity : std::numeric_limits<double>::quiet_NaN();
    }
    const std::uint32_t exponent = magnitude >> layout.mantissa_bits, mantissa = magnitude & ones(layout.mantissa_bits);
    if (exponent == 0) return mantissa * limits_of(format).min_subnormal;
    return std::ldexp(static_cast<double>(mantissa + (1u << layout.mantissa_bits)),
                      static_cast<int>(exponent) - layout.bias - layout.mantissa_bits);
}

std::string digits(std::uint32_t field, int bits) {
    std::string text;
    for (int bit = bits - 1; bit >= 0; --bit) text += (field >> bit & 1u) != 0 ? '1' : '0';
    return text;
}

NumberKind kind_of(const NumberBits& bits) {
    if (std::isnan(bits.value)) return NumberKind::NotANumber;
    if (std::isinf(bits.value)) return NumberKind::Infinite;
    if (bits.value == 0) return NumberKind::Zero;
    return bits.exponent == 0 ? NumberKind::Subnormal : NumberKind::Normal;
}

/// One step away from 0, and towards it or through it.
void find_neighbours(NumberBits& bits) {
    if (bits.kind == NumberKind::NotANumber) return;
    const std::uint32_t magnitude = bits.pattern & ones(layout_of(bits.format).width() - 1);
    const double sign = bits.sign != 0 ? -1 : 1;
    std::optional<double> outer, inner;
    const bool has_outer = magnitude < largest_pattern(bits.format) ||
                           (magnitude == largest_pattern(bits.format) && limits_of(bits.format).has_inf);
    if (has_outer) outer = sign * magnitude_of_pattern(bits.format, magnitude + 1);
    inner = magnitude > 0 ? sign * magnitude_of_pattern(bits.format, magnitude - 1) : -sign * limits_of(bits.format).min_subnormal;
    bits.above = sign > 0 ? outer : inner;
    bits.below = sign > 0 ? inner : outer;
}

/// As a processor rounds a double: beyond the end it is Inf.
double to_fp32(double value) { return static_cast<double>(static_cast<float>(value)); }

}  // namespace

const char* to_string(NumberKind kind) {
    switch (kind) {
        case NumberKind::Zero: return "zero";
        case NumberKind::Subnormal: return "subnormal";
        case NumberKind::Normal: return "normal";
        case NumberKind::Infinite: return "inf";
        case NumberKind::NotANumber: return "nan";
    }
    return "";
}

BitLayout layout_of(NumberFormat format) {
    const FormatLimits& limits = limits_of(format);
    BitLayout layout;
    layout.mantissa_bits = limits.mantissa_bits;
    layout.bias = 1 - limits.min_exponent();
    layout.exponent_bits = std::ilogb(layout.bias) + 2;  // a bias of 2^(bits-1) − 1
    return layout;
}

NumberBits bits_of_pattern(NumberFormat format, std::uint32_t pattern) {
    const BitLayout layout = layout_of(format);
    NumberBits bits;
    bits.format = format;
    bits.pattern = layout.width() < 32 ? pattern & ones(layout.width()) : pattern;
    bits.sign = static_cast<int>(bits.pattern >> (layout.width() - 1));
    bits.exponent = bits.pattern >> layout.mantissa_bits & ones(layout.exponent_bits);
    bits.mantissa = bits.pattern & ones(layout.mantissa_bits);
    const double magnitude = magnitude_of_pattern(format, bits.pattern & ones(layout.width() - 1));
    bits.value = bits.sign != 0 ? -magnitude : magnitude;
    bits.kind = kind_of(bits);
    bits.sign_digits = digits(static_cast<std::uint32_t>(bits.sign), 1);
    bits.exponent_digits = digits(bits.exponent, layout.exponent_bits);
    bits.mantissa_digits = digits(bits.mantissa, layout.mantissa_bits);
    find_neighbours(bits);
    return bits;
}

NumberBits cast_to(NumberFormat format, double value) {
    const double magnitude = std::isnan(value) ? value : round_to(format, std::fabs(value));
    const std::uint32_t sign = std::signbit(value) ? 1u << (layout_of(format).width() - 1) : 0u;
    return bits_of_pattern(format, sign | pattern_of_magnitude(format, magnitude));
}

Result<double> parse_typed_number(std::string_view text) {
    const auto trimmed = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
    std::string clean(trimmed.substr(0, trimmed.find_last_not_of(" \t") + 1));
    if (const auto caret = clean.find('^'); caret != std::string::npos) {
        const auto base = parse_double(clean.substr(0, caret)), power = parse_double(clean.substr(caret + 1));
        if (base && power) return std::pow(*base, *power);
    }
    std::erase(clean, ',');  // 65,520 as people write it
    if (const auto value = parse_double(clean)) return *value;
    return Error{ErrorCode::Usage, "\"" + std::string(text.substr(0, 40)) + "\" is no number that can be read",
                 "write it as 65520, 2.9e-8, 2^16, inf or nan; a double holds magnitudes from 5e-324 to 1.8e308"};
}

NumberInspection inspect_number(double typed, const std::vector<double>& scales) {
    NumberInspection inspection;
    inspection.typed = typed;
    const double held = to_fp32(typed);
    for (std::size_t i = 0; i < all_number_formats.size(); ++i) inspection.casts[i] = cast_to(all_number_formats[i], held);
    for (const double scale : scales) {
        ScaledCast cast;
        cast.scale = scale;
        cast.stored = cast_to(NumberFormat::Fp16, to_fp32(held * to_fp32(scale)));
        cast.back = to_fp32(cast.stored.value / to_fp32(scale));
        inspection.scaled.push_back(cast);
    }
    return inspection;
}

}  // namespace mantissa
