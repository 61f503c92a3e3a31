#include "plan/validate.h"

#include <gtest/gtest.h>

#include "plan/catalogue.h"
#include "plan/plan_fields.h"
#include "plan/plan_json.h"
#include "plan_testing.h"

namespace mantissa {
namespace {

std::string verdict(const std::string& text) {
    const auto read = read_plan_json(text);
    EXPECT_EQ(sentence(read), "no error") << text;
    return read ? sentence(validate(read->plan)) : "unreadable";
}

ErrorCode code(const std::string& text) {
    return validate(read_plan_json(text)->plan).error().code;
}

TEST(Validate, TheDefaultPlanIsGood) {
    EXPECT_EQ(verdict("{}"), "no error");
}

TEST(Validate, ContradictionsAreNamed) {
    EXPECT_EQ(
        verdict(R"({"model": {"name": "linear", "hidden": 3}})"),
        "model.hidden is 3, but the model linear has no width to choose — drop it, or choose mlp or squares");
    EXPECT_EQ(verdict(R"({"model": "cnn", "dataset": "breast-cancer"})"),
              "dataset.name is breast-cancer, which the model cnn can't take — it takes: digits");
    EXPECT_EQ(
        verdict(R"({"training": {"batch_size": 1438}})"),
        "training.batch_size is 1438, more than the 1437 training samples of digits — use at most that many");
    EXPECT_EQ(verdict(R"({"training": {"batch_size": 1437}})"), "no error");
    EXPECT_EQ(verdict(R"({"training": {"batch_size": 5000}, "dataset": {"file": "large.csv"}})"), "no error");
    EXPECT_EQ(verdict(R"({"loss_scale": {"initial": 1, "floor": 2}})"),
              "loss_scale.initial is 1, below loss_scale.floor (2) — start above the floor");
    EXPECT_EQ(verdict(R"({"training": {"optimizer": {"momentum": 0.9}}})"),
              "training.optimizer.momentum is 0.9, but adamw has no momentum — drop it, or use beta1");
    EXPECT_EQ(verdict(R"({"training": {"optimizer": {"name": "sgd", "nesterov": true}}})"),
              "training.optimizer.nesterov is true — Nesterov's momentum needs sgd, a momentum above 0 and "
              "no dampening");
    EXPECT_EQ(verdict(R"({"training": {"optimizer": {"name": "sgd", "eps": 1}}})"),
              "training.optimizer.eps is 1, but sgd has none — drop it");
    EXPECT_EQ(verdict(R"({"training": {"scheduler": {"name": "step", "t_max": 7}}})"),
              "training.scheduler.t_max is 7, but the schedule step doesn't use it — drop it, or choose a "
              "schedule that does: cosine");
    EXPECT_EQ(verdict(R"({"fp32_islands": ["gate"]})"),
              "fp32_islands names \"gate\", which mlp has not — its modules are: hidden, relu, head");
    EXPECT_EQ(verdict(R"({"model": "gated", "fp32_islands": ["gate", "gate.down", "gate.mul", "aten::softmax"]})"),
              "no error");
    for (const char* nothing : {"aten::", "gate.", "gait.mul", "."})
        EXPECT_EQ(code(("{\"model\": \"gated\", \"fp32_islands\": [\"" + std::string(nothing) + "\"]}").c_str()),
                  ErrorCode::BadPlan)
            << nothing;
    EXPECT_EQ(verdict(R"({"name": ""})"), "name is empty — give the run a name");
}

TEST(Validate, AWarmUpFitsIntoTheRun) {
    const auto warmup = [](const char* name, int steps, const char* more) {
        return verdict(std::string(R"({"training": {"max_steps": 300, "scheduler": {"name": ")") + name +
                       R"(", "warmup_steps": )" + std::to_string(steps) + more + "}}}");
    };
    EXPECT_EQ(warmup("linear_with_warmup", 300, ""), "no error");
    EXPECT_EQ(warmup("constant_with_warmup", 301, ""),
              "training.scheduler.warmup_steps is 301, longer than the run of 300 steps — use fewer, or make the run "
              "longer");
    EXPECT_EQ(warmup("cosine_with_warmup", 60, R"(, "total_steps": 50)"),
              "training.scheduler.warmup_steps is 60, longer than the schedule of 50 steps — use fewer, or raise "
              "training.scheduler.total_steps");
    EXPECT_EQ(warmup("cosine", 60, ""),
              "training.scheduler.warmup_steps is 60, but the schedule cosine doesn't use it — drop it, or choose a "
              "schedule that does: constant_with_warmup, linear_with_warmup, cosine_with_warmup");
    EXPECT_EQ(verdict(R"({"training": {"scheduler": {"name": "linear_with_warmup", "warmup_steps": 9999},
                          "epochs": 1}, "dataset": {"file": "large.csv"}})"),
              "no error");
    RunPlan plan;
    EXPECT_EQ(warmup_text(plan), "");
    plan.training.scheduler.name = "linear_with_warmup";
    plan.training.scheduler.warmup_steps = 100;
    plan.training.max_steps = 300;
    EXPECT_EQ(warmup_text(plan), "linear_with_warmup: warm-up 100 of 300 steps");
}

