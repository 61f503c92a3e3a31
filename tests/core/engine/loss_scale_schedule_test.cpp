#include "engine/loss_scale_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/engine_error.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

using enum GradientFinding;

TEST(LossScaleSchedule, an_overflow_halves_the_scale_and_forgets_the_good_steps) {
    LossScaleSchedule schedule({.initial = 1024, .growth_interval = 2});
    schedule.record(Finite);
    schedule.record(Overflow);
    EXPECT_EQ(schedule.scale(), 512);
    EXPECT_EQ(schedule.growth_tracker(), 0);
    schedule.record(Finite);
    EXPECT_EQ(schedule.scale(), 512);
    EXPECT_EQ(schedule.growth_tracker(), 1);
}

TEST(LossScaleSchedule, the_floor_holds_the_scale_and_is_reported) {
    LossScaleSchedule schedule({.initial = 1.0, .floor = std::ldexp(1.0, -14)});
    for (int i = 0; i < 14; ++i) {
        EXPECT_FALSE(schedule.would_collapse_on_overflow());
        schedule.record(Overflow);
        EXPECT_FALSE(schedule.is_collapsed());
    }
    EXPECT_EQ(schedule.scale(), std::ldexp(1.0, -14));
    EXPECT_TRUE(schedule.would_collapse_on_overflow());
    schedule.record(Overflow);
    EXPECT_TRUE(schedule.is_collapsed());
    EXPECT_EQ(schedule.scale(), std::ldexp(1.0, -14));
    schedule.record(Finite);
    EXPECT_FALSE(schedule.is_collapsed());
}

TEST(LossScaleSchedule, without_a_floor_it_reaches_zero_as_upstream_does) {
    LossScaleSchedule schedule({.initial = 65536, .floor = 0});
    for (int i = 0; i < 16; ++i) schedule.record(Overflow);
    EXPECT_EQ(schedule.scale(), 1.0);
    for (int i = 16; i < 144; ++i) schedule.record(Overflow);
    EXPECT_EQ(schedule.scale(), std::ldexp(1.0, -128));
    for (int i = 144; i < 166; ++i) schedule.record(Overflow);
    EXPECT_EQ(schedule.scale(), 0.0);
}

TEST(LossScaleSchedule, growth_stays_inside_fp32) {
    LossScaleSchedule schedule({.initial = 65536, .growth_interval = 1});
    for (int i = 0; i < 199; ++i) schedule.record(Finite);
    EXPECT_FLOAT_EQ(static_cast<float>(schedule.scale()), 1.7014118e38F);
}

TEST(LossScaleSchedule, grows_after_the_interval) {
    LossScaleSchedule schedule({.initial = 4, .growth_interval = 3});
    const std::pair<double, std::int64_t> expected[] = {{4, 1}, {4, 2}, {8, 0}, {8, 1}, {8, 2}, {16, 0}, {16, 1}};
    for (const auto& [scale, tracker] : expected) {
        schedule.record(Finite);
        EXPECT_EQ(schedule.scale(), scale);
        EXPECT_EQ(schedule.growth_tracker(), tracker);
    }
}

TEST(LossScaleSchedule, a_fixed_scale_stays) {
    LossScaleSchedule schedule({.initial = 16, .growth_factor = 1, .backoff_factor = 1, .growth_interval = 1});
    for (const auto finding : {Finite, Overflow, Finite, Overflow}) schedule.record(finding);
    EXPECT_EQ(schedule.scale(), 16);
    EXPECT_FALSE(schedule.is_collapsed());
}

TEST(LossScaleSchedule, a_restored_state_goes_on_as_if_nothing_had_happened) {
    const LossScalePlan plan{.initial = 65536, .growth_interval = 3};
    LossScaleSchedule first(plan);
    for (int i = 0; i < 5; ++i) first.record(Finite);
    LossScaleSchedule second(plan);
    second.restore(first.state());
    EXPECT_EQ(second.state(), (LossScaleSchedule::State{131072, 2}));
    first.record(Finite);
    second.record(Finite);
    EXPECT_EQ(second.state(), first.state());
    EXPECT_EQ(second.scale(), 262144);
}

