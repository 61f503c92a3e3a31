// A run cut at any step and continued is the run that was never cut: every value of every step row, the evaluations, and the
// bytes of weights and optimizer.
#include <cstring>
#include <iostream>

#include "record/checkpoint_info.h"
#include "tests/support/temporary_folder.h"
#include "training_fixture.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t whole_steps = 14;

/// 1,437 samples in batches of 300: five batches an epoch, the last a short one, so that the cuts fall on every position of an
/// epoch and on its ends; three batches a step leave a short window of two.
RunPlan short_plan(Precision mode, std::int64_t accumulation) {
    RunPlan plan;
    plan.name = "cut";
    plan.model.hidden = 16;
    plan.mixed_precision = mode;
    plan.training.max_steps = whole_steps;
    plan.training.batch_size = 300;
    plan.training.gradient_accumulation_steps = accumulation;
    plan.training.optimizer.learning_rate = 0.01;
    plan.evaluation.every = 4;
    // Skips at the start, and again each time the scale has grown: the cuts meet every phase of it.
    plan.loss_scale.initial = 0x1p20;
    plan.loss_scale.growth_factor = 16;
    plan.loss_scale.growth_interval = 2;
    return plan;
}

void with_cycle_and_clip(RunPlan& plan) {
    plan.training.scheduler.name = "one_cycle";
    plan.training.scheduler.max_lr = 0.02;
    plan.training.clip_grad_norm = 0.5;
}

void with_momentum_and_steps(RunPlan& plan) {
    plan.training.optimizer.name = "sgd";
    plan.training.optimizer.momentum = 0.9;
    plan.training.scheduler.name = "step";
    plan.training.scheduler.step_size = 3;
    plan.training.clip_grad_value = 0.05;
}

