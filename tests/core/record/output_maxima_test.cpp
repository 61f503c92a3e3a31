#include "record/output_maxima.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mantissa {
namespace {

using Series = std::vector<std::pair<std::int64_t, double>>;

TEST(OutputMaxima, KeepsEveryPlaceAtItsSteps) {
    OutputMaxima maxima(2);
    EXPECT_TRUE(maxima.empty());
    EXPECT_TRUE(maxima.is_due(4));
    EXPECT_FALSE(maxima.is_due(5));
    maxima.look(0, "a", 0.1F);
    maxima.look(2, "a", 3);
    maxima.look(2, "b", INFINITY);  // first seen at step 2
    maxima.look(4, "b", 65519.996F);
    EXPECT_EQ(maxima.of("a"), (Series{{0, double{0.1F}}, {2, 3}}));
    const auto read = OutputMaxima::from_text(maxima.to_text());
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->of("a"), maxima.of("a"));
    EXPECT_EQ(read->of("b"), (Series{{2, INFINITY}, {4, double{65519.996F}}}));
    EXPECT_TRUE(read->of("c").empty());
    EXPECT_EQ(read->until(3).of("a"), maxima.of("a"));
    EXPECT_EQ(read->until(1).of("a"), (Series{{0, double{0.1F}}}));
    EXPECT_EQ(read->every(), 2);
}

TEST(OutputMaxima, AreBoundedHoweverLongTheRun) {
    OutputMaxima maxima(2);
    std::vector<std::string> places;
    for (int i = 0; i < 100; ++i) places.push_back("layer" + std::to_string(i));
    std::size_t largest_text = 0;
    for (std::int64_t step = 0; step < 5'000; ++step) {
        if (!maxima.is_due(step)) continue;
        for (const std::string& place : places) maxima.look(step, place, static_cast<float>(step) + 0.25F);
        if (step % 500 == 0) largest_text = std::max(largest_text, maxima.to_text().size());
    }
    const Series kept = maxima.of("layer7");
    EXPECT_LE(kept.size(), OutputMaxima::least_steps);
    EXPECT_GT(kept.size(), OutputMaxima::least_steps / 4);
    EXPECT_LT(largest_text, 100'000U);
    for (std::size_t i = 0; i + 1 < kept.size(); ++i) {
        EXPECT_EQ(kept[i].first % maxima.every(), 0);
        EXPECT_EQ(kept[i].second, static_cast<double>(kept[i].first) + 0.25);
        EXPECT_EQ(kept[i + 1].first - kept[i].first, maxima.every());
    }
}

TEST(OutputMaxima, DamagedTextIsAnError) {
    for (const char* text : {"", "[]", "{}", R"({"every":1,"steps":[0],"places":{"a":[]}})", R"({"every":1,"steps":["x"],"places":{}})",
                             R"({"steps":[],"places":{}})"}) {
        EXPECT_FALSE(OutputMaxima::from_text(text).ok()) << text;
    }
}

}  // namespace
}  // namespace mantissa
