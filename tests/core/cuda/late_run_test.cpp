// A whole run whose figures come some steps late, as on a GPU: a choice that says "GPU" and computes on the CPU.
#include <gmock/gmock.h>

#include "../run/training_fixture.h"
#include "devices/memory_meter.h"
#include "run/replica_parts.h"
#include "run/run_parts.h"
#include "run/train_loop.h"

namespace mantissa {
namespace {

using testing::HasSubstr;

class LateRun : public Training {
  protected:
    struct Late {
        RunEnd end;
        RunRows rows;
    };
    Late train_late(const RunPlan& plan) {
        Late late;
        const auto folder = create_run_folder(m_runs, plan.name, plan.mixed_precision);
        DeviceChoice choice = *choose_run_device(plan);
        choice.device.kind = DeviceFacts::Kind::Cuda;
        {
            auto recorder = RunRecorder::open(folder->path);
            RunSession session{*folder, **recorder, m_control};
            MemoryMeter memory(torch::kCPU);
            const auto parts = build_run(plan, choice, Replica{});
            EXPECT_TRUE(parts.ok());
            EXPECT_TRUE((*parts)->looks_later);
            TrainLoop loop(plan, **parts, session, memory);
            const auto end = loop.run();
            EXPECT_TRUE(end.ok());
            late.end = *end;
        }
        auto reader = RunReader::open(folder->path);
        late.rows = *(*reader)->read_new();
        return late;
    }
    static RunPlan fused(Precision mode, std::int64_t steps) {
        RunPlan plan = preset("digits-mlp", mode, steps);
        plan.device = "cpu";
        plan.training.optimizer.implementation = OptimizerImplementation::Fused;
        return plan;
    }
};

TEST_F(LateRun, RecordsEveryStepAsARunThatLooksAtOnce) {
    RunPlan plan = fused(Precision::Bf16, 23);
    plan.evaluation.every = 10;
    plan.checkpoint.every = 15;
    const Trained now = train(plan);
    const Late late = train_late(plan);
    EXPECT_EQ(late.end.state, RunState::Finished);
    ASSERT_EQ(late.rows.steps.size(), 23u);
    for (std::size_t i = 0; i < 23; ++i) {
        const StepRow &a = now.rows.steps[i], &b = late.rows.steps[i];
        EXPECT_EQ(b.step, a.step);
        EXPECT_EQ(b.loss, a.loss) << i;
        EXPECT_EQ(b.applied_step, a.applied_step);
        EXPECT_EQ(b.learning_rate, a.learning_rate);
        EXPECT_NEAR(b.grad_norm, a.grad_norm, 1e-9 * a.grad_norm);
        EXPECT_EQ(b.samples, a.samples);
        EXPECT_GT(b.step_ns, 0);
        EXPECT_FALSE(b.skipped);
    }
    ASSERT_EQ(late.rows.evaluations.size(), now.rows.evaluations.size());
    for (std::size_t i = 0; i < now.rows.evaluations.size(); ++i) {
        EXPECT_EQ(late.rows.evaluations[i].step, now.rows.evaluations[i].step);
        EXPECT_EQ(late.rows.evaluations[i].value, now.rows.evaluations[i].value);
    }
    EXPECT_EQ(late.rows.tensor_stats.size(), now.rows.tensor_stats.size());
    EXPECT_TRUE(late.rows.incidents.empty());
}

TEST_F(LateRun, EndsAtTheFirstBadStepAndTellsNoneThatWasHeldBack) {
    RunPlan plan = fused(Precision::No, 30);
    plan.training.optimizer.eps = 0;  // pixels that are always zero: 0/0 in the first update
    plan.on_nonfinite = OnNonfinite::Stop;
    const Trained now = train(plan);
    const Late late = train_late(plan);
    EXPECT_EQ(now.end.state, RunState::StoppedNonfinite);
    EXPECT_EQ(late.end.state, RunState::StoppedNonfinite);
    EXPECT_THAT(late.end.reason, HasSubstr("the loss is NaN at step 1; no weight was moved"));
    ASSERT_EQ(late.rows.steps.size(), now.rows.steps.size());
    EXPECT_TRUE(late.rows.steps.back().nonfinite_loss);
    EXPECT_EQ(late.rows.steps.back().applied_step, now.rows.steps.back().applied_step);
    ASSERT_EQ(late.rows.incidents.size(), now.rows.incidents.size());
    for (std::size_t i = 0; i < now.rows.incidents.size(); ++i) {
        EXPECT_EQ(late.rows.incidents[i].kind, now.rows.incidents[i].kind);
        EXPECT_EQ(late.rows.incidents[i].step, now.rows.incidents[i].step);
    }
}

TEST(HostLooksOf, WaitsOnlyWhereNothingIsDecidedAtTheStep) {
    RunPlan plan;
    plan.mixed_precision = Precision::Bf16;
    plan.training.optimizer.implementation = OptimizerImplementation::Fused;
    const auto looks = [](const RunPlan& one, DeviceFacts::Kind kind = DeviceFacts::Kind::Cuda, bool is_alone = true) {
        return host_looks_of(one, kind, is_alone);
    };
    EXPECT_EQ(looks(plan), HostLooks::Later);
    EXPECT_EQ(looks(plan, DeviceFacts::Kind::Cpu), HostLooks::AsNeeded);
    EXPECT_EQ(looks(plan, DeviceFacts::Kind::Cuda, false), HostLooks::AsNeeded);
    const auto with = [&plan](const auto& change) {
        RunPlan other = plan;
        change(other);
        return other;
    };
    EXPECT_EQ(looks(with([](RunPlan& one) { one.mixed_precision = Precision::Fp16; })), HostLooks::AsNeeded);
    EXPECT_EQ(looks(with([](RunPlan& one) { one.training.clip_grad_norm = 1.0; })), HostLooks::AsNeeded);
    EXPECT_EQ(looks(with([](RunPlan& one) { one.on_nonfinite = OnNonfinite::Pause; })), HostLooks::AsNeeded);
    EXPECT_EQ(looks(with([](RunPlan& one) { one.on_nonfinite = OnNonfinite::Mark; })), HostLooks::Later);
    EXPECT_EQ(looks(with([](RunPlan& one) { one.training.optimizer.implementation = OptimizerImplementation::Exact; })),
              HostLooks::AsNeeded);
}

}  // namespace
}  // namespace mantissa
