// What is said of a run changes exactly at the limits: every row of the table in both languages.
#include "verdict_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace mantissa {
namespace {

using namespace test;

const std::vector<VerdictLimit>& all_limits() {
    static const LimitTable table = [] {
        LimitTable made;
        add_limits_of_mode_and_scale(made);
        add_limits_of_nonfinite(made);
        add_limits_of_tensors(made);
        add_limits_of_metric_and_cost(made);
        add_limits_of_replays(made);
        return made;
    }();
    return table.rows();
}

std::string key_of(const Finding& finding, const char* part, const TextCatalogue& texts) {
    const auto value = [&](const char* name) {
        const auto found = finding.values.find(name);
        return found == finding.values.end() ? std::string() : found->second;
    };
    const std::string file = value("told_by").empty() ? "verdicts" : value("told_by");
    const std::string key = file + "." + finding.code + "." + part;
    return texts.has(key) ? key : key + "." + value(part);
}

TEST(VerdictLimits, EachIsSilentOnOneSideAndToldOnTheOther) {
    for (const VerdictLimit& row : all_limits()) {
        EXPECT_TRUE(row.silent.empty()) << row.code << ", " << row.limit << ": just not enough";
        EXPECT_FALSE(row.told.empty()) << row.code << ", " << row.limit << ": just enough";
    }
}

TEST(VerdictLimits, WhatIsToldHasItsSentencesInBothLanguages) {
    for (const VerdictLimit& row : all_limits()) {
        for (const char* language : {"en", "zh"}) {
            const auto verdicts = fill_findings(row.told, texts(language));
            ASSERT_EQ(verdicts.size(), row.told.size()) << row.code << ", " << row.limit << ", " << language;
            for (const Verdict& verdict : verdicts) EXPECT_THAT(verdict.text, ::testing::Not(::testing::ContainsRegex("[{}]"))) << row.code;
        }
    }
}

// A verdict without its numbers isn't shown: each value of its sentences is taken away in turn.
TEST(VerdictLimits, NothingIsToldWithoutOneOfItsNumbers) {
    for (const VerdictLimit& row : all_limits()) {
        for (const Finding& told : row.told) {
            for (const char* language : {"en", "zh"}) {
                for (const char* part : {"what", "next"}) {
                    for (const std::string& name : texts(language).placeholders(key_of(told, part, texts(language)))) {
                        Finding without = told;
                        ASSERT_EQ(without.values.erase(name), 1u) << row.code << " " << name;
                        EXPECT_TRUE(fill_findings({without}, texts(language)).empty()) << row.code << " without " << name;
                    }
                }
            }
        }
    }
}

// A code can be shown when it has a text: those of the catalogue are all there are.
std::set<std::string> codes_with_texts() {
    std::set<std::string> codes;
    for (const std::string& key : texts().keys()) {
        const auto file_end = key.find('.'), code_end = key.find('.', file_end + 1);
        if (code_end == std::string::npos || key.compare(code_end, 5, ".what") != 0) continue;
        const std::string file = key.substr(0, file_end), code = key.substr(file_end + 1, code_end - file_end - 1);
        if (file == "verdicts") codes.insert(code);
        if (file == "replay") codes.insert("replay " + code);
    }
    return codes;
}

TEST(VerdictLimits, every_code_has_a_pair) {
    std::set<std::string> seen;
    for (const VerdictLimit& row : all_limits()) seen.insert(row.code);
    EXPECT_EQ(seen, codes_with_texts());
}

TEST(VerdictLimits, TheCodesAreThoseOfTheDesign) {
    const std::set<std::string> design{
        "scale_probing", "persistent_overflow", "scale_collapse", "survived_by_skipping", "gradient_underflow", "headroom_low",
        "activation_overflow", "loss_in_half", "bad_input", "log_of_zero", "zero_over_zero", "inf_minus_inf", "root_at_zero", "masked_row",
        "adam_eps", "learning_rate", "batchnorm_poisoned", "not_precision", "weights_poisoned", "steps_not_applied", "mode_not_effective",
        "memory_not_lower", "slower", "differs", "same_within_noise", "cause_open", "unknown"};
    std::set<std::string> of_runs;
    for (const std::string& code : codes_with_texts()) {
        if (code.starts_with("replay ")) EXPECT_TRUE(design.contains(code.substr(7))) << code;
        else of_runs.insert(code);
    }
    EXPECT_EQ(of_runs, design);
}

}  // namespace
}  // namespace mantissa
