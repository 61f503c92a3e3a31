#include "plan/accelerate_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace mantissa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::vector<std::string>> notes(const std::map<std::string, std::string>& variables) {
    std::vector<std::string> names;
    for (const auto& [name, value] : variables) names.push_back(name);
    return notes_on_accelerate_variables(names, [&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

TEST(AccelerateVariables, TakenOnesAndSwitchesThatAreOffSayNothing) {
    const auto quiet = notes({{"ACCELERATE_MIXED_PRECISION", "bf16"},
                              {"ACCELERATE_USE_CPU", "true"},
                              {"ACCELERATE_LOG_LEVEL", "INFO"},
                              {"ACCELERATE_USE_FSDP", "false"},
                              {"ACCELERATE_USE_DEEPSPEED", ""},
                              {"ACCELERATE_DYNAMO_BACKEND", "no"},
                              {"ACCELERATE_DYNAMO_MODE", "default"},
                              {"ACCELERATE_DEBUG_MODE", "0"},
                              {"PATH", "/bin"}});
    ASSERT_TRUE(quiet.ok());
    EXPECT_TRUE(quiet->empty());
}

TEST(AccelerateVariables, WhatDoesNothingIsSaid) {
    const auto found = notes({{"ACCELERATE_DEBUG_MODE", "1"}, {"ACCELERATE_FP8_OPT_LEVEL", "O2"}, {"ACCELERATE_GRADIENT_CLIPPING", "1.0"}});
    ASSERT_TRUE(found.ok());
    EXPECT_THAT(*found, ElementsAre(HasSubstr("ACCELERATE_DEBUG_MODE has no effect"), HasSubstr("ACCELERATE_FP8_OPT_LEVEL has no effect"),
                                    HasSubstr("use training.clip_grad_norm")));
}

TEST(AccelerateVariables, AMisspeltNameIsToldWithTheNearest) {
    const auto found = notes({{"ACCELERATE_MIXED_PRECSION", "bf16"}, {"ACCELERATE_QQQQQQQQQQQQ", "1"}});
    ASSERT_TRUE(found.ok());
    EXPECT_THAT(*found, ElementsAre("ACCELERATE_MIXED_PRECSION is no variable of Accelerate and has no effect; did you mean "
                                    "ACCELERATE_MIXED_PRECISION?",
                                    "ACCELERATE_QQQQQQQQQQQQ is no variable of Accelerate and has no effect"));
}

TEST(AccelerateVariables, AnotherKindOfTrainingIsRefused) {
    for (const auto& [name, value] : std::map<std::string, std::string>{{"ACCELERATE_USE_FSDP", "true"},
                                                                         {"ACCELERATE_USE_DEEPSPEED", "1"},
                                                                         {"ACCELERATE_USE_MEGATRON_LM", "yes"},
                                                                         {"ACCELERATE_USE_PARALLELISM_CONFIG", "on"},
                                                                         {"ACCELERATE_DYNAMO_BACKEND", "INDUCTOR"}}) {
        const auto found = notes({{name, value}});
        ASSERT_FALSE(found.ok()) << name;
        EXPECT_EQ(found.error().code, ErrorCode::NotBuilt);
        EXPECT_THAT(found.error().message, HasSubstr(name + " is \"" + value + "\""));
    }
}

TEST(AccelerateVariables, NotesComeWithTheLayer) {
    const auto layer = environment_layer([](const std::string& name) -> std::optional<std::string> {
        return name == "ACCELERATE_CPU_AFFINITY" ? std::optional<std::string>("1") : std::nullopt;
    }, {"ACCELERATE_CPU_AFFINITY"});
    ASSERT_TRUE(layer.ok());
    EXPECT_TRUE(layer->values.empty());
    EXPECT_THAT(layer->notes, ElementsAre(HasSubstr("ACCELERATE_CPU_AFFINITY has no effect")));
}

}  // namespace
}  // namespace mantissa
