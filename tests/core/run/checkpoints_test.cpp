// When a run saves, what it keeps, what it says when it can't, and what a resume refuses or tells.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include "engine/accelerator.h"
#include "plan/plan_file.h"
#include "record/checkpoint_info.h"
#include "record/meta_keys.h"
#include "tests/support/temporary_folder.h"
#include "training_fixture.h"

namespace mantissa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

RunPlan plan_of(Precision mode, std::int64_t steps) {
    RunPlan plan;
    plan.name = "kept";
    plan.model.hidden = 16;
    plan.mixed_precision = mode;
    plan.training.max_steps = steps;
    plan.training.batch_size = 300;
    return plan;
}

std::vector<std::int64_t> saved_steps(const Trained& run) {
    std::vector<std::int64_t> steps;
    for (const CheckpointInfo& info : list_checkpoints(run.folder.path).checkpoints) steps.push_back(info.step);
    return steps;
}

class Checkpoints : public Training {
  protected:
    RunPlan going_on(const RunPlan& plan, const Trained& from, std::int64_t steps) {
        RunPlan next = plan;
        next.training.max_steps = steps;
        next.checkpoint.resume_from = from.folder.path.string();
        return next;
    }
    [[nodiscard]] std::size_t recorded_steps(const std::string& name) const {
        const auto folders = list_run_folders(m_runs);
        if (!folders) return 0;
        for (const RunFolder& folder : *folders) {
            if (folder.path.filename().string().find(name) == std::string::npos) continue;
            const auto reader = RunReader::open(folder.path);
            const auto rows = reader ? (*reader)->read_new() : Result<RunRows>(reader.error());
            return rows ? rows->steps.size() : 0;
        }
        return 0;
    }
    /// A process trains in one mode: another one's checkpoint is made by a child.
    Trained saved_by_a_child(const RunPlan& plan) {
        const pid_t child = ::fork();
        if (child == 0) {
            const Trained run = train(plan);
            ::_exit(run.end.state == RunState::Finished ? 0 : 1);
        }
        int status = -1;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        const auto folders = list_run_folders(m_runs);
        EXPECT_TRUE(folders && folders->size() == 1);
        return Trained{folders->front(), {}, {}, {}, {}, {}};
    }
};

TEST_F(Checkpoints, TheEndStateIsKeptUnlessThePlanSaysOtherwise) {
    RunPlan plan = plan_of(Precision::No, 6);
    const Trained run = train(plan);
    EXPECT_THAT(saved_steps(run), ElementsAre(6));
    EXPECT_TRUE(run.rows.incidents.empty());
    EXPECT_EQ(run.meta.at(meta::checkpoint), (run.folder.checkpoints() / "checkpoint_6").string());
    EXPECT_EQ(run.meta.at(meta::checkpoint_error), "");
    const auto info = find_checkpoint(run.folder.path);
    ASSERT_TRUE(info) << describe(info.error());
    EXPECT_EQ(info->applied_steps, 6);
    EXPECT_EQ(info->epoch, 1);
    EXPECT_EQ(info->mode, Precision::No);
    EXPECT_EQ(info->model, "mlp");
    plan.checkpoint.at_end = false;
    EXPECT_THAT(saved_steps(train(plan)), IsEmpty());
}

