// What an alarm does to a run, on real runs: outputs of the digits network in fp16 lie some 12 bits below the end of fp16, so a threshold
// of 60 bits fires at the records of step 0. Those are judged a step later.
#include <algorithm>
#include <thread>

#include "record/checkpoint_info.h"
#include "record/meta_keys.h"
#include "training_fixture.h"

namespace mantissa {
namespace {

class AlarmActions : public Training {
  protected:
    static RunPlan alarmed(const std::string& action, std::int64_t steps = 12) {
        RunPlan plan = preset("digits-mlp", Precision::Fp16, steps);
        plan.evaluation.every = 0;
        plan.checkpoint.at_end = false;
        plan.observe.alarms = {"headroom threshold=60 action=" + action, "flush_share off", "dead_layer off", "vanishing_gradient off"};
        return plan;
    }
    static std::vector<RunState> states(const Trained& run) {
        std::vector<RunState> all;
        for (const StateRow& row : run.rows.states) all.push_back(row.state);
        return all;
    }
    static void expect_alarms_of_step_0(const Trained& run, const std::string& action) {
        ASSERT_FALSE(run.rows.alarms.empty());
        for (const AlarmRow& row : run.rows.alarms) {
            EXPECT_EQ(row.rule, "headroom");
            EXPECT_EQ(row.step, 0) << "it stays true: said once of each tensor";
            EXPECT_EQ(row.action, action);
            EXPECT_LT(row.value, row.threshold);
        }
    }
    static std::vector<std::int64_t> checkpoint_steps(const Trained& run) {
        std::vector<std::int64_t> steps;
        for (const CheckpointInfo& one : list_checkpoints(run.folder.path).checkpoints) steps.push_back(one.step);
        return steps;
    }
    static std::vector<std::int64_t> recorded_steps(const Trained& run) {
        std::vector<std::int64_t> steps;
        for (const TensorStatRow& row : run.rows.tensor_stats) steps.push_back(row.step);
        steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
        return steps;
    }
};

TEST_F(AlarmActions, MarkIsOnlyWrittenDown) {
    const Trained run = train(alarmed("mark"));
    expect_alarms_of_step_0(run, "mark");
    EXPECT_EQ(run.end.state, RunState::Finished);
    EXPECT_EQ(run.rows.steps.size(), 12U);
    const auto all = states(run);
    EXPECT_EQ(std::count(all.begin(), all.end(), RunState::Paused), 0);
    EXPECT_TRUE(checkpoint_steps(run).empty());
    EXPECT_EQ(run.meta.at(meta::watch_level), "1");
    EXPECT_EQ(recorded_steps(run), std::vector<std::int64_t>{0});
}

TEST_F(AlarmActions, StopEndsTheRunAtTheNextStepAndSaysWhy) {
    const Trained run = train(alarmed("stop"));
    expect_alarms_of_step_0(run, "stop");
    EXPECT_EQ(run.end.state, RunState::Stopped);
    EXPECT_EQ(run.rows.steps.size(), 2U);
    EXPECT_EQ(run.end.reason.find("stopped before step 2: alarm headroom on "), 0U) << run.end.reason;
    EXPECT_NE(run.end.reason.find(" at step 0"), std::string::npos) << run.end.reason;
    EXPECT_EQ(run.rows.states.back().reason, run.end.reason);
}

TEST_F(AlarmActions, PauseWaitsForAPersonAndGoesOn) {
    std::jthread person([this](const std::stop_token& stop) {
        while (!stop.stop_requested() && !is_paused()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        m_control.post(ControlCommand::Resume);
    });
    const Trained run = train(alarmed("pause"));
    expect_alarms_of_step_0(run, "pause");
    EXPECT_EQ(run.end.state, RunState::Finished);
    EXPECT_EQ(run.rows.steps.size(), 12U);
    const auto paused =
        std::find_if(run.rows.states.begin(), run.rows.states.end(), [](const StateRow& row) { return row.state == RunState::Paused; });
    ASSERT_NE(paused, run.rows.states.end());
    EXPECT_EQ(paused->reason.find("alarm headroom on "), 0U) << paused->reason;
    const auto waited = [&](const StepRow& row) { return row.time_ns < paused->time_ns; };
    EXPECT_EQ(std::count_if(run.rows.steps.begin(), run.rows.steps.end(), waited), 2);
}

TEST_F(AlarmActions, CheckpointSavesAtTheNextStepEdgeAndGoesOn) {
    const Trained run = train(alarmed("checkpoint"));
    expect_alarms_of_step_0(run, "checkpoint");
    EXPECT_EQ(run.end.state, RunState::Finished);
    EXPECT_EQ(checkpoint_steps(run), std::vector<std::int64_t>{2});
    EXPECT_EQ(run.rows.steps.size(), 12U);
}

TEST_F(AlarmActions, WatchRecordsEveryStepFromThereOn) {
    const Trained run = train(alarmed("watch"));
    expect_alarms_of_step_0(run, "watch");
    EXPECT_EQ(run.end.state, RunState::Finished);
    EXPECT_EQ(run.meta.at(meta::watch_level), "2");
    EXPECT_EQ(recorded_steps(run), (std::vector<std::int64_t>{0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

// A rule about steps acts at once, and only when it has been true for as many steps as it says.
TEST_F(AlarmActions, AStreakOfSkipsStopsAtItsLastStep) {
    RunPlan plan = preset("digits-mlp", Precision::Fp16, 12);
    plan.evaluation.every = 0;
    plan.checkpoint.at_end = false;
    plan.loss_scale.initial = 65536;
    plan.observe.alarms = {"scale_floor threshold=64 steps=4 action=stop", "flush_share off", "dead_layer off", "vanishing_gradient off"};
    plan.loss_scale.initial = 0x1p40;  // overflows at once and falls: below where it began from the first step on
    const Trained run = train(plan);
    ASSERT_EQ(run.rows.alarms.size(), 1U);
    EXPECT_EQ(run.rows.alarms[0].step, 3);
    EXPECT_EQ(run.end.state, RunState::Stopped);
    EXPECT_EQ(run.rows.steps.size(), 4U);
    EXPECT_EQ(run.end.reason, "stopped before step 4: alarm scale_floor at step 3");
}

TEST_F(AlarmActions, OffMeansNothingIsJudged) {
    RunPlan plan = alarmed("stop");
    plan.observe.alarms = {"off"};
    const Trained run = train(plan);
    EXPECT_TRUE(run.rows.alarms.empty());
    EXPECT_EQ(run.end.state, RunState::Finished);
}

}  // namespace
}  // namespace mantissa