TEST(Validate, ANameIsOneShortLine) {
    EXPECT_EQ(verdict(R"({"name": "../a b/\u00fc \u540d"})"), "no error");
    EXPECT_EQ(
        verdict(R"({"name": "a\nb"})"),
        "the name \"a\\nb\" holds a line break or another control character — use one line of at most 200 "
        "bytes");
    EXPECT_NE(verdict(R"({"name": "\u001b[31mred"})"), "no error");
    EXPECT_NE(verdict(R"({"name": "a\u0000b"})"), "no error");
    EXPECT_EQ(verdict("{\"name\": \"" + std::string(200, 'n') + "\"}"), "no error");
    EXPECT_NE(verdict("{\"name\": \"" + std::string(201, 'n') + "\"}").find("of 201 bytes is too long"),
              std::string::npos);
}

TEST(Validate, WhatIsNotBuiltIsRefusedNeverIgnored) {
    for (const char* text :
         {R"({"cpu_half": "fast"})",
          R"({"evaluation": {"metric": "perplexity"}})", R"({"evaluation": {"metric": "mae"}})"})
        EXPECT_EQ(code(text), ErrorCode::NotBuilt) << text;
    EXPECT_EQ(verdict(R"({"launch": {"scope": "join"}})"), "no error");
    // A layer list is no program: it may train in this process's own thread.
    EXPECT_EQ(verdict(R"({"model": {"file": "m.json"}, "launch": {"scope": "thread"}})"), "no error");
    EXPECT_NE(verdict(R"({"model": {"file": "m.pt"}, "launch": {"scope": "thread"}})").find("a process of its own"), std::string::npos);
    EXPECT_EQ(code(R"({"launch": {"scope": "ranks", "processes": 2}, "observe": {"local_error_every": 5}})"), ErrorCode::NotBuilt);
    EXPECT_EQ(code(R"({"launch": {"scope": "ranks", "processes": 2}, "repetitions": {"control": 2}})"), ErrorCode::NotBuilt);
    EXPECT_EQ(code(R"({"launch": {"scope": "ranks", "processes": 2}, "repetitions": {"rounding": 1}})"), ErrorCode::NotBuilt);
}

TEST(Validate, AModelFileSaysByItselfWhatItTakesAndHasAProcessOfItsOwn) {
    EXPECT_EQ(verdict(R"({"model": {"file": "m.pt"}})"), "no error");
    EXPECT_EQ(verdict(R"({"model": {"name": "cnn", "file": "m.pt"}, "dataset": {"name": "breast-cancer"}})"), "no error");
    EXPECT_EQ(verdict(R"({"model": {"file": "m.pt"}, "launch": {"scope": "thread"}})"),
              "launch.scope is thread, but model.file is a program of somebody else's, which gets a process of its own — use launch.scope process");
}

TEST(Validate, SeveralProcessesAndTheirScopeBelongTogether) {
    EXPECT_EQ(verdict(R"({"launch": {"scope": "ranks", "processes": 2}})"), "no error");
    EXPECT_EQ(verdict(R"({"launch": {"scope": "ranks"}})"),
              "launch.processes is 1, but launch.scope ranks trains in several processes — use 2 or more, or launch.scope process");
    EXPECT_EQ(verdict(R"({"launch": {"processes": 2}})"),
              "launch.processes is 2, but launch.scope is process, which trains in one process — use launch.scope ranks, or 1 process");
    EXPECT_EQ(verdict(R"({"launch": {"scope": "thread", "processes": 2}})"),
              "launch.processes is 2, but launch.scope is thread, which trains in one process — use launch.scope ranks, or 1 process");
}

TEST(Validate, BatchesOfRanksMustBeDivisibleAndLeaveOne) {
    EXPECT_EQ(verdict(R"({"launch": {"scope": "ranks", "processes": 4}, "training": {"split_batches": true, "batch_size": 32}})"), "no error");
    EXPECT_EQ(verdict(R"({"launch": {"scope": "ranks", "processes": 4}, "training": {"split_batches": true, "batch_size": 30}})"),
              "training.batch_size is 30, which can't be divided by 4 processes — use a multiple of 4, or training.split_batches false");
    // In one process there is nothing to divide; a launcher may start more of them later.
    EXPECT_EQ(verdict(R"({"training": {"split_batches": true, "batch_size": 31}})"), "no error");
    EXPECT_EQ(verdict(R"({"launch": {"scope": "ranks", "processes": 2}, "training": {"drop_last": true, "batch_size": 718}})"), "no error");
    EXPECT_EQ(verdict(R"({"launch": {"scope": "ranks", "processes": 2}, "training": {"drop_last": true, "batch_size": 719}})"),
              "training.drop_last is true, but all ranks' batches together are 1438 of only 1437 training samples: no batch would be left "
              "— use a smaller training.batch_size, or training.drop_last false");
}

TEST(Validate, ARankWaitsFromOneSecondToOneDay) {
    EXPECT_EQ(RunPlan{}.launch.group_timeout_seconds, 60);
    EXPECT_EQ(verdict(R"({"launch": {"group_timeout_seconds": 1}})"), "no error");
    EXPECT_EQ(verdict(R"({"launch": {"group_timeout_seconds": 86400}})"), "no error");
    EXPECT_EQ(describe(read_plan_json(R"({"launch": {"group_timeout_seconds": 0}})").error()),
              "launch.group_timeout_seconds is 0 — use a whole number from 1 to 86400");
    EXPECT_EQ(describe(read_plan_json(R"({"launch": {"group_timeout_seconds": 86401}})").error()),
              "launch.group_timeout_seconds is 86401 — use a whole number from 1 to 86400");
}

TEST(Validate, CheckpointsAreKeptAtLeastInPairs) {
    EXPECT_EQ(verdict(R"({"checkpoint": {"every": 50, "keep": 2, "at_end": false}})"), "no error");
    EXPECT_EQ(verdict(R"({"checkpoint": {"resume_from": "some-run"}})"), "no error");
    EXPECT_TRUE(CheckpointPlan{}.at_end);
    for (const auto& [text, path, bounds] : std::initializer_list<std::array<const char*, 3>>{
             {R"({"checkpoint": {"keep": 1}})", "checkpoint.keep", "2"},
             {R"({"checkpoint": {"every": -1}})", "checkpoint.every", "0"},
             {R"({"checkpoint": {"every": 2.5}})", "checkpoint.every", "whole number"},
             {R"({"checkpoint": {"at_end": 1}})", "checkpoint.at_end", "true or false"},
             {R"({"checkpoint": {"resume_from": 3}})", "checkpoint.resume_from", "text"},
             {R"({"checkpoint": {"evry": 3}})", "checkpoint.evry", "checkpoint.every"}}) {
        const auto read = read_plan_json(text);
        ASSERT_FALSE(read) << text;
        EXPECT_NE(read.error().message.find(path), std::string::npos) << read.error().message;
        EXPECT_NE((read.error().message + read.error().hint).find(bounds), std::string::npos)
            << read.error().message << " / " << read.error().hint;
    }
}

TEST(Validate, AllIssuesAreListedForTheWindow) {
    const auto read =
        read_plan_json(R"({"model": {"name": "linear", "hidden": 3}, "cpu_half": "fast"})");
    const auto issues = find_plan_issues(read->plan);
    ASSERT_EQ(issues.size(), 2u);
    EXPECT_EQ(issues[0].path, "model.hidden");
    EXPECT_EQ(issues[1].path, "cpu_half");
}

TEST(PlannedSteps, ShortBatchesAndWindowsCount) {
    TrainingPlan training;
    EXPECT_EQ(planned_steps(training, 1437), 45 * 4);
    training.epochs = 1;
    EXPECT_EQ(planned_steps(training, 1437), 45);
    training.gradient_accumulation_steps = 4;
    EXPECT_EQ(planned_steps(training, 1437), 12);  // 45 batches: 11 whole windows and one of a single batch
    EXPECT_EQ(planned_steps(training, 1), 1);
    training.drop_last = true;
    EXPECT_EQ(planned_steps(training, 1437), 11);  // 44 batches
    training.drop_last = false;
    RunPlan ranks;
    ranks.launch = {.scope = LaunchScope::Ranks, .processes = 4};
    EXPECT_EQ(of_all_ranks(ranks).batch_size, 128);
    ranks.training.split_batches = true;
    EXPECT_EQ(of_all_ranks(ranks).batch_size, 32);
    training.max_steps = 7;
    EXPECT_EQ(planned_steps(training, 1437), 7);
}

TEST(Catalogue, SplitsOfTheDesign) {
    EXPECT_EQ(planned_samples({}).training, 1437);
    EXPECT_EQ(planned_samples({}).validation, 360);
    EXPECT_EQ(catalogue::held_out_samples(10, 0.1), 1);
    EXPECT_EQ(catalogue::held_out_samples(30, 0.1), 3);
    EXPECT_EQ(catalogue::held_out_samples(64, 0), 0);
}

TEST(Catalogue, EveryFieldAndDatasetItNamesExists) {
    std::vector<std::string> paths;
    for (const auto& model : catalogue::models()) {
        paths.insert(paths.end(), model.fields.begin(), model.fields.end());
        for (const std::string& id : model.datasets) EXPECT_NE(catalogue::find_dataset(id), nullptr) << id;
        EXPECT_FALSE(model.modules.empty());
    }
    for (const auto* list : {&catalogue::optimizers(), &catalogue::schedulers()})
        for (const auto& entry : *list) paths.insert(paths.end(), entry.fields.begin(), entry.fields.end());
    for (const std::string& path : paths) EXPECT_NE(find_plan_field(path), nullptr) << path;
    for (const auto& data : catalogue::datasets()) {
        EXPECT_FALSE(data.licence.empty() || data.attribution.empty()) << data.id;
        EXPECT_GT(data.samples, 0);
    }
}

}  // namespace
}  // namespace mantissa
