#include "plan/accelerate_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/plan_sources.h"
#include "plan_testing.h"

namespace mantissa {
namespace {

std::string updated(const std::string& text, const std::string& file = "c.yaml") {
    const auto update = update_accelerate_config(text, file);
    return update ? update->text : sentence(update);
}

const std::string added =
    "compute_environment: LOCAL_MACHINE\nnum_processes: 1\nuse_cpu: false\ndebug: "
    "false\nenable_cpu_affinity: false\n";

TEST(AccelerateUpdate, ADefaultFileIsReadAndNeedsNoUpdate) {
    for (const char* file : {"c.yaml", "c.json"})
        for (const Precision mode : {Precision::No, Precision::Fp16, Precision::Bf16}) {
            const std::string text = default_accelerate_config(mode, file);
            const auto layer = accelerate_config_text(text, file);
            ASSERT_EQ(sentence(layer), "no error") << text;
            EXPECT_EQ(merge_plan({*layer}, PlanUse::Train)->plan.mixed_precision, mode);
            const auto update = update_accelerate_config(text, file);
            ASSERT_EQ(sentence(update), "no error");
            EXPECT_EQ(update->text, text);
            EXPECT_TRUE(update->changes.empty());
        }
    EXPECT_EQ(default_accelerate_config(Precision::No, "c.yaml"),
              "compute_environment: LOCAL_MACHINE\ndebug: false\ndistributed_type: 'NO'\n"
              "enable_cpu_affinity: false\nmixed_precision: 'no'\nnum_processes: 1\nuse_cpu: false\n");
}

TEST(AccelerateUpdate, ABareNoIsQuotedAndAllElseStays) {
    EXPECT_EQ(updated("# mine\nmixed_precision: no   # why\nmain_process_port: 0x10\n\n"
                      "deepspeed_config:\n  zero_stage: 2  # deep\ntpu_env:\n- A=1\ndistributed_type: NO\n"),
              "# mine\nmixed_precision: 'no'   # why\nmain_process_port: 0x10\n\n"
              "deepspeed_config:\n  zero_stage: 2  # deep\ntpu_env:\n- A=1\ndistributed_type: 'NO'\n" +
                  added);
    EXPECT_EQ(updated("distributed_type: 'NO'\nmixed_precision: FALSE\n"),
              "distributed_type: 'NO'\nmixed_precision: 'no'\n" + added);
    EXPECT_EQ(updated("distributed_type: \"NO\"\nmixed_precision: \"bf16\"\nuse_cpu: true"),
              "distributed_type: \"NO\"\nmixed_precision: \"bf16\"\nuse_cpu: true\n"
              "compute_environment: LOCAL_MACHINE\nnum_processes: 1\ndebug: false\n"
              "enable_cpu_affinity: false\n");
    EXPECT_EQ(updated("mixed_precision: FP16\r\ndistributed_type: MULTI_GPU\r\nuse_cpu: false\r\ndebug: "
                      "false\r\nenable_cpu_affinity: true\r\n"),
              "mixed_precision: fp16\r\ndistributed_type: MULTI_GPU\r\nuse_cpu: false\r\ndebug: "
              "false\r\nenable_cpu_affinity: true\r\ncompute_environment: LOCAL_MACHINE\r\n");
}

TEST(AccelerateUpdate, OldKeysGetTheirNewNames) {
    const std::string end = "distributed_type: 'NO'\n" + added;
    EXPECT_EQ(updated("fp16: true # old\nmachine_rank: 0\n"),
              "mixed_precision: fp16 # old\nmachine_rank: 0\n" + end);
    EXPECT_EQ(updated("fp16: false\n"), "mixed_precision: 'no'\n" + end);
    EXPECT_EQ(updated("fp16: true\nmixed_precision: bf16\n"), "mixed_precision: bf16\n" + end);
    EXPECT_EQ(updated("fp16: true\nmixed_precision:\n"), "mixed_precision: fp16\n" + end);
    EXPECT_EQ(updated("dynamo_backend: 'NO'\nmixed_precision: bf16\n"), "mixed_precision: bf16\n" + end);
    EXPECT_EQ(updated("mixed_precision: bf16\ndynamo_backend: inductor\nmachine_rank: 0\n"),
              "mixed_precision: bf16\ndynamo_config:\n  dynamo_backend: INDUCTOR\nmachine_rank: 0\n" + end);
    EXPECT_EQ(
        updated("{\"fp16\": true, \"gpu_ids\": \"all\", \"distributed_type\": \"NO\"}", "c.json"),
        "{\n  \"mixed_precision\": \"fp16\",\n  \"gpu_ids\": \"all\",\n  \"distributed_type\": \"NO\",\n"
        "  \"compute_environment\": \"LOCAL_MACHINE\",\n  \"num_processes\": 1,\n  \"use_cpu\": false,\n"
        "  \"debug\": false,\n  \"enable_cpu_affinity\": false\n}\n");
}

TEST(AccelerateUpdate, ChangesAreSaid) {
    const auto update = update_accelerate_config("mixed_precision: no\nfp16: true\n", "c.yaml");
    ASSERT_TRUE(update);
    EXPECT_THAT(
        update->changes,
        testing::ElementsAre("fp16 removed: mixed_precision says it", "mixed_precision: no → 'no'",
                             "distributed_type: 'NO' added", "compute_environment: LOCAL_MACHINE added",
                             "num_processes: 1 added", "use_cpu: false added", "debug: false added",
                             "enable_cpu_affinity: false added"));
}

TEST(AccelerateUpdate, WhatCantBeEditedSafelyIsRefused) {
    EXPECT_THAT(updated("mixed_percision: bf16\n"), testing::HasSubstr("unknown key mixed_percision"));
    EXPECT_THAT(updated("mixed_precision: half\n"), testing::HasSubstr("mixed_precision is \"half\""));
    for (const char* form :
         {"{mixed_precision: no, distributed_type: NO}\n", "mixed_precision:\n  fp16\n",
          "mixed_precision: bf16\n...\n", "  mixed_precision: bf16\n", "? mixed_precision\n: no\n"})
        EXPECT_THAT(updated(form), testing::HasSubstr("can't be updated line by line")) << form;
    EXPECT_FALSE(update_accelerate_config("", "c.yaml").ok() &&
                 update_accelerate_config("", "c.yaml")->text.empty());
}

}  // namespace
}  // namespace mantissa
