#include "base/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "base/clock.h"

namespace mantissa {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Numbers, TextRoundTripsEveryBit) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t bits = random();
        double value;
        static_assert(sizeof value == sizeof bits);
        std::memcpy(&value, &bits, sizeof value);
        if (!std::isfinite(value)) continue;
        EXPECT_EQ(parse_double(to_text(value)), value);
    }
    EXPECT_EQ(to_text(infinity), "inf");
    EXPECT_EQ(to_text(-infinity), "-inf");
    EXPECT_TRUE(std::isnan(*parse_double("nan")));
}

TEST(Numbers, OnlyWholeTextsAreNumbers) {
    for (const char* text : {"", "+", "1x", " 1", "1 ", "0x10", "--1", "1,5"}) EXPECT_EQ(parse_double(text), std::nullopt) << text;
    EXPECT_EQ(parse_int("12"), 12);
    EXPECT_EQ(parse_int("12.5"), std::nullopt);
    EXPECT_EQ(parse_int("99999999999999999999"), std::nullopt);
}

TEST(Numbers, JsonSpellsWhatItHasNoNumberFor) {
    EXPECT_EQ(number_to_json(std::nan("")), "NaN");
    EXPECT_EQ(number_to_json(infinity), "+Inf");
    EXPECT_EQ(number_to_json(-infinity), "-Inf");
    EXPECT_TRUE(number_to_json(std::optional<double>()).is_null());
    EXPECT_TRUE(std::isnan(*number_from_json("NaN")));
    EXPECT_EQ(number_from_json("-Inf"), -infinity);
    EXPECT_EQ(number_from_json("twelve"), std::nullopt);
    EXPECT_EQ(number_from_json(1.5), 1.5);
}

TEST(Numbers, ForPeople) {
    EXPECT_EQ(readable_bytes(999), "999 B");
    EXPECT_EQ(readable_bytes(12'400'000), "12.4 MB");
    EXPECT_EQ(readable_bytes(999'600), "1.00 MB");
    EXPECT_EQ(readable_duration_ns(5'100'000), "5.10 ms");
    EXPECT_EQ(readable_duration_ns(300'000), "300 µs");
    EXPECT_EQ(readable_scale(65536), "2^16");
    EXPECT_EQ(readable_scale(0x1p-14), "2^-14");
    EXPECT_EQ(readable_scale(3), "3.00");
    EXPECT_EQ(readable_count(1437), "1,437");
    EXPECT_EQ(readable_count(-1000000), "−1,000,000");
    EXPECT_EQ(readable_count(7), "7");
    EXPECT_EQ(readable_number(0.03123), "0.0312");
    EXPECT_EQ(readable_number(infinity), "+Inf");
    EXPECT_EQ(readable_percent(0.953), "95.3 %");
}

TEST(Clock, FileTimeStampsSortLikeTime) {
    EXPECT_LT(file_time_stamp(1'000'000'000'000'000'000), file_time_stamp(1'000'000'001'000'000'000));
    EXPECT_EQ(file_time_stamp(0).size(), 15u);
}

}  // namespace
}  // namespace mantissa