bool same_bits(double a, double b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

void expect_same(const StepRow& cut, const StepRow& whole) {
    const std::string at = "step " + std::to_string(whole.step);
    EXPECT_EQ(cut.step, whole.step);
    EXPECT_EQ(cut.applied_step, whole.applied_step) << at;
    EXPECT_EQ(cut.epoch, whole.epoch) << at;
    EXPECT_TRUE(same_bits(cut.loss, whole.loss)) << at << ": " << cut.loss << " " << whole.loss;
    EXPECT_TRUE(same_bits(cut.grad_norm, whole.grad_norm)) << at << ": " << cut.grad_norm << " " << whole.grad_norm;
    EXPECT_TRUE(same_bits(cut.learning_rate, whole.learning_rate)) << at;
    EXPECT_EQ(cut.loss_scale, whole.loss_scale) << at;
    EXPECT_EQ(cut.growth_tracker, whole.growth_tracker) << at;
    EXPECT_EQ(cut.skipped, whole.skipped) << at;
    EXPECT_EQ(cut.skip_kind, whole.skip_kind) << at;
    EXPECT_EQ(cut.nonfinite_loss, whole.nonfinite_loss) << at;
    EXPECT_EQ(cut.nonfinite_grads, whole.nonfinite_grads) << at;
    EXPECT_EQ(cut.samples, whole.samples) << at;
}

fs::path checkpoint_of(const Trained& run, std::int64_t step) {
    return run.folder.checkpoints() / ("checkpoint_" + std::to_string(step));
}

class ResumedRun : public Training {
  protected:
    Trained go_on(RunPlan plan, const fs::path& checkpoint) {
        plan.checkpoint.resume_from = checkpoint.string();
        return train(plan);
    }

    void expect_continuation(const Trained& cut, const Trained& whole, std::int64_t from) {
        ASSERT_EQ(cut.end.state, RunState::Finished) << cut.end.reason;
        ASSERT_EQ(std::int64_t(cut.rows.steps.size()), whole_steps - from);
        for (std::size_t i = 0; i < cut.rows.steps.size(); ++i)
            expect_same(cut.rows.steps[i], whole.rows.steps[static_cast<std::size_t>(from) + i]);
        std::vector<EvaluationRow> expected;
        for (const EvaluationRow& row : whole.rows.evaluations)
            if (row.step > from) expected.push_back(row);
        ASSERT_EQ(cut.rows.evaluations.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_EQ(cut.rows.evaluations[i].step, expected[i].step);
            EXPECT_TRUE(same_bits(cut.rows.evaluations[i].value, expected[i].value));
        }
        for (const char* file : {"model.safetensors", "optimizer.safetensors"})
            EXPECT_EQ(testing::content_of(checkpoint_of(cut, whole_steps) / file),
                      testing::content_of(checkpoint_of(whole, whole_steps) / file))
                << file << " after a cut at " << from;
    }

    /// Cuts at every step, before the first one too.
    void cut_everywhere(RunPlan plan) {
        plan.checkpoint.every = 1;
        plan.checkpoint.keep = whole_steps + 1;
        m_control.post(ControlCommand::Checkpoint);  // before step 0
        const Trained whole = train(plan);
        ASSERT_EQ(std::int64_t(whole.rows.steps.size()), whole_steps);
        plan.checkpoint.every = 0;
        for (std::int64_t from = 0; from < whole_steps; ++from) {
            expect_continuation(go_on(plan, checkpoint_of(whole, from)), whole, from);
            ++m_cuts;
        }
        m_skips = std::count_if(whole.rows.steps.begin(), whole.rows.steps.end(), [](const StepRow& row) { return row.skipped; });
        std::cout << "cut points: " << m_cuts << ", skipped steps of the whole run: " << m_skips << "\n";
        RecordProperty("cut_points", std::to_string(m_cuts));
    }

    std::int64_t m_cuts = 0, m_skips = 0;
};

TEST_F(ResumedRun, InNoAtEveryStep) {
    cut_everywhere(short_plan(Precision::No, 1));
}
TEST_F(ResumedRun, InBf16AtEveryStep) {
    cut_everywhere(short_plan(Precision::Bf16, 1));
}
TEST_F(ResumedRun, InFp16WithSkipsAtEveryStep) {
    cut_everywhere(short_plan(Precision::Fp16, 1));
    EXPECT_GT(m_skips, 3);
    EXPECT_LT(m_skips, whole_steps - 3);
}
TEST_F(ResumedRun, InNoWithShortWindowsCycleAndClippingAtEveryStep) {
    RunPlan plan = short_plan(Precision::No, 3);
    with_cycle_and_clip(plan);
    cut_everywhere(plan);
}
TEST_F(ResumedRun, InBf16WithShortWindowsCycleAndClippingAtEveryStep) {
    RunPlan plan = short_plan(Precision::Bf16, 3);
    with_cycle_and_clip(plan);
    cut_everywhere(plan);
}
TEST_F(ResumedRun, InFp16WithShortWindowsCycleClippingAndSkipsAtEveryStep) {
    RunPlan plan = short_plan(Precision::Fp16, 3);
    with_cycle_and_clip(plan);
    cut_everywhere(plan);
    EXPECT_GT(m_skips, 3);
}
TEST_F(ResumedRun, InFp16WithMomentumStepsAndUpstreamsWindowAtEveryStep) {
    RunPlan plan = short_plan(Precision::Fp16, 3);
    with_momentum_and_steps(plan);
    plan.short_window = ShortWindow::Upstream;
    cut_everywhere(plan);
    EXPECT_GT(m_skips, 3);
}
TEST_F(ResumedRun, InBf16OfTheCnnAtEveryStep) {
    RunPlan plan = short_plan(Precision::Bf16, 1);
    plan.model = {};
    plan.model.name = "cnn";
    cut_everywhere(plan);
}

// Persistent faults, a scale at its floor, and the incident reporter's looks.
TEST_F(ResumedRun, InFp16WithNothingButFaultsAtEveryStep) {
    RunPlan plan = preset("cancer-overflow", Precision::Fp16, whole_steps);
    plan.loss_scale.initial = 1.0;
    cut_everywhere(plan);
    EXPECT_EQ(m_skips, whole_steps);
}

TEST_F(ResumedRun, ARunThatWasResumedIsResumedAgain) {
    RunPlan plan = short_plan(Precision::Fp16, 1);
    const Trained whole = train(plan);
    RunPlan first = plan;
    first.training.max_steps = 3;
    fs::path last = checkpoint_of(train(first), 3);
    for (const std::int64_t end : {7, 8, 13}) {
        RunPlan piece = plan;
        piece.training.max_steps = end;
        const Trained run = go_on(piece, last);
        ASSERT_EQ(run.rows.steps.back().step, end - 1);
        last = checkpoint_of(run, end);
    }
    expect_continuation(go_on(plan, last), whole, 13);
}

}  // namespace
}  // namespace mantissa
