#include "plan/plan_sources.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan_testing.h"

namespace mantissa {
namespace {

PlanLayer flags(std::initializer_list<std::pair<const char*, const char*>> values) {
    PlanLayer layer{ValueSource::Flag, {}, {}};
    for (const auto& [path, text] : values)
        EXPECT_EQ(sentence(layer.set_text(path, text, "--" + std::string(path))), "no error");
    return layer;
}

PlanLayer file(const std::string& text) {
    auto layer = plan_text_layer(text, ValueSource::Plan, "p.json");
    EXPECT_EQ(sentence(layer), "no error");
    return *layer;
}

PlanLayer preset(const std::string& text) {
    auto layer = plan_text_layer(text, ValueSource::Preset, "preset p");
    EXPECT_EQ(sentence(layer), "no error");
    return *layer;
}

PlanLayer environment(std::map<std::string, std::string> variables) {
    auto layer = environment_layer(fake_environment(std::move(variables)));
    EXPECT_EQ(sentence(layer), "no error");
    return *layer;
}

PlanLayer config(const std::string& text) {
    auto layer = accelerate_config_text(text, "c.yaml");
    EXPECT_EQ(sentence(layer), "no error");
    return *layer;
}

TEST(PlanSources, TheStrongestSourceWinsWhateverTheOrderOfTheLayers) {
    std::vector<PlanLayer> layers{
        flags({{"mixed_precision", "fp16"}}), file(R"({"mixed_precision": "bf16"})"),
        environment({{"ACCELERATE_MIXED_PRECISION", "NO"}}), config("mixed_precision: fp8\n")};
    const Precision expected[] = {Precision::Fp16, Precision::Bf16, Precision::No, Precision::Fp8};
    const ValueSource sources[] = {ValueSource::Flag, ValueSource::Plan, ValueSource::Environment,
                                   ValueSource::Config};
    // Every subset of the four sources, in every order.
    for (unsigned subset = 1; subset < 16; ++subset) {
        std::vector<int> order;
        for (int i = 0; i < 4; ++i)
            if (subset & (1u << i)) order.push_back(i);
        const int strongest = order.front();
        do {
            std::vector<PlanLayer> chosen;
            for (const int i : order) chosen.push_back(layers[static_cast<std::size_t>(i)]);
            const auto merged = merge_plan(chosen, PlanUse::Train);
            ASSERT_EQ(sentence(merged), "no error");
            EXPECT_EQ(merged->plan.mixed_precision, expected[strongest]);
            const ValueOrigin& origin = merged->origins.at("mixed_precision");
            EXPECT_EQ(origin.source, sources[strongest]);
            ASSERT_EQ(origin.overruled.size(), order.size() - 1);
            for (std::size_t i = 1; i < origin.overruled.size(); ++i)
                EXPECT_GT(origin.overruled[i - 1].source, origin.overruled[i].source);
        } while (std::next_permutation(order.begin(), order.end()));
    }
}

TEST(PlanSources, WhatWasOverruledIsASentence) {
    const auto merged =
        merge_plan({flags({{"mixed_precision", "bf16"}}),
                    environment({{"ACCELERATE_MIXED_PRECISION", "FP16"}}), config("mixed_precision: no\n")},
                   PlanUse::Train);
    ASSERT_EQ(sentence(merged), "no error");
    EXPECT_EQ(
        merged->overruled_lines(),
        (std::vector<std::string>{
            "mixed_precision bf16 (flag --mixed_precision) overrules fp16 (environment "
            "ACCELERATE_MIXED_PRECISION)",
            "mixed_precision bf16 (flag --mixed_precision) overrules no (config c.yaml: mixed_precision)"}));
}

TEST(PlanSources, EnvironmentIsReadInAnyCaseAndRefusedByName) {
    EXPECT_EQ(merge_plan({environment({{"ACCELERATE_MIXED_PRECISION", "BF16"}})}, PlanUse::Train)
                  ->plan.mixed_precision,
              Precision::Bf16);
    const auto refused = [](const char* name, const char* value) {
        return sentence(environment_layer(fake_environment({{name, value}})));
    };
    EXPECT_EQ(refused("ACCELERATE_MIXED_PRECISION", "garbage"),
              "ACCELERATE_MIXED_PRECISION: mixed_precision is \"garbage\" — use one of: no, fp16, bf16, fp8");
    EXPECT_EQ(refused("ACCELERATE_USE_CPU", "perhaps"),
              "ACCELERATE_USE_CPU: \"perhaps\" is neither true nor false — use one of: y, yes, t, true, on, "
              "1, n, no, f, false, off, 0");
    EXPECT_EQ(refused("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "2.5"),
              "ACCELERATE_GRADIENT_ACCUMULATION_STEPS: training.gradient_accumulation_steps is 2.5 — use a "
              "whole number from 1 to 1000000");
    EXPECT_EQ(refused("ACCELERATE_TORCH_DEVICE", "gpu"),
              "ACCELERATE_TORCH_DEVICE: device is \"gpu\" — use auto, cpu, cuda or cuda:N");
    EXPECT_TRUE(
        environment({{"ACCELERATE_MIXED_PRECISION", ""}, {"ACCELERATE_USE_CPU", "0"}}).values.empty());
}

TEST(PlanSources, NamedDeviceBeatsUseCpuAndShowsIt) {
    const auto merged =
        merge_plan({environment({{"ACCELERATE_USE_CPU", "yes"}, {"ACCELERATE_TORCH_DEVICE", "cuda:1"}})},
                   PlanUse::Train);
    ASSERT_EQ(sentence(merged), "no error");
    EXPECT_EQ(merged->plan.device, "cuda:1");
    ASSERT_EQ(merged->origins.at("device").overruled.size(), 1u);
    EXPECT_EQ(merged->origins.at("device").overruled[0].detail, "ACCELERATE_USE_CPU");
}

TEST(PlanSources, ABadValueIsAnErrorEvenWhenOverruled) {
    PlanLayer bad{ValueSource::Config, {{"training.batch_size", "0", "c.yaml: x"}}, {}};
    EXPECT_EQ(sentence(merge_plan({flags({{"training.batch_size", "8"}}), bad}, PlanUse::Train)),
              "c.yaml: x: training.batch_size is 0 — use a whole number from 1 to 1000000");
}

TEST(PlanSources, ModesReplaceMixedPrecisionInAComparison) {
    const auto merged = resolve_plan(
        {flags({{"modes", "bf16,FP16"}}), file(R"({"mixed_precision": "fp16", "modes": ["no"]})"),
         environment({{"ACCELERATE_MIXED_PRECISION", "no"}})},
        PlanUse::Compare);
    ASSERT_EQ(sentence(merged), "no error");
    EXPECT_EQ(merged->plan.modes, (std::vector<Precision>{Precision::No, Precision::Bf16, Precision::Fp16}));
    EXPECT_EQ(merged->plan.mixed_precision, Precision::No);
    EXPECT_FALSE(merged->origins.contains("mixed_precision"));
    const ValueOrigin& origin = merged->origins.at("modes");
    EXPECT_EQ(origin.value, "no,bf16,fp16");
    ASSERT_EQ(origin.overruled.size(), 3u);
    EXPECT_EQ(origin.overruled[0].value, "no");
    EXPECT_EQ(origin.overruled[1].value, "mixed_precision fp16");
    EXPECT_EQ(origin.overruled[2].value, "mixed_precision no");
    EXPECT_EQ(merged->notes,
              std::vector<std::string>{
                  "the mode no was added: it is the control that the others are compared with"});
}

TEST(PlanSources, ABadModeInTheEnvironmentStopsAComparisonToo) {
    EXPECT_FALSE(environment_layer(fake_environment({{"ACCELERATE_MIXED_PRECISION", "half"}})).ok());
    const auto merged = resolve_plan({}, PlanUse::Compare);
    ASSERT_EQ(sentence(merged), "no error");
    EXPECT_EQ(merged->plan.modes, (std::vector<Precision>{Precision::No, Precision::Fp16, Precision::Bf16}));
}

TEST(PlanSources, AListOnTheCommandLineMayBeWrittenAsInAPlanFile) {
    for (const char* text : {R"(["hidden","head"])", R"([ "hidden", "head" ])", "hidden,head"}) {
        const auto merged = resolve_plan({flags({{"fp32_islands", text}})}, PlanUse::Train);
        ASSERT_EQ(sentence(merged), "no error") << text;
        EXPECT_EQ(merged->plan.fp32_islands, (std::vector<std::string>{"hidden", "head"})) << text;
    }
    const auto modes = resolve_plan({flags({{"modes", R"(["no","BF16"])"}})}, PlanUse::Compare);
    EXPECT_EQ(modes->plan.modes, (std::vector<Precision>{Precision::No, Precision::Bf16}));
}

TEST(PlanSources, LengthOfAComparison) {
    const auto steps_of = [](std::vector<PlanLayer> layers, CompareDefaults defaults = {}) {
        const auto merged = resolve_plan(layers, PlanUse::Compare, defaults);
        EXPECT_EQ(sentence(merged), "no error");
        return merged->plan.training;
    };
    EXPECT_EQ(steps_of({}).max_steps, 300);  // nobody said anything
    EXPECT_EQ(steps_of({file(R"({"training": {"max_steps": 400}})")}).max_steps,
              400);  // steps of a plan file of one's own stand
    EXPECT_EQ(steps_of({preset(R"({"training": {"max_steps": 400}})")}).max_steps,
              300);  // a preset's own length is for train
    EXPECT_EQ(steps_of({file(R"({"training": {"max_steps": 40}})")}).max_steps, 40);  // shorter stays
    EXPECT_EQ(steps_of({file(R"({"training": {"epochs": 1}})")}).epochs, 1);          // 45 steps
    EXPECT_EQ(steps_of({file(R"({"training": {"epochs": 40}})")}).max_steps, 300);
    EXPECT_EQ(steps_of({file(R"({"training": {"epochs": 1}, "dataset": {"file": "d.csv"}})")}).max_steps,
              300);  // of unknown length
    EXPECT_EQ(steps_of({file(R"({"training": {"epochs": 4}})")}, {.steps = 300, .is_fixed = true}).max_steps,
              300);
    EXPECT_EQ(steps_of({flags({{"training.max_steps", "1000"}})}).max_steps, 1000);  // told otherwise
    const auto told =
        steps_of({flags({{"training.epochs", "40"}}), file(R"({"training": {"max_steps": 10}})")});
    EXPECT_EQ(told.epochs, 40);
    EXPECT_EQ(told.max_steps, std::nullopt);
}

TEST(PlanSources, StepsAndEpochsAreOneDecision) {
    const auto merged = resolve_plan(
        {flags({{"training.max_steps", "50"}}), file(R"({"training": {"epochs": 4}})")}, PlanUse::Train);
    ASSERT_EQ(sentence(merged), "no error");
    EXPECT_EQ(merged->plan.training.max_steps, 50);
    EXPECT_EQ(merged->plan.training.epochs, std::nullopt);
    EXPECT_EQ(merged->overruled_lines(),
              std::vector<std::string>{
                  "training.max_steps 50 (flag --training.max_steps) overrules 4 epochs (plan p.json)"});
    EXPECT_EQ(
        sentence(resolve_plan({file(R"({"training": {"epochs": 4, "max_steps": 9}})")}, PlanUse::Train)),
        "p.json: training.max_steps is 9 and training.epochs is 4 — set one of the two");
}

TEST(PlanSources, SetAssignments) {
    PlanLayer layer{ValueSource::Flag, {}, {}};
    EXPECT_EQ(sentence(layer.set_assignment("model=cnn")), "no error");
    EXPECT_EQ(sentence(layer.set_assignment("training.optimizer.learning_rate=3e-3")), "no error");
    EXPECT_EQ(sentence(layer.set_assignment("training.clip_grad_norm=null")), "no error");
    EXPECT_EQ(sentence(layer.set_assignment("fp32_islands=gate,head")), "no error");
    EXPECT_EQ(sentence(layer.set_assignment("allow_emulated=true")), "no error");
    EXPECT_EQ(sentence(layer.set_assignment("name=a=b")), "no error");
    const auto merged = merge_plan({layer}, PlanUse::Train);
    ASSERT_EQ(sentence(merged), "no error");
    EXPECT_EQ(merged->plan.model.name, "cnn");
    EXPECT_EQ(merged->plan.training.optimizer.learning_rate, 3e-3);
    EXPECT_EQ(merged->plan.training.clip_grad_norm, std::nullopt);
    EXPECT_EQ(merged->plan.fp32_islands, (std::vector<std::string>{"gate", "head"}));
    EXPECT_TRUE(merged->plan.allow_emulated);
    EXPECT_EQ(merged->plan.name, "a=b");
    EXPECT_EQ(sentence(layer.set_assignment("model.name=mlp")),
              "--set: model.name is given twice — give it once");
    EXPECT_EQ(sentence(layer.set_text("dataset.file", "\xff.csv", "--dataset")),
              "--dataset: dataset.file is \"\xEF\xBF\xBD.csv\", not UTF-8 — write it in UTF-8");
    EXPECT_EQ(sentence(layer.set_assignment("training.seed")),
              "--set: \"training.seed\" is not key=value — for example --set training.batch_size=64");
    EXPECT_EQ(sentence(layer.set_assignment("seed=3")),
              "--set: unknown field \"seed\" — did you mean training.seed?");
    EXPECT_EQ(sentence(layer.set_assignment("training.batch_size=big")),
              "--set: training.batch_size is \"big\", a text — use a whole number from 1 to 1000000");
    EXPECT_EQ(sentence(layer.set_assignment("modes=no,fp12")),
              "--set: modes[1] is \"fp12\" — use one of: no, fp16, bf16, fp8");
}

TEST(PlanSources, CompatIsSwitchedAndItsContradictionNamed) {
    const auto merged = resolve_plan({flags({{"compat", "accelerate"}})}, PlanUse::Train);
    ASSERT_EQ(sentence(merged), "no error");
    EXPECT_EQ(merged->plan.on_nonfinite, OnNonfinite::Mark);
    EXPECT_EQ(merged->origins.at("on_nonfinite").detail, "compat = accelerate");
    EXPECT_FALSE(merged->plan.launch.sync_batch_norm);
    EXPECT_EQ(sentence(resolve_plan({flags({{"compat", "accelerate"}, {"launch.sync_batch_norm", "true"}})}, PlanUse::Train)),
              "--compat: launch.sync_batch_norm is true, but compat = accelerate needs false — drop one of the two");
    EXPECT_EQ(
        sentence(
            resolve_plan({flags({{"compat", "accelerate"}}), file(R"({"batch_norm_on_skip": "restore"})")},
                         PlanUse::Train)),
        "--compat: batch_norm_on_skip is restore, but compat = accelerate needs keep — drop one of the two");
}

TEST(PlanSources, ARefusalNamesTheSourceOfTheValue) {
    const PlanLayer in_process = flags({{"launch.scope", "process"}});
    const auto refused = resolve_plan({config("num_processes: 2\n"), in_process}, PlanUse::Train);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::BadPlan);
    EXPECT_EQ(sentence(refused),
              "c.yaml: num_processes: launch.processes is 2, but launch.scope is process, which trains in one process — use "
              "launch.scope ranks, or 1 process");
    EXPECT_TRUE(
        resolve_plan({config("num_processes: 2\n"), in_process, flags({{"launch.processes", "1"}})}, PlanUse::Train)
            .ok());
}

TEST(PlanSources, MoreThanOneProcessIsALaunchOfRanks) {
    const auto merged = resolve_plan({config("num_processes: 2\n")}, PlanUse::Train);
    ASSERT_TRUE(merged.ok());
    EXPECT_EQ(merged->plan.launch.scope, LaunchScope::Ranks);
    EXPECT_EQ(merged->origins.at("launch.scope").detail, merged->origins.at("launch.processes").detail);
    const auto alone = resolve_plan({config("num_processes: 1\n")}, PlanUse::Train);
    ASSERT_TRUE(alone.ok());
    EXPECT_EQ(alone->plan.launch.scope, LaunchScope::Process);
}

}  // namespace
}  // namespace mantissa
