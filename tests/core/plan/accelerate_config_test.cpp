#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "plan/plan_sources.h"
#include "plan_testing.h"

namespace mantissa {
namespace {

RunPlan plan_of(const std::string& text, const std::string& file = "c.yaml") {
    const auto layer = accelerate_config_text(text, file);
    EXPECT_EQ(sentence(layer), "no error") << text;
    if (!layer) return {};
    const auto merged = merge_plan({*layer}, PlanUse::Train);
    EXPECT_EQ(sentence(merged), "no error") << text;
    return merged ? merged->plan : RunPlan{};
}

std::string refusal(const std::string& text, const std::string& file = "c.yaml") {
    return sentence(accelerate_config_text(text, file));
}

TEST(AccelerateConfig, ReadsWhatItsWizardWrites) {
    const char* text =
        "compute_environment: LOCAL_MACHINE\ndebug: false\ndistributed_type: 'NO'\ndowncast_bf16: 'no'\n"
        "enable_cpu_affinity: false\nmachine_rank: 0\nmain_training_function: main\nmixed_precision: "
        "bf16\nnum_machines: 1\n"
        "num_processes: 1\nrdzv_backend: static\nsame_network: true\ntpu_env: []\ntpu_use_cluster: "
        "false\ntpu_use_sudo: false\n"
        "use_cpu: true\ngpu_ids: all\ndynamo_config: {}\n";
    const auto layer = accelerate_config_text(text, "c.yaml");
    ASSERT_EQ(sentence(layer), "no error");
    EXPECT_TRUE(layer->notes.empty());
    const RunPlan plan = plan_of(text);
    EXPECT_EQ(plan.mixed_precision, Precision::Bf16);
    EXPECT_EQ(plan.device, "cpu");
    EXPECT_EQ(plan.launch.processes, 1);
}

TEST(AccelerateConfig, EverySpellingOfNo) {
    for (const char* text : {"mixed_precision: no\n", "mixed_precision: 'no'\n", "mixed_precision: NO\n",
                             "mixed_precision: false\n"})
        EXPECT_EQ(plan_of(text).mixed_precision, Precision::No) << text;
    EXPECT_EQ(plan_of("mixed_precision: FP16\n").mixed_precision, Precision::Fp16);
    EXPECT_EQ(plan_of("{\"mixed_precision\": false, \"use_cpu\": true}", "c.json").device, "cpu");
}

TEST(AccelerateConfig, LegacyFp16) {
    EXPECT_EQ(plan_of("fp16: true\n").mixed_precision, Precision::Fp16);
    EXPECT_EQ(plan_of("fp16: false\n").mixed_precision, Precision::No);
    EXPECT_EQ(plan_of("fp16: true\nmixed_precision: bf16\n").mixed_precision, Precision::Bf16);
}

TEST(AccelerateConfig, BadValuesNameFileAndKey) {
    EXPECT_EQ(refusal("mixed_precision: half\n"),
              "c.yaml: mixed_precision: mixed_precision is \"half\" — use one of: no, fp16, bf16, fp8");
    EXPECT_EQ(refusal("mixed_precision: [fp16]\n"),
              "c.yaml: mixed_precision is not a single value — use a single value");
    EXPECT_EQ(refusal("use_cpu: perhaps\n"), "c.yaml: use_cpu is \"perhaps\" — use true or false");
    EXPECT_EQ(
        refusal("num_processes: none\n"),
        "c.yaml: num_processes: launch.processes is \"none\", a text — use a whole number from 1 to 4096");
    EXPECT_EQ(refusal("mixed_precison: fp16\nzzz: 1\n"),
              "c.yaml: unknown keys mixed_precison, zzz — did you mean mixed_precision?");
    EXPECT_EQ(refusal("distributed_type: SOMETHING\n"),
              "c.yaml: distributed_type is \"SOMETHING\" — use one of: NO, MULTI_CPU, MULTI_GPU");
    EXPECT_EQ(refusal("use_cpu: true\nuse_cpu: false\n"),
              "c.yaml: line 2: the key use_cpu appears twice — write the file plainly, as `accelerate "
              "config` does");
}

TEST(AccelerateConfig, WhatCannotBeHonouredIsRefusedOrNoted) {
    const auto refused = accelerate_config_text("deepspeed_config:\n  zero_stage: 3\n", "c.yaml");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::NotBuilt);
    EXPECT_EQ(sentence(refused),
              "c.yaml: deepspeed_config asks for what is not built yet — name another file with "
              "--config_file, or take the key out");
    EXPECT_EQ(refusal("distributed_type: FSDP\n"),
              "c.yaml: distributed_type is FSDP: not built yet — use NO");
    EXPECT_EQ(refusal("num_machines: 2\n").substr(0, 51),
              "c.yaml: num_machines asks for what is not built yet");
    const auto noted = accelerate_config_text("main_process_port: 29500\n", "c.yaml");
    ASSERT_EQ(sentence(noted), "no error");
    EXPECT_EQ(noted->notes, std::vector<std::string>{
                                "c.yaml: main_process_port has no effect on one process of this machine"});
}

TEST(AccelerateConfig, HostileTextIsASentenceNotACrash) {
    EXPECT_EQ(refusal("a: " + std::string(100'000, '[')).substr(0, 44),
              "c.yaml: line 1: nested deeper than 64 levels");
    std::string blocks = "a:\n";
    for (int i = 1; i < 500; ++i)
        blocks += std::string(static_cast<std::size_t>(i), ' ') + "- \n" +
                  std::string(static_cast<std::size_t>(i), ' ');
    EXPECT_FALSE(accelerate_config_text(blocks, "c.yaml").ok());
    EXPECT_EQ(refusal("mixed_precision: &a fp16\n").substr(0, 41),
              "c.yaml: line 1: an anchor is not allowed ");
    EXPECT_EQ(refusal("use_cpu: &a true\ndebug: *a\n").substr(0, 41),
              "c.yaml: line 1: an anchor is not allowed ");
    EXPECT_EQ(refusal("mixed_precision: !!python/name fp16\n").substr(0, 23), "c.yaml: line 1: the tag");
    EXPECT_EQ(refusal("- fp16\n").substr(0, 60),
              "c.yaml: line 1: the file is not a mapping of keys to values ");
    EXPECT_EQ(refusal("fp16\n").substr(0, 60),
              "c.yaml: line 1: the file is not a mapping of keys to values ");
    EXPECT_EQ(refusal("mixed_precision: [fp16\nuse_cpu: true\n").substr(0, 16), "c.yaml: line 2: ");
    EXPECT_EQ(refusal(std::string((1u << 20) + 1, ' ')),
              "c.yaml: is larger than 1 MiB (1048577 bytes) — this is no file of `accelerate config`");
    EXPECT_EQ(refusal("{\"mixed_precision\": ", "c.json"),
              "c.json: the text ends too early, at line 1, byte 20 — the file is not complete: copy or write "
              "it again");
    EXPECT_EQ(refusal(""), "no error");  // an empty file says nothing
}

TEST(AccelerateConfig, FileIsFoundWhereAccelerateLooks) {
    EXPECT_EQ(accelerate_config_folder(fake_environment({{"HF_HOME", "/hf"}, {"XDG_CACHE_HOME", "/x"}})),
              "/hf/accelerate");
    EXPECT_EQ(accelerate_config_folder(fake_environment({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}})),
              "/x/huggingface/accelerate");
    EXPECT_EQ(accelerate_config_folder(fake_environment({{"HOME", "/h"}})),
              "/h/.cache/huggingface/accelerate");
    const auto home = std::filesystem::path(testing::TempDir()) / "mantissa_hf_home";
    std::filesystem::create_directories(home / "accelerate");
    const auto found = fake_environment({{"HF_HOME", home.string()}});
    EXPECT_TRUE(accelerate_config_layer(std::nullopt, found)->values.empty());
    std::ofstream(home / "accelerate" / "default_config.yaml") << "mixed_precision: bf16\n";
    const auto layer = accelerate_config_layer(std::nullopt, found);
    ASSERT_EQ(sentence(layer), "no error");
    ASSERT_EQ(layer->values.size(), 1u);
    EXPECT_EQ(layer->values[0].value_json, "\"bf16\"");
    const auto missing = accelerate_config_layer(home / "none.yaml", found);
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::InputOutput);
    std::filesystem::remove_all(home);
}

}  // namespace
}  // namespace mantissa
