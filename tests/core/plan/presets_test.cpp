#include "plan/presets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "plan/validate.h"
#include "plan_testing.h"

namespace mantissa {
namespace {

const std::filesystem::path folder = std::filesystem::path(MANTISSA_RESOURCES_DIR) / "presets";

RunPlan resolved(const char* id, PlanUse use) {
    const auto preset = load_preset(id, folder);
    EXPECT_EQ(sentence(preset), "no error");
    const auto layer = preset_layer(*preset);
    EXPECT_EQ(sentence(layer), "no error");
    const auto plan = resolve_plan({*layer}, use, compare_defaults(*preset));
    EXPECT_EQ(sentence(plan), "no error");
    return plan->plan;
}

TEST(Presets, AllAreThereInOrderAndRun) {
    const auto presets = list_presets(folder);
    ASSERT_EQ(sentence(presets), "no error");
    std::vector<std::string> ids;
    for (const Preset& preset : *presets) {
        ids.push_back(preset.id);
        EXPECT_FALSE(preset.title.empty() || preset.summary.empty());
        EXPECT_EQ(resolved(preset.id.c_str(), PlanUse::Train).name, preset.id);
        EXPECT_EQ(resolved(preset.id.c_str(), PlanUse::Compare).modes.size(), 3u);
    }
    EXPECT_EQ(ids, (std::vector<std::string>{"digits-cnn", "digits-mlp", "article-1", "article-2",
                                             "cancer-overflow", "gated-overflow", "digits-bright"}));
}

TEST(Presets, SayWhatTheDesignSays) {
    const RunPlan mlp = resolved("digits-mlp", PlanUse::Train);
    EXPECT_EQ(mlp.model, (ModelPlan{"mlp", "", 128}));
    EXPECT_EQ(mlp.training.optimizer.name, "adamw");
    EXPECT_EQ(mlp.training.optimizer.learning_rate, 1e-3);
    EXPECT_EQ(mlp.training.batch_size, 32);
    EXPECT_EQ(mlp.training.scheduler.name, "constant");
    EXPECT_EQ(mlp.training.seed, 3u);
    EXPECT_EQ(mlp.training.epochs, 4);
    RunPlan cnn = resolved("digits-cnn", PlanUse::Train);
    EXPECT_EQ(cnn.model.name, "cnn");
    cnn.model = mlp.model;
    cnn.name = mlp.name;
    EXPECT_TRUE(cnn == mlp);

    const RunPlan first = resolved("article-1", PlanUse::Train);
    EXPECT_EQ(first.model, (ModelPlan{"mlp", "", 16}));
    EXPECT_EQ(first.dataset.validation, 0);
    EXPECT_EQ(first.training.scheduler.name, "linear");
    EXPECT_EQ(first.training.scheduler.total_iters, 10);
    EXPECT_EQ(planned_steps(first.training, planned_samples(first.dataset).training),
              24);  // as many as the trace has
    EXPECT_EQ(first.training.seed, 1u);

    const RunPlan second = resolved("article-2", PlanUse::Train);
    EXPECT_EQ(second.model.name, "linear");
    EXPECT_EQ(second.training.optimizer.name, "sgd");
    EXPECT_EQ(second.training.optimizer.learning_rate, 0.01);
    EXPECT_EQ(second.training.seed, 17u);
    EXPECT_EQ(second.on_nonfinite, OnNonfinite::Stop);
    EXPECT_EQ(planned_steps(second.training, planned_samples(second.dataset).training), 16);

    const RunPlan cancer = resolved("cancer-overflow", PlanUse::Train);
    EXPECT_EQ(cancer.model, (ModelPlan{"squares", "", 16}));
    EXPECT_EQ(cancer.dataset.name, "breast-cancer");
    EXPECT_EQ(cancer.training.max_steps, 400);
    EXPECT_EQ(cancer.training.batch_size, 64);
    EXPECT_EQ(cancer.on_nonfinite, OnNonfinite::Mark);

    const RunPlan gated = resolved("gated-overflow", PlanUse::Train);
    EXPECT_EQ(gated.model.name, "gated");
    EXPECT_EQ(gated.training.optimizer.learning_rate, 3e-3);
    EXPECT_EQ(gated.training.max_steps, 300);
    EXPECT_EQ(gated.training.seed, 7u);
}

TEST(Presets, LengthOfTheirComparisons) {
    for (const char* id : {"digits-mlp", "digits-cnn", "cancer-overflow", "gated-overflow"})
        EXPECT_EQ(resolved(id, PlanUse::Compare).training.max_steps, 300) << id;
    EXPECT_EQ(resolved("article-1", PlanUse::Compare).training.epochs, 3);
    EXPECT_EQ(resolved("article-2", PlanUse::Compare).training.epochs, 4);
}

TEST(Presets, AnUnknownNameGetsTheNearestAndTheList) {
    EXPECT_EQ(sentence(load_preset("digits-cn", folder)),
              "\"digits-cn\" is neither a plan file nor a preset — did you mean digits-cnn, digits-mlp? "
              "Presets: digits-cnn, "
              "digits-mlp, article-1, article-2, cancer-overflow, gated-overflow, digits-bright");
    EXPECT_EQ(load_preset("../digits-cnn", folder).error().code, ErrorCode::BadPlan);
    EXPECT_EQ(load_preset("x", "/nowhere").error().code, ErrorCode::InputOutput);
}

}  // namespace
}  // namespace mantissa