// The same numbers as torch's own kernel, for factors that are not powers of two, over a long random history.
TEST(LossScaleSchedule, equals_amp_update_scale) {
    const LossScalePlan plan{.initial = 1000, .growth_factor = 1.7, .backoff_factor = 0.3, .growth_interval = 2, .floor = 0};
    LossScaleSchedule schedule(plan);
    torch::Tensor scale = torch::full({}, 1000.0F), tracker = torch::zeros({}, at::kInt);
    std::mt19937 random(5);
    for (int i = 0; i < 500; ++i) {
        const bool overflow = random() % 4 == 0;
        schedule.record(overflow ? Overflow : Finite);
        at::_amp_update_scale_(scale, tracker, torch::full({}, overflow ? 1.0F : 0.0F), plan.growth_factor,
                               plan.backoff_factor, plan.growth_interval);
        ASSERT_EQ(schedule.scale(), scale.item<double>()) << "after " << i;
        ASSERT_EQ(schedule.growth_tracker(), tracker.item<std::int64_t>()) << "after " << i;
    }
}

TEST(LossScaleSchedule, refuses_values_that_make_no_sense_and_names_them) {
    const auto message = [](const LossScalePlan& plan) -> std::string {
        try {
            const LossScaleSchedule schedule(plan);
        } catch (const EngineError& error) {
            return error.error().message;
        }
        return "accepted";
    };
    EXPECT_EQ(message({.initial = 0}), "loss_scale.initial is 0");
    EXPECT_EQ(message({.initial = 1e39}), "loss_scale.initial is 1e+39");
    EXPECT_EQ(message({.growth_factor = 0.5}), "loss_scale.growth_factor is 0.5");
    EXPECT_EQ(message({.backoff_factor = 1.5}), "loss_scale.backoff_factor is 1.5");
    EXPECT_EQ(message({.backoff_factor = 0}), "loss_scale.backoff_factor is 0");
    EXPECT_EQ(message({.growth_interval = 0}), "loss_scale.growth_interval is 0");
    EXPECT_EQ(message({.initial = 1, .floor = 2}), "loss_scale.floor is 2");
    EXPECT_EQ(message({.floor = -1}), "loss_scale.floor is -1");
}

std::vector<double> alarms_of(const LossScalePlan& plan, int overflows) {
    LossScaleSchedule schedule(plan);
    std::vector<double> scales;
    for (int i = 0; i < overflows; ++i) {
        schedule.record(GradientFinding::Overflow);
        if (schedule.is_alarming()) scales.push_back(schedule.scale());
    }
    return scales;
}

TEST(LossScaleSchedule, an_alarm_comes_once_in_a_descent) {
    using ::testing::ElementsAre;
    EXPECT_THAT(alarms_of({.initial = 65536}, 40), ElementsAre(0.5));
    EXPECT_THAT(alarms_of({.initial = 65536, .floor = 0}, 200), ElementsAre(0.5));          // also where nothing stops it
    EXPECT_THAT(alarms_of({.initial = 65536, .floor = 128}, 40), ElementsAre(2048));        // 2^4 above the floor
    EXPECT_THAT(alarms_of({.initial = 0.25}, 40), ElementsAre(0.125));                      // begins low: at its first fall
    EXPECT_THAT(alarms_of({.initial = 4, .backoff_factor = 0.001}, 40), ElementsAre(0.004F));
    EXPECT_THAT(alarms_of({.initial = 4, .backoff_factor = 1}, 40), ElementsAre());         // a fixed scale
}

TEST(LossScaleSchedule, an_alarm_is_given_again_after_a_recovery) {
    LossScaleSchedule schedule({.initial = 2, .growth_interval = 1});
    std::vector<bool> alarms;
    for (const auto finding : {GradientFinding::Overflow, GradientFinding::Overflow, GradientFinding::Overflow,
                               GradientFinding::Finite, GradientFinding::Finite, GradientFinding::Overflow}) {
        schedule.record(finding);
        alarms.push_back(schedule.is_alarming());
    }
    EXPECT_THAT(alarms, ::testing::ElementsAre(false, true, false, false, false, true));
}

TEST(LossScaleSchedule, counts_the_overflows_it_can_still_answer) {
    EXPECT_EQ(LossScaleSchedule({.initial = 65536}).backoffs_left(), 30);
    EXPECT_EQ(LossScaleSchedule({.initial = 65536, .floor = 0}).backoffs_left(), 143);  // to 2^-127, the last finite reciprocal
    EXPECT_EQ(LossScaleSchedule({.initial = 100, .backoff_factor = 0.1, .floor = 1}).backoffs_left(), 2);
    EXPECT_EQ(LossScaleSchedule({.initial = 1, .backoff_factor = 1}).backoffs_left(), 0);
}

}  // namespace
}  // namespace mantissa
