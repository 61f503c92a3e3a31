#include "plan/resume_check.h"

#include <gtest/gtest.h>

#include "plan/plan_sources.h"
#include "plan_testing.h"

namespace mantissa {
namespace {

RunPlan saved_plan() {
    RunPlan plan;
    plan.training.max_steps = 300;
    plan.mixed_precision = Precision::Fp16;
    return plan;
}

std::string verdict(const RunPlan& saved, const RunPlan& now, std::int64_t step = 300) {
    const auto checked = check_resume(saved, step, now);
    if (!checked) return checked.error().message;
    std::string text = "fits";
    for (const std::string& note : *checked) text += "; " + note;
    return text;
}

TEST(ResumeCheck, ModeLengthEvaluationAndDeviceMayChange) {
    RunPlan now = saved_plan();
    now.training.max_steps = 500;
    now.mixed_precision = Precision::No;
    now.evaluation.every = 10;
    now.device = "cuda";
    now.name = "longer";
    now.checkpoint.every = 50;
    now.checkpoint.resume_from = "/runs/a";
    EXPECT_EQ(verdict(saved_plan(), now), "fits");
    now.training.max_steps.reset();
    now.training.epochs = 20;  // 900 steps
    EXPECT_EQ(verdict(saved_plan(), now), "fits");
}

TEST(ResumeCheck, WhatChangesTheTrainingIsTold) {
    RunPlan now = saved_plan();
    now.training.max_steps = 500;
    now.training.optimizer.learning_rate = 1e-4;
    now.training.clip_grad_norm = 1;
    EXPECT_EQ(verdict(saved_plan(), now),
              "fits; training.optimizer.learning_rate changes from 0.001 to 1e-04 at step 300; "
              "training.clip_grad_norm changes from not set to 1 at step 300");
}

TEST(ResumeCheck, ModelDataOrderAndOptimizerMayNot) {
    const auto with = [](auto change) {
        RunPlan now = saved_plan();
        now.training.max_steps = 500;
        change(now);
        return verdict(saved_plan(), now);
    };
    EXPECT_EQ(with([](RunPlan& plan) { plan.model.name = "cnn"; }), "model.name is cnn, the checkpoint was saved with mlp");
    EXPECT_EQ(with([](RunPlan& plan) { plan.model.hidden = 7; }), "model.hidden is 7, the checkpoint was saved with 128");
    EXPECT_EQ(with([](RunPlan& plan) { plan.dataset.name = "breast-cancer"; }),
              "dataset.name is breast-cancer, the checkpoint was saved with digits");
    EXPECT_EQ(with([](RunPlan& plan) { plan.dataset.split_seed = 4; }),
              "dataset.split_seed is 4, the checkpoint was saved with 0");
    EXPECT_EQ(with([](RunPlan& plan) { plan.dataset.validation = 0.3; }),
              "dataset.validation is 0.3, the checkpoint was saved with 0.2");
    EXPECT_EQ(with([](RunPlan& plan) { plan.training.batch_size = 64; }),
              "training.batch_size is 64, the checkpoint was saved with 32");
    EXPECT_EQ(with([](RunPlan& plan) { plan.training.seed = 4; }), "training.seed is 4, the checkpoint was saved with 3");
    EXPECT_EQ(with([](RunPlan& plan) { plan.training.optimizer.name = "sgd"; }),
              "training.optimizer.name is sgd, the checkpoint was saved with adamw");
    EXPECT_EQ(with([](RunPlan& plan) { plan.training.loss = "mse"; }),
              "training.loss is mse, the checkpoint was saved with cross_entropy");
}

TEST(ResumeCheck, WithNothingLeftToDoItSaysHowToGoOn) {
    EXPECT_EQ(verdict(saved_plan(), saved_plan()),
              "nothing is left to do: the plan has 300 steps, and the checkpoint was saved after 300");
    EXPECT_EQ(check_resume(saved_plan(), 300, saved_plan()).error().code, ErrorCode::BadPlan);
    EXPECT_EQ(verdict(saved_plan(), saved_plan(), 299), "fits");
}

TEST(ResumeCheck, ACycleKeepsItsLength) {
    RunPlan saved = saved_plan();
    saved.training.scheduler.name = "one_cycle";
    RunPlan now = saved;
    EXPECT_EQ(with_schedule_of(saved, now).training.scheduler.total_steps, 300);
    now.training.max_steps = 200;  // shorter: the cycle is cut, not squeezed
    EXPECT_EQ(verdict(saved, now, 100), "fits");
    EXPECT_EQ(with_schedule_of(saved, now).training.scheduler.total_steps, 300);
    now.training.max_steps = 500;
    EXPECT_EQ(verdict(saved, now, 100), "the one_cycle schedule of the checkpoint ends after 300 steps, the plan has 500");
    now = saved;
    now.training.optimizer.learning_rate = 1;
    EXPECT_NE(verdict(saved, now, 100).find("one_cycle schedule, which sets the rate of every step itself"),
              std::string::npos);
    EXPECT_EQ(with_schedule_of(saved_plan(), saved_plan()).training.scheduler.total_steps, 0);
}

TEST(ResumeCheck, TheCheckpointsPlanIsASourceBelowPlanAndFlagsAndAboveTheEnvironment) {
    RunPlan saved = saved_plan();
    saved.modes = {Precision::No, Precision::Fp16};
    saved.checkpoint.resume_from = "/runs/earlier";
    saved.training.optimizer.learning_rate = 0.01;
    const auto layer = checkpoint_layer(saved, "run-a/checkpoint_300");
    ASSERT_TRUE(layer);
    const auto environment = environment_layer([](const std::string& name) {
        return name == "ACCELERATE_MIXED_PRECISION" ? std::optional<std::string>("bf16") : std::nullopt;
    });
    PlanLayer flags{ValueSource::Flag, {}, {}};
    ASSERT_TRUE(flags.set_text("training.max_steps", "500", "--max-steps"));
    const auto plan = resolve_plan({*layer, *environment, flags}, PlanUse::Train);
    ASSERT_TRUE(plan) << describe(plan.error());
    EXPECT_EQ(plan->plan.mixed_precision, Precision::Fp16);
    EXPECT_EQ(plan->plan.training.max_steps, 500);
    EXPECT_EQ(plan->plan.training.optimizer.learning_rate, 0.01);
    EXPECT_TRUE(plan->plan.modes.empty());
    EXPECT_TRUE(plan->plan.checkpoint.resume_from.empty());
    EXPECT_EQ(plan->origins.at("mixed_precision").source, ValueSource::Checkpoint);
    EXPECT_EQ(parse_value_source("checkpoint"), ValueSource::Checkpoint);
    const auto lines = plan->overruled_lines();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0],
              "mixed_precision fp16 (checkpoint run-a/checkpoint_300) overrules bf16 (environment ACCELERATE_MIXED_PRECISION)");
    EXPECT_EQ(lines[1],
              "training.max_steps 500 (flag --max-steps) overrules 300 (checkpoint run-a/checkpoint_300)");
}

}  // namespace
}  // namespace mantissa
