#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "folder_maker.h"
#include "judge/judge.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;

std::vector<std::string> codes(const std::vector<Verdict>& verdicts) {
    std::vector<std::string> result;
    for (const Verdict& verdict : verdicts) result.push_back(verdict.code);
    return result;
}

ComparisonEvidence gated() {
    ComparisonEvidence evidence = healthy_comparison();
    for (RunEvidence& run : evidence.runs) {
        if (run.summary.mode != Precision::No) run.summary.support = Support::Emulated;
    }
    stop_at(evidence.runs[1], 144);
    evidence.runs[1].rows.incidents.push_back(overflow_incident(144));
    return evidence;
}

TEST(JudgeFolders, AComparisonIsJudgedFromItsFoldersAlone) {
    const TemporaryFolder runs;
    const auto folder = write_comparison_folder(runs.path(), gated());
    const auto judged = judge_comparison(folder, "en");
    ASSERT_TRUE(judged.ok()) << judged.error().message;
    EXPECT_TRUE(judged->fairness.known && judged->fairness.fair);
    EXPECT_THAT(codes(judged->verdicts), Contains("activation_overflow"));
    EXPECT_THAT(codes(judged->verdicts), Contains("same_within_noise"));
    ASSERT_TRUE(judged->decision.has_value());
    EXPECT_EQ(judged->decision->code, "decision_keep_no_emulated_some_failed");
    EXPECT_THAT(judge_comparison(folder, "zh")->decision->text, HasSubstr("继续使用 no"));
    // What was judged survives the file.
    ASSERT_TRUE(write_comparison(folder, *judged).ok());
    const auto again = read_comparison(folder);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->decision->text, judged->decision->text);
    EXPECT_EQ(again->verdicts.size(), judged->verdicts.size());
    EXPECT_EQ(*verdict_text(again->verdicts[0], texts()), judged->verdicts[0].text);
}

TEST(JudgeFolders, VerdictsOnBytesThatAreNoTextAreWritten) {
    const TemporaryFolder runs;
    const auto folder = write_run(runs.path(), gated().runs[1]);
    auto judged = judge_run(folder, "en");
    ASSERT_TRUE(judged.ok() && !judged->verdicts.empty());
    judged->verdicts[0].text = "gate\xff.mul";  // a name from a damaged recording
    ASSERT_TRUE(write_verdicts(folder, judged->verdicts).ok());
    EXPECT_EQ(read_verdicts(folder)->at(0).text, "gate\xEF\xBF\xBD.mul");
}

TEST(JudgeFolders, ASingleRunKeepsItsVerdicts) {
    const TemporaryFolder runs;
    const auto folder = write_run(runs.path(), gated().runs[1]);
    const auto judged = judge_run(folder, "en");
    ASSERT_TRUE(judged.ok()) << judged.error().message;
    EXPECT_THAT(codes(judged->verdicts), ::testing::ElementsAre("cause_open"));
    EXPECT_EQ(judged->summary.steps, 145);
    ASSERT_TRUE(write_verdicts(folder, judged->verdicts).ok());
    const auto again = read_verdicts(folder);
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(again->size(), 1u);
    EXPECT_EQ((*again)[0].text, judged->verdicts[0].text);
}

TEST(JudgeFolders, ARunOfAComparisonIsJudgedBesideItsControl) {
    const TemporaryFolder runs;
    const auto folder = write_comparison_folder(runs.path(), gated());
    const auto record = read_comparison(folder);
    ASSERT_TRUE(record.ok());
    EXPECT_THAT(codes(judge_run(record->run_dirs[1], "en")->verdicts),
                ::testing::ElementsAre("activation_overflow"));
    EXPECT_THAT(codes(judge_run(record->run_dirs[2], "en")->verdicts),
                ::testing::ElementsAre("same_within_noise", "memory_not_lower"));
    std::filesystem::remove_all(folder);  // the comparison is gone: so is the control
    EXPECT_THAT(codes(judge_run(record->run_dirs[1], "en")->verdicts), ::testing::ElementsAre("cause_open"));
}

TEST(JudgeFolders, PlanFactsComeFromTheSourcedPlan) {
    const TemporaryFolder runs;
    const auto evidence = load_run_evidence(write_run(runs.path(), gated().runs[1]));
    ASSERT_TRUE(evidence.ok());
    EXPECT_EQ(evidence->plan.learning_rate, 0.003);
    EXPECT_EQ(evidence->plan.on_nonfinite, "stop");
    EXPECT_EQ(evidence->rows.steps.size(), 145u);
    EXPECT_EQ(evidence->rows.incidents.size(), 1u);
    EXPECT_EQ(plan_facts("{\"on_nonfinite\": \"mark\"}").on_nonfinite, "mark");
    EXPECT_FALSE(plan_facts("not json").learning_rate);
    EXPECT_FALSE(plan_facts(R"({"training": [1]})").learning_rate);
}

TEST(JudgeFolders, AFolderThatIsNotThereIsAnError) {
    EXPECT_FALSE(judge_comparison("/nonexistent/comparison", "en").ok());
    const TemporaryFolder runs;
    ComparisonEvidence evidence = gated();
    const auto folder = write_comparison_folder(runs.path(), evidence);
    auto record = read_comparison(folder);
    ASSERT_TRUE(record.ok());
    record->run_dirs[2] = runs.path() / "deleted";
    ASSERT_TRUE(write_comparison(folder, *record).ok());
    const auto judged = judge_comparison(folder, "en");
    ASSERT_TRUE(judged.ok()) << judged.error().message;  // the others still speak
    EXPECT_THAT(codes(judged->verdicts), Contains("activation_overflow"));
}

}  // namespace
}  // namespace mantissa