TEST_F(Checkpoints, TheOldestGoAndTheLastTwoStay) {
    RunPlan plan = plan_of(Precision::Fp16, 11);
    plan.checkpoint.every = 2;
    plan.checkpoint.keep = 3;
    const Trained run = train(plan);
    EXPECT_THAT(saved_steps(run), ElementsAre(11, 10, 8));
    EXPECT_EQ(std::distance(fs::directory_iterator(run.folder.checkpoints()), fs::directory_iterator()), 3);
    const auto info = find_checkpoint(run.folder.path);
    ASSERT_TRUE(info) << describe(info.error());
    EXPECT_EQ(info->loss_scale, 65536.0);
    EXPECT_EQ(info->growth_tracker, run.rows.steps.back().growth_tracker);
    for (const StepRow& row : run.rows.steps) EXPECT_LT(row.step_ns, 1'000'000'000);
}

TEST_F(Checkpoints, ACommandSavesBetweenTwoStepsAlsoInAPause) {
    RunPlan plan = plan_of(Precision::No, 1000);
    m_control.post(ControlCommand::Pause);
    std::jthread other([this] {
        while (!is_paused()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        m_control.post(ControlCommand::Step);
        m_control.post(ControlCommand::Step);
        m_control.post(ControlCommand::Checkpoint);
        const auto there = [this] {
            const auto folders = list_run_folders(m_runs);
            return folders && !folders->empty() && !list_checkpoints(folders->front().path).checkpoints.empty();
        };
        while (!there()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        m_control.post(ControlCommand::Stop);
    });
    const Trained run = train(plan);
    EXPECT_EQ(run.end.state, RunState::Stopped);
    const auto saved = saved_steps(run);
    ASSERT_FALSE(saved.empty());
    EXPECT_LE(saved.back(), 2);
}

TEST_F(Checkpoints, AStopSavesEvenWithoutAnEndStateAndAnInterruptDoesNot) {
    for (const ControlCommand command : {ControlCommand::Stop, ControlCommand::Interrupt}) {
        RunPlan plan = plan_of(Precision::No, 100000);
        plan.checkpoint.at_end = false;
        plan.name = to_string(command);
        RunControl control;
        std::jthread other([this, &control, command, name = plan.name] {
            while (recorded_steps(name) < 5) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            control.post(command);
        });
        const Trained run = train(plan, control);
        const auto steps = std::int64_t(run.rows.steps.size());
        ASSERT_GT(steps, 0);
        if (command == ControlCommand::Stop)
            EXPECT_THAT(saved_steps(run), ElementsAre(steps));
        else
            EXPECT_THAT(saved_steps(run), IsEmpty());
    }
}

TEST_F(Checkpoints, OneThatCantBeSavedIsToldAndTheRunGoesOn) {
    m_prepare = [](const RunFolder& folder) { std::ofstream(folder.checkpoints()) << "in the way"; };
    RunPlan plan = plan_of(Precision::No, 6);
    plan.checkpoint.every = 2;
    const Trained run = train(plan);
    EXPECT_EQ(run.end.state, RunState::Finished);
    ASSERT_EQ(run.rows.steps.size(), 6u);
    const auto incidents = run.incidents("checkpoint_failed");
    ASSERT_EQ(incidents.size(), 4u);  // after 2, 4 and 6 steps, and once more at the end
    EXPECT_EQ(incidents[0].step, 2);
    EXPECT_EQ(incidents[0].severity, "warning");
    EXPECT_THAT(incidents[0].detail_json, HasSubstr("can't be made"));
    EXPECT_THAT(run.meta.at(meta::checkpoint_error), HasSubstr("checkpoints can't be made"));
}

TEST_F(Checkpoints, ALongerPlanMakesTheRestAndTheRecordingBeginsThere) {
    const RunPlan plan = plan_of(Precision::Fp16, 6);
    const Trained first = train(plan);
    const Trained second = train(going_on(plan, first, 10));
    ASSERT_EQ(second.rows.steps.size(), 4u);
    EXPECT_EQ(second.rows.steps.front().step, 6);
    EXPECT_EQ(second.rows.steps.front().applied_step, first.rows.steps.back().applied_step + 1);
    EXPECT_EQ(second.rows.op_dtypes.front().step, 6);
    EXPECT_EQ(second.meta.at(meta::planned_steps), "10");
    ASSERT_TRUE(second.summary.resumed);
    EXPECT_EQ(second.summary.resumed->step, 6);
    EXPECT_EQ(second.summary.resumed->run, first.folder.path.string());
    EXPECT_EQ(second.summary.resumed->mode, Precision::Fp16);
    EXPECT_EQ(second.summary.resumed->scale, ResumedScale::TakenUp);
    EXPECT_EQ(second.summary.steps, 10);
    EXPECT_EQ(second.summary.applied_steps, 10);
    EXPECT_THAT(saved_steps(second), ElementsAre(10));
    // The initial state of the run that goes on is the saved one.
    EXPECT_NE(second.environment["hashes"]["initial_state"], first.environment["hashes"]["initial_state"]);
    EXPECT_EQ(second.environment["hashes"]["data"], first.environment["hashes"]["data"]);
}

TEST_F(Checkpoints, WhatDoesNotFitIsRefusedByTheEngineToo) {
    const RunPlan plan = plan_of(Precision::No, 6);
    const Trained first = train(plan);
    EXPECT_THAT(refused(going_on(plan, first, 6)).message, HasSubstr("nothing is left to do"));
    EXPECT_EQ(exit_code(refused(going_on(plan, first, 6)).code), 2);
    RunPlan other = going_on(plan, first, 10);
    other.model.hidden = 17;
    EXPECT_THAT(refused(other).message, HasSubstr("model.hidden is 17"));
    other = going_on(plan, first, 10);
    other.checkpoint.resume_from = (m_runs / "gone").string();
    EXPECT_THAT(refused(other).message, HasSubstr("there is no run or checkpoint"));
}

TEST_F(Checkpoints, AnotherContentOfTheDataIsRefusedByItsHash) {
    const mantissa::testing::TemporaryFolder folder;
    std::string rows = mantissa::testing::content_of(fs::path(MANTISSA_RESOURCES_DIR) / "datasets" / "breast_cancer.csv");
    rows.erase(0, rows.find('\n') + 1);  // of counts, not of names
    RunPlan plan = preset("cancer-overflow", Precision::No, 4);
    plan.dataset.file = folder.file("a.csv", rows).string();
    const Trained first = train(plan);
    RunPlan next = going_on(plan, first, 8);
    next.dataset.file = folder.file("same.csv", rows).string();
    EXPECT_EQ(train(next).rows.steps.size(), 4u);
    std::string changed = rows;
    const auto digit = changed.find_last_of("23456789");
    ASSERT_NE(digit, std::string::npos);
    const auto point = changed.rfind('.', digit);
    ASSERT_NE(point, std::string::npos);
    changed[point + 1] = changed[point + 1] == '5' ? '6' : '5';
    next.dataset.file = folder.file("other.csv", changed).string();
    const Error error = refused(next);
    EXPECT_THAT(error.message, HasSubstr("the content of the data is not what the checkpoint was trained on"));
    EXPECT_EQ(error.code, ErrorCode::BadPlan);
}

TEST_F(Checkpoints, AChangedLearningRateMovesTheWholeSchedule) {
    RunPlan plan = plan_of(Precision::No, 5);
    plan.training.scheduler.name = "step";
    plan.training.scheduler.step_size = 2;
    const Trained first = train(plan);
    RunPlan next = going_on(plan, first, 8);
    next.training.optimizer.learning_rate = 1e-4;
    const Trained second = train(next);
    ASSERT_EQ(second.rows.steps.size(), 3u);
    EXPECT_DOUBLE_EQ(first.rows.steps.back().learning_rate, 1e-5);   // after two drops
    EXPECT_DOUBLE_EQ(second.rows.steps[0].learning_rate, 1e-6);
    EXPECT_DOUBLE_EQ(second.rows.steps[1].learning_rate, 1e-7);
}

TEST_F(Checkpoints, FromBf16ToFp16TheScaleStartsAnewAndItsFirstSkipsAreProbing) {
    const Trained first = saved_by_a_child(plan_of(Precision::Bf16, 5));
    RunPlan plan = plan_of(Precision::Fp16, 5);
    plan.loss_scale.initial = 0x1p24;
    const Trained second = train(going_on(plan, first, 15));
    EXPECT_EQ(second.summary.resumed->mode, Precision::Bf16);
    EXPECT_EQ(second.summary.resumed->scale, ResumedScale::StartsAnew);
    EXPECT_FALSE(second.summary.resumed->saved_scale.has_value());
    ASSERT_EQ(second.rows.steps.size(), 10u);
    EXPECT_EQ(second.rows.steps.front().loss_scale, 0x1p24);
    std::int64_t probing = 0;
    for (const StepRow& row : second.rows.steps) {
        EXPECT_NE(row.skip_kind, SkipKind::Fault);
        probing += row.skip_kind == SkipKind::Probing ? 1 : 0;
    }
    EXPECT_GE(probing, 3);
}

TEST_F(Checkpoints, FromFp16ToNoTheScaleIsDroppedAndToldInTheRecord) {
    const Trained first = saved_by_a_child(plan_of(Precision::Fp16, 5));
    const Trained second = train(going_on(plan_of(Precision::No, 5), first, 8));
    ASSERT_EQ(second.rows.steps.size(), 3u);
    EXPECT_FALSE(second.rows.steps.front().loss_scale.has_value());
    EXPECT_EQ(second.meta.at(meta::resumed_mode), "fp16");
    EXPECT_EQ(second.meta.at(meta::mode), "no");
    EXPECT_EQ(second.meta.at(meta::resumed_scale), "dropped");
    EXPECT_EQ(second.meta.at(meta::resumed_saved_scale), "65536");
}

}  // namespace
}  // namespace mantissa
