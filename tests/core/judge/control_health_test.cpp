#include "judge/control_health.h"

#include <gtest/gtest.h>

#include <limits>

#include "evidence_maker.h"

namespace mantissa {
namespace {

std::vector<StepRow> rows(std::int64_t count) {
    return test::healthy_run(Precision::No, count).rows.steps;
}

TEST(ControlHealth, LossBelowAThousandTimesItsStartIsHealthyAtItIsNot) {
    auto steps = rows(30);
    steps[0].loss = 2.0;
    steps[29].loss = 1999.9;
    EXPECT_TRUE(control_health(steps).healthy());
    steps[29].loss = 2000.0;
    EXPECT_FALSE(control_health(steps).healthy());
    EXPECT_DOUBLE_EQ(*control_health(steps).loss_growth, 1000.0);
}

TEST(ControlHealth, NormMedianTenTimesIsHealthyAboveIsNot) {
    auto steps = rows(40);
    for (int i = 20; i < 40; ++i) steps[i].grad_norm = 10.0;
    EXPECT_TRUE(control_health(steps).healthy());
    for (int i = 20; i < 40; ++i) steps[i].grad_norm = 10.1;
    EXPECT_FALSE(control_health(steps).healthy());
    // One step short of two windows: the norm says nothing yet.
    EXPECT_FALSE(control_health(steps, 38).norm_growth);
}

TEST(ControlHealth, OnlyTheStepsUpToTheFaultCount) {
    auto steps = rows(100);
    for (int i = 60; i < 100; ++i) steps[i].loss = 1e9;
    EXPECT_TRUE(control_health(steps, 59).healthy());
    EXPECT_EQ(control_health(steps, 59).steps, 60);
    EXPECT_FALSE(control_health(steps, 60).healthy());
}

TEST(ControlHealth, NonFiniteOrMissingIsNotHealthy) {
    auto steps = rows(30);
    steps[25].loss = std::numeric_limits<double>::infinity();
    steps[25].nonfinite_loss = true;
    EXPECT_FALSE(control_health(steps).healthy());
    EXPECT_FALSE(control_health(steps).grown());
    EXPECT_TRUE(control_health(steps, 24).healthy());
    EXPECT_FALSE(control_health({}).healthy());
}

}  // namespace
}  // namespace mantissa
