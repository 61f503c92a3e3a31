#include "engine/precision_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/accelerator.h"

namespace mantissa {
namespace {

using ::testing::HasSubstr;

template <typename Function>
std::string message_of(Function function) {
    try {
        function();
    } catch (const EngineError& error) {
        return describe(error.error());
    }
    return "accepted";
}

TEST(PrecisionChoice, argument_beats_environment_beats_default) {
    unsetenv("ACCELERATE_MIXED_PRECISION");
    EXPECT_EQ(choose_precision({}).precision, Precision::No);
    EXPECT_EQ(choose_precision({}).source, "default");
    setenv("ACCELERATE_MIXED_PRECISION", "BF16", 1);
    EXPECT_EQ(choose_precision({}).precision, Precision::Bf16);
    EXPECT_EQ(choose_precision({}).source, "ACCELERATE_MIXED_PRECISION");
    EXPECT_EQ(choose_precision(Precision::No).precision, Precision::No);
    EXPECT_EQ(choose_precision(Precision::No).source, "argument");
}

TEST(PrecisionChoice, garbage_is_refused_with_its_source) {
    setenv("ACCELERATE_MIXED_PRECISION", "garbage", 1);
    EXPECT_THAT(message_of([] { static_cast<void>(choose_precision({})); }),
                HasSubstr("ACCELERATE_MIXED_PRECISION in the environment is 'garbage'"));
}

TEST(PrecisionChoice, fp8_is_refused_without_emulation_and_not_replaced) {
    EXPECT_EQ(choose_precision(Precision::Fp8).precision, Precision::Fp8);
    EXPECT_THAT(message_of([] { refuse_without_fp8({Precision::Fp8, "argument"}, at::kCPU, false); }),
                HasSubstr("fp8 (from the argument) can't be used: cpu has no fp8 units"));
    EXPECT_EQ(message_of([] { refuse_without_fp8({Precision::Fp8, "argument"}, at::kCPU, true); }), "accepted");
    EXPECT_EQ(message_of([] { refuse_without_fp8({Precision::Bf16, "argument"}, at::kCPU, false); }), "accepted");
}

TEST(PrecisionChoice, the_argument_beats_the_environment_for_accumulation_too) {
    setenv("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "4", 1);
    EXPECT_EQ(choose_accumulation_steps(2), 2);
    EXPECT_EQ(choose_accumulation_steps({}), 4);
    setenv("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "none", 1);
    EXPECT_THAT(message_of([] { static_cast<void>(choose_accumulation_steps({})); }), HasSubstr("'none'"));
    EXPECT_THAT(message_of([] { static_cast<void>(choose_accumulation_steps(0)); }),
                HasSubstr("gradient_accumulation_steps is '0'"));
}

TEST(PrecisionChoice, a_process_has_one_precision) {
    const Accelerator first({.mixed_precision = Precision::Bf16});
    const Accelerator same({.mixed_precision = Precision::Bf16});
    EXPECT_EQ(same.mixed_precision(), Precision::Bf16);
    EXPECT_THAT(message_of([] { Accelerator other({.mixed_precision = Precision::No}); }),
                ::testing::AllOf(HasSubstr("trains in bf16"), HasSubstr("an Accelerator in no")));
}

TEST(PrecisionChoice, a_device_that_is_not_there_is_refused) {
    EXPECT_THAT(message_of([] { Accelerator one({.device = "toaster"}); }), HasSubstr("device is 'toaster'"));
    if (!torch::cuda::is_available()) {
        EXPECT_THAT(message_of([] { Accelerator one({.device = "cuda:3"}); }), HasSubstr("'cuda:3' is not there"));
    }
    setenv("ACCELERATE_USE_CPU", "perhaps", 1);
    EXPECT_THAT(message_of([] { Accelerator one; }), HasSubstr("ACCELERATE_USE_CPU in the environment is 'perhaps'"));
}

}  // namespace
}  // namespace mantissa
