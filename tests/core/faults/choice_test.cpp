// Which precision, and may it be: rows 26 and 35.
#include <cstdlib>

#include "devices/probe.h"
#include "devices/support.h"
#include "fault_testing.h"
#include "plan/plan_sources.h"

namespace mantissa {
namespace {

DeviceFacts gpu(int major, int minor) {
    DeviceFacts facts;
    facts.kind = DeviceFacts::Kind::Cuda;
    facts.id = "cuda:0";
    facts.name = "Tesla T4";
    facts.capability_major = major;
    facts.capability_minor = minor;
    return facts;
}

TEST(Faults, row_26_bf16_on_a_t4_is_emulated_and_not_taken_unasked) {
    const SupportAnswer answer = decide_support(gpu(7, 5), Precision::Bf16, false);
    EXPECT_EQ(answer.support, Support::Emulated);
    EXPECT_STREQ(to_string(answer.support), "emulated");
    EXPECT_FALSE(answer.allowed);
    EXPECT_THAT(answer.reason, HasSubstr("compute capability 7.5: bf16 is native from 8.0, below it is emulated and slow"));
    EXPECT_TRUE(decide_support(gpu(7, 5), Precision::Bf16, true).allowed);
    EXPECT_EQ(decide_support(gpu(7, 5), Precision::Bf16, true).support, Support::Emulated);
    EXPECT_EQ(decide_support(gpu(8, 0), Precision::Bf16, false).support, Support::Native);
    EXPECT_EQ(decide_support(gpu(7, 0), Precision::Fp16, false).support, Support::Native);
    EXPECT_EQ(decide_support(gpu(6, 1), Precision::Fp16, false).support, Support::Emulated);
    EXPECT_FALSE(decide_support(gpu(8, 6), Precision::Fp8, true).allowed);
}

TEST(Faults, row_26_a_run_is_refused_with_the_choices_and_goes_on_request) {
    DeviceList machine;
    machine.devices = {DeviceFacts{}, gpu(7, 5)};
    machine.cuda_is_loaded = true;
    const auto refused = choose_device(machine, "cuda", Precision::Bf16, false);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::UnsupportedPrecision);
    EXPECT_THAT(refused.error().hint, HasSubstr("choose one of no, fp16, or allow emulation"));
    const auto allowed = choose_device(machine, "auto", Precision::Bf16, true);
    ASSERT_TRUE(allowed.ok());
    EXPECT_EQ(allowed->device.id, "cuda:0");
    EXPECT_EQ(allowed->precision.effective, Precision::Bf16);
    EXPECT_EQ(allowed->precision.support, Support::Emulated);
}

// --- Row 35: the file says bf16, the environment fp16, the flag nothing or no.
std::vector<PlanLayer> file_and_environment() {
    const EnvironmentLookup lookup = [](const std::string& name) -> std::optional<std::string> {
        return name == "ACCELERATE_MIXED_PRECISION" ? std::optional<std::string>("fp16") : std::nullopt;
    };
    const std::string text = "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nmixed_precision: bf16\n";
    return {*accelerate_config_text(text, "c.yaml"), *environment_layer(lookup)};
}

TEST(Faults, row_35_without_a_flag_the_environment_beats_the_file_and_both_are_shown) {
    const auto plan = resolve_plan(file_and_environment(), PlanUse::Train);
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->plan.mixed_precision, Precision::Fp16);
    EXPECT_EQ(plan->origins.at("mixed_precision").source, ValueSource::Environment);
    EXPECT_THAT(plan->overruled_lines(),
                testing::Contains("mixed_precision fp16 (environment ACCELERATE_MIXED_PRECISION) overrules bf16 "
                                  "(config c.yaml: mixed_precision)"));
}

// "no" is a choice like any other: it isn't taken for "nothing was said".
TEST(Faults, row_35_a_flag_no_beats_both_and_they_are_shown) {
    auto layers = file_and_environment();
    PlanLayer flags{ValueSource::Flag, {}, {}};
    ASSERT_TRUE(flags.set_text("mixed_precision", "no", "--mixed_precision").ok());
    layers.push_back(flags);
    const auto plan = resolve_plan(layers, PlanUse::Train);
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->plan.mixed_precision, Precision::No);
    EXPECT_EQ(plan->origins.at("mixed_precision").source, ValueSource::Flag);
    EXPECT_EQ(plan->overruled_lines().size(), 2U);
}

TEST(Faults, row_35_the_file_alone_is_taken) {
    const auto plan = resolve_plan({file_and_environment().front()}, PlanUse::Train);
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->plan.mixed_precision, Precision::Bf16);
    EXPECT_EQ(plan->origins.at("mixed_precision").source, ValueSource::Config);
}

// The library reads no file: argument, environment, no.
TEST(Faults, row_35_the_library_takes_the_argument_then_the_environment) {
    setenv("ACCELERATE_MIXED_PRECISION", "FP16", 1);
    {
        Accelerator accelerator({.device = "cpu"});
        EXPECT_EQ(accelerator.mixed_precision(), Precision::Fp16);
        EXPECT_EQ(accelerator.mixed_precision_source(), "ACCELERATE_MIXED_PRECISION");
    }
    setenv("ACCELERATE_MIXED_PRECISION", "garbage", 1);
    EXPECT_THAT(message_of([] { Accelerator accelerator({.device = "cpu"}); }),
                HasSubstr("ACCELERATE_MIXED_PRECISION in the environment is 'garbage'"));
    unsetenv("ACCELERATE_MIXED_PRECISION");
}

TEST(Faults, row_35_the_library_takes_an_argument_no_over_the_environment) {
    setenv("ACCELERATE_MIXED_PRECISION", "fp16", 1);
    Accelerator accelerator({.mixed_precision = Precision::No, .device = "cpu"});
    EXPECT_EQ(accelerator.mixed_precision(), Precision::No);
    EXPECT_EQ(accelerator.mixed_precision_source(), "argument");
    unsetenv("ACCELERATE_MIXED_PRECISION");
}

}  // namespace
}  // namespace mantissa
