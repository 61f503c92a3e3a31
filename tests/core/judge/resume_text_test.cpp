#include "judge/resume_text.h"

#include <gtest/gtest.h>

namespace mantissa {
namespace {

std::string text(const std::string& language, Precision saved, Precision now, std::optional<double> scale) {
    const auto texts = text_catalogue(language);
    EXPECT_TRUE(texts);
    const auto filled = resumed_scale_text(**texts, saved, now, scale, 65536.0);
    return filled ? *filled : describe(filled.error());
}

TEST(ResumeTextTest, SaysForEveryPairOfModesWhatBecomesOfTheScale) {
    EXPECT_EQ(text("en", Precision::Fp16, Precision::Fp16, 8192.0),
              "Saved in fp16, goes on in fp16: the loss scale is taken up at 2^13, with its growth tracker.");
    EXPECT_EQ(text("en", Precision::Bf16, Precision::Fp16, {}),
              "Saved in bf16, goes on in fp16: there is no loss scale to take up, so it starts anew at 2^16.");
    EXPECT_EQ(text("en", Precision::Fp16, Precision::No, 8192.0),
              "Saved in fp16, goes on in no, which has no loss scale: the saved one (2^13) and its growth tracker "
              "are dropped.");
    EXPECT_EQ(text("en", Precision::No, Precision::Bf16, {}),
              "Saved in no, goes on in bf16: neither has a loss scale.");
}

TEST(ResumeTextTest, TheOtherLanguageNamesTheSameValues) {
    for (const Precision saved : {Precision::No, Precision::Fp16, Precision::Bf16})
        for (const Precision now : {Precision::No, Precision::Fp16, Precision::Bf16}) {
            const bool has_scale = saved == Precision::Fp16;
            const std::string words = text("zh", saved, now, has_scale ? std::optional(512.0) : std::nullopt);
            EXPECT_NE(words.find(to_string(saved)), std::string::npos) << words;
            EXPECT_NE(words.find(to_string(now)), std::string::npos) << words;
            EXPECT_EQ(words.find("2^9") != std::string::npos, has_scale) << words;
        }
}

}  // namespace
}  // namespace mantissa
