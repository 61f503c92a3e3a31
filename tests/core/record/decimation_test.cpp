#include "record/decimation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

namespace mantissa {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// Point by point, as plainly as it can be said.
DecimatedLine by_hand(const std::vector<double>& x, const std::vector<double>& y, double begin, double end,
                      int width) {
    DecimatedLine line;
    bool broken = false;
    std::optional<DecimatedPoint> previous;
    for (std::size_t at = 0; at < x.size(); ++at) {
        const bool finite = std::isfinite(y[at]);
        if (x[at] < begin) {
            previous.reset();
            if (finite) previous = DecimatedPoint{x[at], y[at]};
            broken = !finite;
            continue;
        }
        if (x[at] > end) {
            if (finite && !broken) line.after = DecimatedPoint{x[at], y[at]};
            break;
        }
        const double scale = end > begin ? width / (end - begin) : 0;
        const int pixel = std::min(static_cast<int>((x[at] - begin) * scale), width - 1);
        if (line.columns.empty() || line.columns.back().pixel != pixel) {
            line.columns.push_back({});
            line.columns.back().pixel = pixel;
            line.columns.back().x = x[at];
        }
        DecimatedColumn& column = line.columns.back();
        column.x_last = x[at];
        if (finite) {
            if (column.finite == 0) {
                column.first = column.min = column.max = y[at];
                column.gap_before = broken;
            }
            column.min = std::min(column.min, y[at]);
            column.max = std::max(column.max, y[at]);
            column.last = y[at];
            ++column.finite;
            line.min = std::isnan(line.min) ? y[at] : std::min(line.min, y[at]);
            line.max = std::isnan(line.max) ? y[at] : std::max(line.max, y[at]);
        } else if (std::isnan(y[at])) {
            ++column.nan;
        } else {
            ++(y[at] > 0 ? column.pos_inf : column.neg_inf);
        }
        broken = !finite;
    }
    line.before = previous;
    return line;
}

bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

void expect_same(const DecimatedLine& line, const DecimatedLine& expected) {
    ASSERT_EQ(line.columns.size(), expected.columns.size());
    for (std::size_t at = 0; at < line.columns.size(); ++at) {
        const DecimatedColumn &a = line.columns[at], &b = expected.columns[at];
        ASSERT_EQ(a.pixel, b.pixel);
        ASSERT_EQ(a.x, b.x);
        ASSERT_EQ(a.x_last, b.x_last);
        ASSERT_TRUE(same(a.min, b.min) && same(a.max, b.max) && same(a.first, b.first) &&
                    same(a.last, b.last))
            << at;
        ASSERT_EQ(a.finite, b.finite);
        ASSERT_EQ(a.nan, b.nan);
        ASSERT_EQ(a.pos_inf, b.pos_inf);
        ASSERT_EQ(a.neg_inf, b.neg_inf);
        ASSERT_EQ(a.gap_before, b.gap_before) << at;
    }
    EXPECT_TRUE(same(line.min, expected.min) && same(line.max, expected.max));
    ASSERT_EQ(line.before.has_value(), expected.before.has_value());
    ASSERT_EQ(line.after.has_value(), expected.after.has_value());
    if (line.before) {
        EXPECT_TRUE(line.before->x == expected.before->x && line.before->y == expected.before->y);
    }
    if (line.after) {
        EXPECT_TRUE(line.after->x == expected.after->x && line.after->y == expected.after->y);
    }
}

TEST(DecimationTest, NothingToShowGivesNothing) {
    const std::vector<double> x{1, 2, 3}, y{1, 2, 3}, none;
    EXPECT_TRUE(decimate(x, y, 5, 1, 100).columns.empty());
    EXPECT_TRUE(decimate(x, y, nan, 1, 100).columns.empty());
    EXPECT_TRUE(decimate(x, y, 0, 5, 0).columns.empty());
    EXPECT_TRUE(decimate(none, none, 0, 5, 100).columns.empty());
    const auto left = decimate(x, y, 7, 9, 100);
    EXPECT_TRUE(left.columns.empty());
    ASSERT_TRUE(left.before);
    EXPECT_EQ(left.before->x, 3);
    EXPECT_FALSE(left.after);
}

TEST(DecimationTest, APointWithoutWidthStillShows) {
    const std::vector<double> x{1, 2, 3}, y{1, nan, 3};
    const auto line = decimate(x, y, 2, 2, 50);
    ASSERT_EQ(line.columns.size(), 1u);
    EXPECT_EQ(line.columns[0].nan, 1);
    EXPECT_FALSE(line.after);  // the NaN lies between
}

TEST(DecimationTest, OneBadPointAmongAMillionIsSeenAtEveryWidth) {
    std::vector<double> x(1'000'000), y(1'000'000);
    for (std::size_t at = 0; at < x.size(); ++at) {
        x[at] = static_cast<double>(at);
        y[at] = std::sin(static_cast<double>(at) * 1e-3);
    }
    y[123'456] = nan;
    y[123'457] = -inf;
    y[999'999] = inf;
    for (const int width : {1, 7, 640, 3840}) {
        const auto line = decimate(x, y, 0, 999'999, width);
        std::int64_t bad = 0, finite = 0;
        for (const DecimatedColumn& column : line.columns) {
            bad += column.nonfinite();
            finite += column.finite;
        }
        EXPECT_EQ(bad, 3);
        EXPECT_EQ(finite, 999'997);
        EXPECT_EQ(line.columns.size(), static_cast<std::size_t>(width));
    }
}

TEST(DecimationTest, GapsBreakTheLineOnlyWhereTheyAre) {
    const std::vector<double> x{0, 1, 2, 3, 4, 5}, y{1, 2, nan, 4, 5, inf};
    const auto line = decimate(x, y, 0, 5, 6);
    ASSERT_EQ(line.columns.size(), 6u);
    const bool gaps[] = {false, false, false, true, false, false};
    for (std::size_t at = 0; at < 6; ++at) EXPECT_EQ(line.columns[at].gap_before, gaps[at]) << at;
    EXPECT_TRUE(std::isnan(line.columns[2].min));
    EXPECT_EQ(line.columns[5].pos_inf, 1);
}

TEST(DecimationTest, MatchesACountByHandOnRandomData) {
    std::mt19937_64 random(42);
    for (int round = 0; round < 300; ++round) {
        const std::size_t count = random() % 3'000;
        const int bad_share = static_cast<int>(random() % 3);  // none, few, many
        std::vector<double> x(count), y(count);
        double position = -50;
        for (std::size_t at = 0; at < count; ++at) {
            position +=
                random() % 4 == 0 ? 0.0 : static_cast<double>(random() % 1000) / 300;  // equal neighbours too
            x[at] = position;
            y[at] = static_cast<double>(static_cast<std::int64_t>(random() % 2001) - 1000) *
                    std::pow(10.0, static_cast<double>(random() % 20) - 10);
            const bool bad = bad_share > 0 && random() % (bad_share == 1 ? 97 : 2) == 0;
            if (bad) y[at] = random() % 3 == 0 ? nan : random() % 2 == 0 ? inf : -inf;
        }
        const double span = count ? x.back() - x.front() : 1;
        const double begin = -60 + span * static_cast<double>(random() % 100) / 150;
        const double end = begin + span * static_cast<double>(random() % 130) / 100;
        const int width = 1 + static_cast<int>(random() % 1'000);
        ASSERT_NO_FATAL_FAILURE(
            expect_same(decimate(x, y, begin, end, width), by_hand(x, y, begin, end, width)))
            << "round " << round;
    }
}

TEST(DecimationTest, HugeValuesDontOverflowIntoNonFinite) {
    const std::vector<double> x{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, y(10, std::numeric_limits<double>::max());
    const auto line = decimate(x, y, 0, 9, 1);
    EXPECT_EQ(line.columns.at(0).finite, 10);
    EXPECT_EQ(line.max, std::numeric_limits<double>::max());
}

}  // namespace
}  // namespace mantissa
