// The integer arithmetic that a GPU's kernel bins with, held against the CPU's.
#include "numerics/packed_layout.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "numerics/tensor_record.h"
#include "record/exponent_histogram.h"

namespace mantissa {
namespace {

int expected_place(std::uint32_t bits) {
    if (bits == 0) return packed_layout::zeros;
    const HistogramPlace place = histogram_place(static_cast<double>(std::bit_cast<float>(bits)));
    return packed_layout::first_bin + 2 * place.index + (place.is_on_edge ? 0 : 1);
}

TEST(PackedLayout, EveryBorderOfEveryBinCountsWhereTheCpuCounts) {
    std::int64_t looked_at = 0;
    for (std::uint32_t field = 0; field < 255; ++field) {
        for (std::uint32_t mantissa = 0; mantissa < (1U << 23); mantissa += 1U << 12) {
            for (const std::uint32_t low : {0x000U, 0x001U, 0x800U, 0xFFFU}) {
                const std::uint32_t bits = (field << 23) | mantissa | low;
                ASSERT_EQ(packed_layout::place_of(bits), expected_place(bits)) << std::hex << bits;
                ++looked_at;
            }
        }
    }
    for (std::uint32_t bits = 0; bits < 70'000; ++bits) ASSERT_EQ(packed_layout::place_of(bits), expected_place(bits)) << std::hex << bits;
    EXPECT_EQ(looked_at, 255 * 2048 * 4);
}

TEST(PackedLayout, WhatIsNotFiniteHasPlacesOfItsOwn) {
    using namespace packed_layout;
    EXPECT_EQ(place_of(0x7F80'0000U), infinities);
    for (const std::uint32_t nan : {0x7F80'0001U, 0x7FC0'0000U, 0x7FFF'FFFFU}) {
        EXPECT_GT(place_of(nan), infinities);
        EXPECT_LT(place_of(nan), counts_end);
    }
    EXPECT_EQ(place_of(0x7F7F'FFFFU), infinities - 1) << "the largest finite number lies in the last bin";
}

TEST(PackedLayout, ATensorsCountsAreThoseOfItsRecord) {
    std::mt19937 random(11);
    std::vector<float> values(50'000);
    for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    std::vector<std::uint64_t> counts(packed_layout::counts_end);
    for (const float value : values) ++counts[static_cast<std::size_t>(packed_layout::place_of(std::bit_cast<std::uint32_t>(value) & 0x7FFF'FFFFU))];
    const torch::Tensor tensor = torch::from_blob(values.data(), {static_cast<std::int64_t>(values.size())});
    const TensorStatRow row = tensor_record(tensor);
    const auto histogram = ExponentHistogram::from_blob(row.exponents);
    ASSERT_TRUE(histogram.ok());
    std::uint64_t told = 0;
    for (const HistogramBin& bin : histogram->bins) {
        const auto place = static_cast<std::size_t>(packed_layout::first_bin + 2 * bin.index);
        EXPECT_EQ(counts[place], bin.on_edge);
        EXPECT_EQ(counts[place + 1], bin.inside);
        told += bin.on_edge + bin.inside;
    }
    EXPECT_GT(told, 40'000u);
    std::uint64_t finite = 0;
    for (int i = packed_layout::first_bin; i < packed_layout::infinities; ++i) finite += counts[static_cast<std::size_t>(i)];
    EXPECT_EQ(finite, told);
    EXPECT_EQ(static_cast<std::int64_t>(counts[packed_layout::infinities]), row.pos_inf + row.neg_inf);
}

}  // namespace
}  // namespace mantissa
