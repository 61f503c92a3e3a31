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

ReplayAnswer with_birth(const std::string& module, const std::string& op = "mul") {
    ReplayAnswer one = answer(false, "Inf", module.empty() ? op : module + "." + op);
    one.birth.emplace();
    one.birth->producer.module = module;
    one.birth->producer.op = one.birth->producer.kernel = op;
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

TEST(AnswerOfAll, who_got_it_with_the_sum_of_all_gradients_does_not_tell_it) {
    for (const std::string sum : {"allreduce", "allreduce_coalesced", "broadcast"}) {
        const ReplayAnswer all = joined({with_birth("", sum), with_birth("gate")});
        ASSERT_TRUE(all.birth);
        EXPECT_EQ(all.birth->told_place(), "gate.mul (rank 1)") << sum;
        EXPECT_EQ(all.variant.place, "gate.mul") << sum;
    }
    const ReplayAnswer of_output = joined({with_birth("", "allreduce"), answer(false, "Inf", "head.linear")});
    EXPECT_FALSE(of_output.birth);
    EXPECT_EQ(of_output.variant.place, "head.linear");
}

TEST(AnswerOfAll, a_sum_that_overflows_by_itself_is_told) {
    const ReplayAnswer all = joined({answer(false, "skipped"), with_birth("", "allreduce")});
    ASSERT_TRUE(all.birth);
    EXPECT_EQ(all.birth->told_place(), "allreduce (rank 1)");
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
