#include "judge/fairness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evidence_maker.h"

namespace mantissa {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Fairness fairness_of(const ComparisonEvidence& evidence) {
    return fill_fairness(compare_environments(evidence.runs, evidence.order), texts());
}

TEST(Fairness, EqualHashesAreFair) {
    const Fairness fairness = fairness_of(healthy_comparison(3));
    EXPECT_TRUE(fairness.known);
    EXPECT_TRUE(fairness.fair);
    EXPECT_TRUE(fairness.differences.empty());
}

TEST(Fairness, EachHashCountsAndIsNamed) {
    ComparisonEvidence evidence = healthy_comparison(3);
    set_environment(evidence.runs[2], "w", "other");
    const Fairness fairness = fairness_of(evidence);
    EXPECT_TRUE(fairness.known);
    EXPECT_FALSE(fairness.fair);
    EXPECT_THAT(fairness.differences, ElementsAre("the order of the samples differs between no and bf16"));
    set_environment(evidence.runs[1], "else");
    EXPECT_EQ(fairness_of(evidence).differences.size(), 2u);
}

TEST(Fairness, AMissingEnvironmentMakesItUnknownNotUnfairAndNotFair) {
    ComparisonEvidence evidence = healthy_comparison(3);
    evidence.runs[1].environment_json = "";
    EXPECT_FALSE(fairness_of(evidence).known);
    EXPECT_FALSE(fairness_of(evidence).fair);
    EXPECT_THAT(fairness_of(evidence).differences, ElementsAre(HasSubstr("fp16")));
    evidence.runs[1].environment_json = R"({"hashes": {"data": "d"}})";
    EXPECT_FALSE(fairness_of(evidence).known);
}

TEST(Fairness, OtherRecordedSettingsAreListedWithBothValues) {
    ComparisonEvidence evidence = healthy_comparison(3);
    auto& text = evidence.runs[1].environment_json;
    text.replace(text.find("\"threads\": 1"), 12, "\"threads\": 2");
    EXPECT_THAT(fairness_of(evidence).differences, ElementsAre("threads is 1 in no and 2 in fp16"));
    EXPECT_TRUE(fairness_of(evidence).fair);
}

TEST(Fairness, AtOnceMarksTimesAsShared) {
    ComparisonEvidence evidence = healthy_comparison(3);
    evidence.order = "at-once";
    EXPECT_THAT(fairness_of(evidence).differences, ElementsAre(HasSubstr("times are shared")));
}

}  // namespace
}  // namespace mantissa
