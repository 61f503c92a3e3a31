// Values of accelerate 1.15: calculate_maximum_sizes and estimate_training_usage on the same models.
#include "plan/memory_estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/catalogue.h"

namespace mantissa {
namespace {

ModelSize size_of(const char* model) {
    return model_size(module_sizes({model, "", 128}, 64, 10));
}

TEST(MemoryEstimate, TrainingIsTheLargestPart) {
    const auto parts = [](StoredType type) {
        const TrainingParts p = accelerate_training(1000, type);
        return std::vector<std::int64_t>{p.model, p.gradients, p.optimizer, p.step, p.largest()};
    };
    EXPECT_EQ(parts(StoredType::Float32), (std::vector<std::int64_t>{1000, 1000, 2000, 4000, 4000}));
    for (const StoredType half : {StoredType::Float16, StoredType::BFloat16})
        EXPECT_EQ(parts(half), (std::vector<std::int64_t>{1000, 1500, 2000, 2000, 2000}));
    EXPECT_FALSE(has_training(StoredType::Int8));
    EXPECT_FALSE(has_training(StoredType::Int4));
    EXPECT_EQ(accelerate_training(1001, StoredType::Float16).gradients, 1501);  // bytes // 2
}

TEST(MemoryEstimate, StoredSizesAreShares) {
    EXPECT_EQ(stored_bytes(1004, StoredType::Float32), 1004);
    EXPECT_EQ(stored_bytes(1004, StoredType::Float16), 502);
    EXPECT_EQ(stored_bytes(1004, StoredType::BFloat16), 502);
    EXPECT_EQ(stored_bytes(1004, StoredType::Int8), 251);
    EXPECT_EQ(stored_bytes(1004, StoredType::Int4), 125.5);
    EXPECT_STREQ(to_string(StoredType::BFloat16), "bfloat16");
}

TEST(MemoryEstimate, ModelsAreAsLargeAsPythonSays) {
    const ModelSize cnn = size_of("cnn");
    EXPECT_EQ(cnn.parameters, 1930);
    EXPECT_EQ(cnn.bytes, 7856);  // 136 of them running statistics
    EXPECT_EQ(cnn.largest_layer_bytes, 4672);
    EXPECT_THAT(cnn.largest_layers, testing::ElementsAre("conv2"));
    const ModelSize mlp = size_of("mlp");
    EXPECT_EQ(mlp.bytes, 38440);
    EXPECT_EQ(mlp.largest_layer_bytes, 33280);
    const ModelSize gated = size_of("gated");
    EXPECT_EQ(gated.bytes, 218408);
    EXPECT_EQ(gated.largest_layer_bytes, 66560);
    EXPECT_THAT(gated.largest_layers, testing::ElementsAre("gate.value", "gate.opening"));
    for (const auto& model : catalogue::models()) EXPECT_GT(size_of(model.id.c_str()).bytes, 0) << model.id;
}

TEST(MemoryEstimate, WhatStaysDependsOnTheOptimizerNotOnTheMode) {
    const ModelSize cnn = size_of("cnn");
    OptimizerPlan optimizer;
    EXPECT_EQ(resident_bytes(cnn, optimizer).total(), 7856 + 7720 + 2 * 7720);
    optimizer.amsgrad = true;
    EXPECT_EQ(resident_bytes(cnn, optimizer).optimizer, 3 * 7720);
    optimizer.name = "sgd";
    EXPECT_EQ(resident_bytes(cnn, optimizer).optimizer, 0);
    optimizer.momentum = 0.9;
    EXPECT_EQ(resident_bytes(cnn, optimizer).optimizer, 7720);
}

}  // namespace
}  // namespace mantissa
