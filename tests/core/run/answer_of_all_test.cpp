// What several processes found when they did a step again, told as one answer.
#include <gtest/gtest.h>

#include <cmath>

#include "run/answer_of_all.h"

namespace mantissa {
namespace {

ReplayAnswer answer(bool is_finite, const std::string& value = "", const std::string& place = "") {
    ReplayAnswer one;
    one.variant.id = "as_was";
    one.variant.this_step_finite = is_finite;
    one.variant.value = value;
    one.variant.place = place;
    return one;
}

ReplayAnswer with_birth(const std::string& module) {
    ReplayAnswer one = answer(false, "Inf", module + ".mul");
    one.birth.emplace();
    one.birth->producer.module = module;
    one.birth->producer.op = "mul";
    one.limit = 65504;
    return one;
}

TEST(AnswerOfAll, finite_on_all_is_finite) {
    const ReplayAnswer all = joined({answer(true), answer(true)});
    EXPECT_TRUE(all.variant.this_step_finite.value());
    EXPECT_FALSE(all.birth);
}

TEST(AnswerOfAll, the_lowest_rank_with_a_birth_tells_it_with_its_number) {
    const ReplayAnswer all = joined({answer(false, "NaN"), with_birth("gate"), with_birth("other")});
    ASSERT_TRUE(all.birth);
    EXPECT_EQ(all.birth->rank, 1);
    EXPECT_EQ(all.birth->told_place(), "gate.mul (rank 1)");
    EXPECT_EQ(all.birth->place(), "gate.mul");
    EXPECT_EQ(all.variant.value, "Inf");
    EXPECT_EQ(all.variant.place, "gate.mul");
    EXPECT_EQ(all.limit, 65504);
    EXPECT_FALSE(all.variant.this_step_finite.value());
}

TEST(AnswerOfAll, a_value_that_one_rank_met_makes_the_step_bad) {
    const ReplayAnswer all = joined({answer(true), answer(true), answer(false, "Inf", "head.linear")});
    EXPECT_FALSE(all.variant.this_step_finite.value());
    EXPECT_EQ(all.variant.value, "Inf");
    EXPECT_EQ(all.variant.place, "head.linear");
    EXPECT_FALSE(all.birth);
}

TEST(AnswerOfAll, a_watched_value_is_the_largest_on_any_and_nan_wins) {
    ReplayAnswer first = answer(true), second = answer(true);
    first.producer_largest = {{3, 1.5}, {4, 7}, {5, NAN}};
    second.producer_largest = {{3, -2.5}, {4, 6}, {5, 9}, {6, 1}};
    const ReplayAnswer all = joined({first, second});
    ASSERT_EQ(all.producer_largest.size(), 4U);
    EXPECT_EQ(all.producer_largest[0].value, -2.5);
    EXPECT_EQ(all.producer_largest[1].value, 7);
    EXPECT_TRUE(std::isnan(all.producer_largest[2].value));
    EXPECT_EQ(all.producer_largest[3].step, 6);
}

}  // namespace
}  // namespace mantissa
