// model.weights: a run starts from safetensors, matched by name, with a list of what doesn't fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/work_folder.h"
#include "run/environment.h"
#include "run/run_parts.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Weights : public testing::Test {
  protected:
    static RunPlan plan_of(std::int64_t hidden, std::int64_t seed) {
        RunPlan plan;
        plan.model.hidden = hidden;
        plan.training.seed = seed;
        return plan;
    }
    static Result<std::unique_ptr<RunParts>> built(const RunPlan& plan) { return build_run(plan, *choose_run_device(plan)); }
    /// The folder that a program of Accelerate leaves, of a model with these plan's weights.
    std::filesystem::path saved(const RunPlan& plan) const {
        const auto parts = built(plan);
        const auto folder = m_folder.path() / ("of_" + std::to_string(plan.model.hidden));
        (void)save_weights(weights_of((*parts)->bare_model()), folder);
        return folder;
    }
    WorkFolder m_folder = WorkFolder::make("weights").value();
};

TEST_F(Weights, OfAFolderOrAFileAreTheStart) {
    const RunPlan first = plan_of(16, 1);
    const auto folder = saved(first);
    for (const auto& place : {folder, folder / "model.safetensors"}) {
        RunPlan plan = plan_of(16, 2);
        EXPECT_NE((*built(plan))->hashes.initial_state, (*built(first))->hashes.initial_state);
        plan.model.weights = place.string();
        const auto parts = built(plan);
        ASSERT_TRUE(parts.ok()) << describe(parts.error());
        EXPECT_EQ((*parts)->hashes.initial_state, (*built(first))->hashes.initial_state) << "to the bit";
        const auto environment = environment_of(plan, **parts);
        EXPECT_THAT(environment.at("weights").at("missing"), IsEmpty());
    }
}

TEST_F(Weights, ThatDoNotFitAreNamedOrTakenInPart) {
    RunPlan plan = plan_of(16, 2);
    plan.model.weights = saved(plan_of(24, 1)).string();
    const auto refused = built(plan);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::BadPlan);
    EXPECT_THAT(refused.error().message, HasSubstr("hidden.weight: Float [24, 64] in the file, Float [16, 64] in the model"));
    EXPECT_EQ(refused.error().hint, "use model.partial_weights true to take what fits");
    plan.model.partial_weights = true;
    const auto parts = built(plan);
    ASSERT_TRUE(parts.ok()) << describe(parts.error());
    EXPECT_EQ((*parts)->weights->mis_shaped.size(), 3u);  // all but head.bias
    EXPECT_THAT((*parts)->weights->missing, IsEmpty());
    const auto start = built(plan_of(16, 2)), other = built(plan_of(24, 1));
    EXPECT_TRUE((*parts)->bare_model().named_parameters()["head.bias"].equal((*other)->bare_model().named_parameters()["head.bias"]));
    EXPECT_TRUE((*parts)->bare_model().named_parameters()["hidden.weight"].equal((*start)->bare_model().named_parameters()["hidden.weight"]));
}

TEST_F(Weights, OfAnotherModelAreRefusedInPartToo) {
    const auto cnn = [] {
        RunPlan plan;
        plan.model.name = "cnn";
        return plan;
    }();
    RunPlan plan = plan_of(16, 2);
    plan.model.weights = saved(cnn).string();
    EXPECT_THAT(built(plan).error().message, HasSubstr("doesn't fit the model"));
    plan.model.weights = (m_folder.path() / "gone").string();
    EXPECT_EQ(built(plan).error().code, ErrorCode::InputOutput);
    std::filesystem::create_directory(m_folder.path() / "pickled");
    plan.model.weights = (m_folder.path() / "pickled").string();
    EXPECT_THAT(built(plan).error().message, HasSubstr("holds neither model.safetensors nor"));
}

TEST_F(Weights, ARunThatGoesOnHasThoseOfItsCheckpoint) {
    RunPlan plan = plan_of(16, 2);
    plan.model.weights = (m_folder.path() / "gone").string();
    plan.checkpoint.resume_from = "somewhere";
    EXPECT_TRUE(built(plan).ok()) << "what is taken up later is not looked for";
}

}  // namespace
}  // namespace mantissa
