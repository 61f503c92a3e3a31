// The bit inspector. Right values: the formats' definitions, and casts of PyTorch 2.11.
#include "lessons/number_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace mantissa {
namespace {

double cast(NumberFormat format, double value) { return cast_to(format, value).value; }

TEST(NumberBits, FirstLessonsValues) {
    using enum NumberFormat;
    EXPECT_EQ(cast(Fp16, 65519), 65504);
    EXPECT_EQ(cast(Fp16, 65520), INFINITY);
    EXPECT_EQ(cast(Fp16, -65520), -INFINITY);
    EXPECT_EQ(cast(Fp16, 2.9e-8), 0);
    EXPECT_EQ(cast(Fp16, 3e-8), std::ldexp(1, -24));
    EXPECT_EQ(cast(Fp16, 2049), 2048);
    EXPECT_EQ(cast(Bf16, 257), 256);
    EXPECT_EQ(cast(Bf16, 65504), 65536);
    EXPECT_EQ(cast(E4m3fn, 464), 448);
    EXPECT_TRUE(std::isnan(cast(E4m3fn, 465)));
    EXPECT_EQ(cast(E5m2, 61439), 57344);
    EXPECT_EQ(cast(E5m2, 61440), INFINITY);
    const auto inspection = inspect_number(2e-8, {65536});
    EXPECT_NEAR(inspection.scaled.at(0).back, 1.9994e-8, 0.5e-12);
    EXPECT_EQ(inspection.casts[1].value, 0);
}

TEST(NumberBits, FieldsOfKnownPatterns) {
    const NumberBits one = cast_to(NumberFormat::Fp16, 1);
    EXPECT_EQ(one.pattern, 0x3C00u);
    EXPECT_EQ(one.sign_digits + one.exponent_digits + one.mantissa_digits, "0011110000000000");
    EXPECT_EQ(cast_to(NumberFormat::Fp16, 65504).pattern, 0x7BFFu);
    EXPECT_EQ(cast_to(NumberFormat::Fp16, INFINITY).pattern, 0x7C00u);
    EXPECT_EQ(cast_to(NumberFormat::Bf16, -1.5).pattern, 0xBFC0u);
    EXPECT_EQ(cast_to(NumberFormat::E4m3fn, 448).pattern, 0x7Eu);
    EXPECT_EQ(cast_to(NumberFormat::E4m3fn, NAN).pattern, 0x7Fu);
    EXPECT_EQ(cast_to(NumberFormat::E5m2, 57344).pattern, 0x7Bu);
    EXPECT_EQ(cast_to(NumberFormat::Fp16, -0.0).pattern, 0x8000u);
    EXPECT_EQ(cast_to(NumberFormat::Fp16, 3e-8).kind, NumberKind::Subnormal);
}

TEST(NumberBits, Neighbours) {
    const NumberBits end = cast_to(NumberFormat::Fp16, 65504);
    EXPECT_EQ(end.below, 65472);
    EXPECT_EQ(end.above, INFINITY);
    const NumberBits negative = cast_to(NumberFormat::Fp16, -2048);
    EXPECT_EQ(negative.below, -2050);
    EXPECT_EQ(negative.above, -2047);
    const NumberBits zero = cast_to(NumberFormat::Bf16, 0);
    EXPECT_EQ(zero.above, std::ldexp(1, -133));
    EXPECT_EQ(zero.below, -std::ldexp(1, -133));
    EXPECT_FALSE(cast_to(NumberFormat::E4m3fn, 448).above.has_value()) << "there is no Inf";
    EXPECT_FALSE(cast_to(NumberFormat::Fp32, NAN).above.has_value());
    EXPECT_EQ(cast_to(NumberFormat::Fp16, INFINITY).below, 65504);
}

TEST(NumberBits, EveryPatternIsTheCastOfItsValue) {
    for (const NumberFormat format : {NumberFormat::Fp16, NumberFormat::Bf16, NumberFormat::E4m3fn, NumberFormat::E5m2}) {
        const std::uint32_t patterns = 1u << layout_of(format).width();
        for (std::uint32_t pattern = 0; pattern < patterns; ++pattern) {
            const NumberBits bits = bits_of_pattern(format, pattern);
            if (bits.kind == NumberKind::NotANumber) continue;
            ASSERT_EQ(cast_to(format, bits.value).pattern, pattern) << to_string(format) << " " << pattern;
            if (bits.above && std::isfinite(*bits.above)) {
                ASSERT_EQ(cast(format, std::nextafter(bits.value, INFINITY)), bits.value) << to_string(format) << " " << pattern;
            }
        }
    }
}

TEST(NumberBits, Fp32IsTheProcessors) {
    for (const double value : {0.1, 1.0 / 3, 3.5e38, 1e-45, 1e-46, 16777217.0, -2.5e-40}) {
        const auto native = static_cast<float>(value);
        std::uint32_t pattern = 0;
        std::memcpy(&pattern, &native, sizeof pattern);
        EXPECT_EQ(cast_to(NumberFormat::Fp32, value).pattern, pattern) << value;
    }
}

TEST(NumberBits, TypedNumbersAreRoundedToFp32First) {
    // Just below the tie: fp32 can't hold it, so a program's fp16 is Inf.
    EXPECT_EQ(inspect_number(65519.9999999, {}).casts[1].value, INFINITY);
    EXPECT_EQ(*parse_typed_number(" 65,520 "), 65520);
    EXPECT_EQ(*parse_typed_number("2^16"), 65536);
    EXPECT_EQ(*parse_typed_number("-2.9e-8"), -2.9e-8);
    EXPECT_TRUE(std::isnan(*parse_typed_number("nan")));
    for (const char* bad : {"", "  ", "x", "1e999", "2^", "1.2.3"}) {
        const auto number = parse_typed_number(bad);
        ASSERT_FALSE(number.ok()) << bad;
        EXPECT_NE(number.error().message.find("is no number"), std::string::npos);
    }
}

}  // namespace
}  // namespace mantissa
