#include "judge/texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "evidence_maker.h"

namespace mantissa {
namespace {

using test::texts;

/// A folder with one language "en" and one file.
class Texts : public ::testing::Test {
  protected:
    void SetUp() override {
        m_folder = std::filesystem::path(::testing::TempDir()) / ("texts-" + std::to_string(::getpid()));
        std::filesystem::create_directories(m_folder / "en");
    }
    void TearDown() override { std::filesystem::remove_all(m_folder); }
    Result<TextCatalogue> load(const std::string& content) {
        std::ofstream(m_folder / "en" / "some.json") << content;
        return TextCatalogue::load(m_folder, "en");
    }
    std::filesystem::path m_folder;
};

TEST_F(Texts, PlaceholdersAreFilledAndCountsChooseTheirForm) {
    const auto catalogue = load(R"({"a": {"b": "{n} {n:skip|skips} of {mode}"}})");
    ASSERT_TRUE(catalogue.ok());
    EXPECT_EQ(*catalogue->fill("some.a.b", {{"n", "1"}, {"mode", "fp16"}}), "1 skip of fp16");
    EXPECT_EQ(*catalogue->fill("some.a.b", {{"n", "15"}, {"mode", "fp16"}}), "15 skips of fp16");
    EXPECT_EQ(*catalogue->fill("some.a.b", {{"n", "0"}, {"mode", "fp16"}}), "0 skips of fp16");
}

TEST_F(Texts, AMissingKeyAndAMissingValueAreErrorsThatNameThem) {
    const auto catalogue = load(R"({"a": "loss {loss}", "broken": "loss {loss"})");
    ASSERT_TRUE(catalogue.ok());
    EXPECT_THAT(catalogue->fill("some.other").error().message, ::testing::HasSubstr("some.other"));
    EXPECT_THAT(catalogue->fill("some.a", {}).error().message, ::testing::HasSubstr("{loss}"));
    EXPECT_FALSE(catalogue->fill("some.broken", {{"loss", "1"}}).ok());
}

TEST_F(Texts, ValuesAreNotTemplates) {
    const auto catalogue = load(R"({"a": "{name}"})");
    EXPECT_EQ(*catalogue->fill("some.a", {{"name", "{loss}"}}), "{loss}");
}

TEST_F(Texts, BadFilesAreErrors) {
    EXPECT_FALSE(load("[1]").ok());
    EXPECT_FALSE(load("{\"a\": 1}").ok());
    EXPECT_FALSE(TextCatalogue::load(m_folder, "zz").ok());
}

TEST(TextLanguage, ArgumentBeatsLocaleAndUnknownIsEnglish) {
    setenv("LC_ALL", "zh_CN.UTF-8", 1);
    EXPECT_EQ(text_language(""), "zh");
    EXPECT_EQ(text_language("en"), "en");
    EXPECT_EQ(text_language("zh-Hans"), "zh");
    EXPECT_EQ(text_language("fr"), "en");
    setenv("LC_ALL", "C", 1);
    EXPECT_EQ(text_language(""), "en");
}

TEST(BundledTexts, BothLanguagesHaveTheSameKeysAndShowTheSameValues) {
    ASSERT_EQ(texts("en").keys(), texts("zh").keys());
    for (const std::string& key : texts("en").keys()) {
        EXPECT_EQ(texts("en").placeholders(key), texts("zh").placeholders(key)) << key;
    }
}

TEST(BundledTexts, EveryCodeThatRulesCanGiveHasBothSentences) {
    std::vector<std::string> codes(incident_codes().begin(), incident_codes().end());
    for (const VerdictRule& rule : verdict_rules()) {
        if (rule.code != "incident") codes.emplace_back(rule.code);
    }
    const auto keys = texts().keys();
    for (const std::string& code : codes) {
        for (const char* part : {"what", "next"}) {
            const std::string start = "verdicts." + code + "." + part;
            EXPECT_TRUE(std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
                return key.starts_with(start);
            })) << start;
        }
    }
}

TEST(BundledTexts, NothingIsClaimedWithMayOrMight) {
    for (const std::string& key : texts().keys()) {
        if (!key.starts_with("verdicts.")) continue;
        TextValues values;
        for (const std::string& name : texts().placeholders(key)) values[name] = "1";
        for (const char* name : {"kinds", "count", "start", "later", "calls", "steps", "attempts", "applied",
                                 "bits", "after", "skipped", "control_steps"})
            values[name] = "2";
        const auto text = texts().fill(key, values);
        ASSERT_TRUE(text.ok()) << key << ": " << text.error().message;
        EXPECT_THAT(*text, ::testing::Not(::testing::AnyOf(::testing::HasSubstr(" may "),
                                                           ::testing::HasSubstr(" might "))))
            << key;
    }
}

}  // namespace
}  // namespace mantissa
