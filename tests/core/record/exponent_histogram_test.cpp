#include "record/exponent_histogram.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mantissa {
namespace {

TEST(ExponentHistogram, EdgesRiseAndEveryEdgeIsInItsBin) {
    for (int index = 0; index < histogram_bins; ++index) {
        const double edge = bin_edge(index);
        ASSERT_LT(edge, bin_edge(index + 1));
        const HistogramPlace place = histogram_place(edge), before_end = histogram_place(std::nextafter(bin_edge(index + 1), 0));
        ASSERT_EQ(place.index, index);
        ASSERT_EQ(place.is_on_edge, index % bins_per_exponent < 16) << index;
        ASSERT_EQ(before_end.index, index);
        ASSERT_FALSE(before_end.is_on_edge);
        ASSERT_EQ(exponent_of_bin(index), std::ilogb(edge));
    }
    EXPECT_EQ(bin_edge(0), 0x1p-149);
    EXPECT_EQ(bin_edge(histogram_bins), 0x1p128);
    EXPECT_EQ(histogram_place(1e-300).index, 0);
    EXPECT_EQ(histogram_place(1e300).index, histogram_bins - 1);
}

TEST(ExponentHistogram, LimitsOfFormatsAreBorders) {
    for (const double limit : {0x1p-25, 0x1p-14 - 0x1p-25, 65520.0, 0x1p-134, 0x1p-126 - 0x1p-134, 0x1p127 * (2 - 0x1p-8), 0x1p-10, 0x1p-6 - 0x1p-10,
                               464.0, 0x1p-17, 0x1p-14 - 0x1p-17, 61440.0}) {
        EXPECT_EQ(bin_edge(histogram_place(limit).index), limit) << limit;
    }
}

TEST(ExponentHistogram, ABlobKeepsEveryBin) {
    const ExponentHistogram histogram = histogram_of({0x1p-149, -3e-42, 0.7, -0.7, 1.0, 1.999, 1.9999, 65519, 3e38, 0.0, INFINITY, NAN});
    EXPECT_EQ(histogram.count(), 9U);
    const auto read = ExponentHistogram::from_blob(histogram.to_blob());
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, histogram);
    EXPECT_TRUE(ExponentHistogram().to_blob().empty());
    EXPECT_TRUE(ExponentHistogram::from_blob("")->bins.empty());
}

// As versions before the divided bins wrote it: varints of (index − next, on edge, inside), the index being a float32's bits >> 19.
TEST(ExponentHistogram, OlderRecordingsAreRead) {
    using namespace std::string_view_literals;
    // 0: 2 inside; 3: 1 on edge; 15: 4 inside; 127·16 = 2032 (skip 2016): 5 on edge, 6 inside; 2047 (skip 14): 7 inside.
    const auto read = ExponentHistogram::from_blob("\0\0\2\2\1\0\013\0\4\xE0\x0F\5\6\016\0\7"sv);
    ASSERT_TRUE(read.ok()) << describe(read.error());
    ASSERT_EQ(read->bins.size(), 5U);
    const std::vector<std::pair<double, double>> borders{{0x1p-149, 0x1p-130}, {3 * 0x1p-130, 0x1p-128}, {15 * 0x1p-130, 0x1p-126}, {1, 1.0625}, {1.9375, 2}};
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> counts{{0, 2}, {1, 0}, {0, 4}, {5, 6}, {0, 7}};
    for (std::size_t i = 0; i < borders.size(); ++i) {
        EXPECT_EQ(bin_edge(read->bins[i].index), borders[i].first) << i;
        EXPECT_EQ(bin_end(read->bins[i]), borders[i].second) << i;
        EXPECT_EQ(std::pair(read->bins[i].on_edge, read->bins[i].inside), counts[i]) << i;
    }
}

TEST(ExponentHistogram, ADamagedBlobIsAnError) {
    const std::string whole = histogram_of({1.0, 2.5, 3.99}).to_blob();
    for (const std::string& damaged : {whole.substr(0, whole.size() - 1), whole + "\xFF\xFF\x7F\1\1", std::string("\xFF"), whole.substr(0, 1),
                                       std::string("\xF0\x1F\1\1")}) {
        EXPECT_FALSE(ExponentHistogram::from_blob(damaged).ok()) << damaged.size();
    }
}

}  // namespace
}  // namespace mantissa
