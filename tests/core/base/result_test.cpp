#include "base/error_json.h"
#include "base/result.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/precision.h"
#include "base/sha256.h"

namespace mantissa {
namespace {

TEST(Result, CarriesValueOrError) {
    const Result<int> good = 7;
    ASSERT_TRUE(good.ok());
    EXPECT_EQ(good.value(), 7);
    const Result<int> bad = Error{ErrorCode::BadPlan, "training.batch_size is 0", "use a whole number from 1 up"};
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(describe(bad.error()), "training.batch_size is 0 — use a whole number from 1 up");
    EXPECT_DEATH((void)bad.value(), "broken invariant");
}

TEST(Result, ExitCodesAreThoseOfTheDesign) {
    EXPECT_EQ(exit_code(ErrorCode::BadPlan), 2);
    EXPECT_EQ(exit_code(ErrorCode::Usage), 2);
    EXPECT_EQ(exit_code(ErrorCode::NotBuilt), 2);
    EXPECT_EQ(exit_code(ErrorCode::UnsupportedPrecision), 3);
    EXPECT_EQ(exit_code(ErrorCode::UnsupportedDevice), 3);
    EXPECT_EQ(exit_code(ErrorCode::NonFinite), 4);
    EXPECT_EQ(exit_code(ErrorCode::WorkerLost), 5);
    EXPECT_EQ(exit_code(ErrorCode::InputOutput), 6);
    EXPECT_EQ(exit_code(ErrorCode::NoDisplay), 69);
    EXPECT_EQ(exit_code(ErrorCode::Interrupted), 130);
    EXPECT_EQ(exit_code(ErrorCode::Internal), 1);
}

TEST(Precision, AnyCaseAndYamlsNoAreAccepted) {
    for (const char* text : {"no", "NO", "'no'", "\"no\"", "false", "False"})
        EXPECT_EQ(parse_precision(text), Precision::No) << text;
    EXPECT_EQ(parse_precision("BF16"), Precision::Bf16);
    EXPECT_EQ(parse_precision("Fp8"), Precision::Fp8);
    for (const char* text : {"", "garbage", "fp32", "true", "'no", "bf16 ", "yes"})
        EXPECT_EQ(parse_precision(text), std::nullopt) << text;
}

TEST(Precision, LargestFiniteValues) {
    EXPECT_EQ(largest_finite(Precision::Fp16), 65504.0);
    EXPECT_EQ(largest_finite(Precision::Bf16), 3.3895313892515355e38);
    EXPECT_EQ(largest_finite(Precision::Fp8), largest_finite(Precision::Bf16));  // of what a layer gives
}

TEST(Sha256, KnownDigests) {
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ErrorJson, ComesBackAsItWasAndStrangersAreInternal) {
    const Error sent{ErrorCode::UnsupportedDevice, "no GPU \"0\"\nhere", "use --cpu"};
    const auto back = error_from_json(error_to_json(sent));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->code, sent.code);
    EXPECT_EQ(back->message, sent.message);
    EXPECT_EQ(back->hint, sent.hint);
    EXPECT_EQ(error_from_json({{"code", "of a later version"}, {"message", "m"}, {"hint", ""}})->code, ErrorCode::Internal);
    EXPECT_FALSE(error_from_json({{"code", 3}, {"message", "m"}, {"hint", ""}}));
    EXPECT_FALSE(error_from_json({{"folder", "/runs"}}));
    EXPECT_FALSE(error_from_json(nlohmann::json::parse("[", nullptr, false)));
}

}  // namespace
}  // namespace mantissa
