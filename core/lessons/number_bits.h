#pragma once
// The bit inspector: what a number becomes in a format, and why. A number that was typed is rounded to fp32 first, since that is what
// programs hold; each further cast starts there. Rounding is to nearest, ties to even, as in the hardware; a cast doesn't saturate.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "judge/format_lens.h"

namespace mantissa {

enum class NumberKind { Zero, Subnormal, Normal, Infinite, NotANumber };
[[nodiscard]] const char* to_string(NumberKind kind);  // "zero" "subnormal" "normal" "inf" "nan"

struct BitLayout {
    int exponent_bits = 8, mantissa_bits = 23, bias = 127;
    [[nodiscard]] int width() const { return 1 + exponent_bits + mantissa_bits; }
};
[[nodiscard]] BitLayout layout_of(NumberFormat format);

struct NumberBits {
    NumberFormat format = NumberFormat::Fp32;
    std::uint32_t pattern = 0;
    NumberKind kind = NumberKind::Zero;
    double value = 0;
    int sign = 0;
    std::uint32_t exponent = 0, mantissa = 0;  // the fields as stored
    std::string sign_digits, exponent_digits, mantissa_digits;  // of 0 and 1
    std::optional<double> below, above;  // the neighbours on the number line, finite or Inf; none beyond them
};

[[nodiscard]] NumberBits bits_of_pattern(NumberFormat format, std::uint32_t pattern);
/// The value of the format that is nearest; Inf beyond its end (NaN in e4m3fn, which has no Inf).
[[nodiscard]] NumberBits cast_to(NumberFormat format, double value);

/// "65520", "2.9e-8", "-0.1", "2^16", "nan", "inf"; an error names the text and the forms that are understood.
Result<double> parse_typed_number(std::string_view text);

/// A number on its way into a format and back, with a loss scale in between: times the scale in fp32, cast, divided in fp32.
struct ScaledCast {
    double scale = 1;
    NumberBits stored;  // of value × scale
    double back = 0;    // stored / scale
};

struct NumberInspection {
    double typed = 0;
    std::array<NumberBits, 5> casts;  // in the order of all_number_formats; the first is fp32, from which the others are made
    std::vector<ScaledCast> scaled;   // in fp16, at each of the scales asked for
};
[[nodiscard]] NumberInspection inspect_number(double typed, const std::vector<double>& scales);

}  // namespace mantissa
