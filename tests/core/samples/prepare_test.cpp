#include "samples/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mantissa {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

constexpr float gap = std::numeric_limits<float>::quiet_NaN();

std::vector<float> prepared(std::vector<float> values, std::int64_t width, const std::vector<std::int64_t>& training, Normalise rule, bool are_bytes = false, bool are_images = false) {
    prepare_features({values.data(), static_cast<std::int64_t>(values.size()) / width, width, are_bytes, are_images}, training, rule);
    return values;
}

// The third sample is held out: its figures must not be in the others'.
TEST(Prepare, FiguresAreOfTheTrainingSamplesAlone) {
    EXPECT_THAT(prepared({1, 10, 3, 30, 5, 500}, 2, {0, 1}, Normalise::Standardise), ElementsAre(-1, -1, 1, 1, 3, 48));
    EXPECT_THAT(prepared({1, -10, 3, 20, 5, 500}, 2, {0, 1}, Normalise::Unit), ElementsAre(FloatEq(0.05f), -0.5f, FloatEq(0.15f), 1, 0.25f, 25));
    EXPECT_THAT(prepared({1, 2, 3, 4}, 2, {0, 1}, Normalise::None), ElementsAre(1, 2, 3, 4));
}

TEST(Prepare, GapsBecomeTheMeanOfTheirColumn) {
    EXPECT_THAT(prepared({1, 8, 3, gap, gap, 100}, 2, {0, 1}, Normalise::None), ElementsAre(1, 8, 3, 8, 2, 100));
    EXPECT_THAT(prepared({1, gap, 3, gap}, 2, {0, 1}, Normalise::None), ElementsAre(1, 0, 3, 0)) << "a column without any value is 0";
}

TEST(Prepare, BytesAreDividedBy255UnlessThePlanSaysOtherwise) {
    EXPECT_THAT(prepared({0, 51, 255, 102}, 2, {0, 1}, Normalise::Auto, true), ElementsAre(0, 0.2f, 1, 0.4f));
    EXPECT_THAT(prepared({0, 51, 255, 102}, 2, {0, 1}, Normalise::Auto), ElementsAre(0, 51, 255, 102));
    EXPECT_THAT(prepared({0, 51, 255, 102}, 2, {0, 1}, Normalise::None, true), ElementsAre(0, 51, 255, 102));
}

TEST(Prepare, AnImageIsStandardisedAsAWholeAndAConstantColumnIsZero) {
    EXPECT_THAT(prepared({1, 3, 3, 1}, 2, {0, 1}, Normalise::Standardise, false, true), ElementsAre(-1, 1, 1, -1));
    EXPECT_THAT(prepared({7, 1, 7, 3}, 2, {0, 1}, Normalise::Standardise), ElementsAre(0, -1, 0, 1));
    EXPECT_THAT(prepared({0, 0}, 1, {0, 1}, Normalise::Unit), ElementsAre(0, 0));
}

}  // namespace
}  // namespace mantissa
