// Local error and alarms in real runs.
#include "numerics/local_error.h"

#include <set>

#include "torch_pch.h"
#include "training_fixture.h"

namespace mantissa {
namespace {

TEST(LocalError, IsTheSignalOverTheNoiseOfRounding) {
    const torch::Tensor x = torch::tensor({3.0F, 4.0F});
    const LocalError error = local_error(x, torch::tensor({3.0F, 4.5F}));
    EXPECT_NEAR(error.sqnr_db, 20, 1e-12);
    EXPECT_NEAR(error.relative_error, 0.1, 1e-12);
    EXPECT_EQ(local_error(x, x).relative_error, 0);
    EXPECT_GT(local_error(x, x).sqnr_db, 1e300);
    EXPECT_LT(local_error(x, torch::tensor({3.0F, INFINITY})).sqnr_db, -1e300);
    EXPECT_LT(local_error(torch::zeros({2}), x).sqnr_db, -1e300);
    // Evenly spread values rounded to bf16: 8 bits of precision are 6.02·8 + about 1 to 2 dB.
    torch::manual_seed(3);
    const torch::Tensor spread = torch::rand({20'000}) + 1;
    EXPECT_NEAR(local_error(spread, spread.to(torch::kBFloat16)).sqnr_db, 10 * std::log10((7.0 / 3) / (std::ldexp(1.0, -14) / 12)), 0.2);
}

class LocalErrorRun : public Training {};

TEST_F(LocalErrorRun, LooksAtEveryLayerAndParameterAndChangesNoBit) {
    RunPlan plan = preset("digits-cnn", Precision::Fp16, 24);
    plan.checkpoint.at_end = false;
    const Trained without = train(plan);
    plan.observe.local_error_every = 6;
    const Trained with = train(plan);
    ASSERT_EQ(without.rows.steps.size(), 24U);
    ASSERT_EQ(with.rows.steps.size(), 24U);
    for (std::size_t i = 0; i < 24; ++i) {
        EXPECT_EQ(with.rows.steps[i].loss, without.rows.steps[i].loss) << i;
        EXPECT_EQ(with.rows.steps[i].grad_norm, without.rows.steps[i].grad_norm) << i;
        EXPECT_EQ(with.rows.steps[i].loss_scale, without.rows.steps[i].loss_scale) << i;
    }
    // The running statistics of the norm decide here.
    EXPECT_EQ(with.last("accuracy"), without.last("accuracy"));
    EXPECT_EQ(with.last("loss"), without.last("loss"));
    EXPECT_TRUE(without.rows.local_errors.empty());
    std::map<std::int64_t, std::set<std::string>> outputs, gradients;
    for (const LocalErrorRow& row : with.rows.local_errors) {
        (row.role == TensorRole::Output ? outputs : gradients)[row.step].insert(row.tensor);
        if (row.role != TensorRole::Output || row.dtype != "float16") continue;
        EXPECT_GT(row.sqnr_db, 45) << row.tensor;
        EXPECT_LT(row.sqnr_db, 90) << row.tensor;
        EXPECT_LT(row.relative_error, 0.01) << row.tensor;
    }
    ASSERT_EQ(outputs.size(), 4U);  // steps 0, 6, 12, 18
    EXPECT_GE(outputs.begin()->second.size(), 5U);
    ASSERT_FALSE(gradients.empty());
    EXPECT_TRUE(gradients.rbegin()->second.contains("conv1.weight"));
}

TEST_F(LocalErrorRun, TheControlHasNothingToCompare) {
    RunPlan plan = preset("digits-mlp", Precision::No, 4);
    plan.observe.local_error_every = 1;
    EXPECT_TRUE(train(plan).rows.local_errors.empty());
}

class AlarmRun : public Training {};

TEST_F(AlarmRun, AnAlarmThatStopsSaysWhich) {
    RunPlan plan = preset("cancer-overflow", Precision::Fp16, 60);
    plan.observe.alarms = {"scale_floor threshold=14 action=stop"};
    const Trained trained = train(plan);
    // From 2^16 half a step each: after the sixteenth overflow 2^0 is 14 halvings above the floor of 2^-14.
    EXPECT_EQ(trained.end.state, RunState::Stopped);
    EXPECT_EQ(trained.end.reason, "stopped before step 16: alarm scale_floor at step 15");
    std::vector<AlarmRow> stops;
    for (const AlarmRow& row : trained.rows.alarms) {
        if (row.action == "stop") stops.push_back(row);
    }
    ASSERT_EQ(stops.size(), 1U);
    EXPECT_EQ(stops[0].rule, "scale_floor");
    EXPECT_EQ(stops[0].step, 15);
    EXPECT_EQ(stops[0].value, 14);
}

TEST_F(AlarmRun, OffMeansOff) {
    RunPlan plan = preset("cancer-overflow", Precision::Fp16, 40);
    const Trained with = train(plan);
    EXPECT_FALSE(with.rows.alarms.empty());
    plan.observe.alarms = {"off"};
    EXPECT_TRUE(train(plan).rows.alarms.empty());
}

}  // namespace
}  // namespace mantissa
