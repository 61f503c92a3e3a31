#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "evidence_maker.h"

namespace mantissa {
namespace {

using namespace test;

TEST(RuleTable, FollowsTheOrderOfTheArticle) {
    EXPECT_TRUE(std::is_sorted(verdict_rules().begin(), verdict_rules().end(),
                               [](const VerdictRule& a, const VerdictRule& b) { return a.stage < b.stage; }));
}

TEST(RuleTable, VerdictsComeInThatOrder) {
    ComparisonEvidence evidence = healthy_comparison();
    evidence.runs[2].rows.op_dtypes[0].dtype = "float32";                               // effective mode
    for (std::int64_t i = 50; i < 60; ++i) skip(evidence.runs[1], i, SkipKind::Fault);  // skips
    evidence.runs[1].rows.incidents.push_back(overflow_incident(50));                   // non-finite
    evidence.runs[2].summary.metric = 0.5;                                              // metric
    evidence.runs[2].summary.step_ms_median = 50;                                       // time
    evidence.runs[1].summary.memory_peak_bytes = 11'000'000;
    evidence.runs[2].summary.memory_peak_bytes = 13'000'000;  // memory
    EXPECT_THAT(codes_of(evidence),
                ::testing::ElementsAre("mode_not_effective", "persistent_overflow", "activation_overflow",
                                       "differs", "slower", "memory_not_lower"));
}

TEST(RuleTable, HealthyRunsGiveNothingAboveANote) {
    ComparisonEvidence evidence = healthy_comparison();
    for (RunEvidence& run : evidence.runs)
        run.summary.support = run.summary.mode == Precision::No ? Support::Native : Support::Emulated;
    for (const Verdict& verdict : verdicts_of(evidence)) {
        EXPECT_THAT(verdict.severity, ::testing::AnyOf("ok", "note")) << verdict.text;
    }
    for (const RunEvidence& run : evidence.runs) {
        ComparisonEvidence alone;
        alone.modes = {run.summary.mode};
        alone.runs = {run};
        EXPECT_TRUE(codes_of(alone).empty());
    }
}

TEST(RuleTable, NoRunsNoVerdicts) {
    EXPECT_TRUE(codes_of({}).empty());
}

TEST(Findings, AVerdictWithoutItsNumbersIsNotShown) {
    Finding finding("slower", "note", "bf16");
    finding.number("time", 5.0).count("steps", 300).set("device", "cpu").set("ratio", "1.2").next("plain");
    EXPECT_TRUE(fill_findings({finding}, texts()).empty());
    finding.number("control", 4.0);
    ASSERT_EQ(fill_findings({finding}, texts()).size(), 1u);
    finding.number("control", {});
    EXPECT_EQ(fill_findings({finding}, texts()).size(), 1u);
}

TEST(Findings, EveryFindingOfTheRulesCanBeFilledInBothLanguages) {
    // Each spoilt case of this file and the others, at once: nothing that a rule gave may get lost for want
    // of a number.
    std::vector<ComparisonEvidence> cases(4, healthy_comparison());
    stop_at(cases[0].runs[1], 144);
    cases[0].runs[1].rows.incidents.push_back(overflow_incident(144));
    stop_at(cases[1].runs[0], 5);
    skip(cases[1].runs[1], 5, SkipKind::Probing);
    for (std::int64_t i = 50; i < 90; ++i) skip(cases[2].runs[1], i, SkipKind::Fault);
    cases[2].runs[1].rows.steps[89].loss_scale = 1e-6;
    stop_at(cases[3].runs[1], 20);
    cases[3].runs.erase(cases[3].runs.begin());
    for (const ComparisonEvidence& evidence : cases) {
        const Case all(evidence);
        const auto findings = apply_rules(all);
        EXPECT_FALSE(findings.empty());
        EXPECT_EQ(fill_findings(findings, texts("en")).size(), findings.size());
        EXPECT_EQ(fill_findings(findings, texts("zh")).size(), findings.size());
    }
}

TEST(Findings, AReaderCanFillTheTextAgainInAnotherLanguage) {
    ComparisonEvidence evidence = healthy_comparison();
    skip(evidence.runs[1], 0, SkipKind::Probing);
    const Verdict verdict = verdicts_of(evidence)[0];
    EXPECT_THAT(*verdict_text(verdict, texts("zh")), ::testing::HasSubstr("损失缩放已稳定"));
    EXPECT_EQ(*verdict_text(verdict, texts("en")), verdict.text);
}

}  // namespace
}  // namespace mantissa
