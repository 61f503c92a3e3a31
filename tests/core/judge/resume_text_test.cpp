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

TEST(ResumeTextTest, ARunSaysWhereItGoesOnFrom) {
    const auto texts = text_catalogue("en");
    ASSERT_TRUE(texts);
    RunSummary run;
    EXPECT_TRUE(resumed_run_texts(**texts, run, 65536.0)->empty());
    run.mode = Precision::Bf16;
    run.resumed = ResumedFrom{"/runs/a-fp16/checkpoints/checkpoint_120", "/runs/a-fp16", 120, 118, Precision::Fp16,
                              ResumedScale::Dropped, 1024.0};
    const auto lines = resumed_run_texts(**texts, run, 65536.0);
    ASSERT_TRUE(lines) << describe(lines.error());
    ASSERT_EQ(lines->size(), 2u);
    EXPECT_EQ(lines->at(0), "Goes on from step 120 of a-fp16.");
    EXPECT_EQ(lines->at(1),
              "Saved in fp16, goes on in bf16, which has no loss scale: the saved one (2^10) and its growth tracker are "
              "dropped.");
    run.resumed->checkpoint = "/copies/kept";  // out of its run: the folder above it says nothing
    run.resumed->run = "/";
    EXPECT_EQ(resumed_run_texts(**texts, run, 65536.0)->at(0), "Goes on from step 120 of /copies/kept.");
}

}  // namespace
}  // namespace mantissa
