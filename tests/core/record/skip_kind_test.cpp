#include "record/skip_kind.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace mantissa {
namespace {

constexpr StepAttempt applied{.scale_after = 1024.0};
constexpr StepAttempt overflow{.skipped = true, .scale_after = 512.0};
constexpr StepAttempt bad_loss{.skipped = true, .nonfinite_loss = true, .scale_after = 512.0};

/// 'a' applied, 'o' overflow of the gradients, 'n' non-finite loss; answers '.', 'p', 'F'.
std::string kinds(SkipClassifier& classifier, const std::string& attempts) {
    std::string answer;
    for (const char attempt : attempts) {
        const SkipKind kind = classifier.record(attempt == 'a'   ? applied
                                                : attempt == 'o' ? overflow
                                                                 : bad_loss);
        answer += kind == SkipKind::None ? '.' : kind == SkipKind::Probing ? 'p' : 'F';
    }
    return answer;
}

std::string kinds(const std::string& attempts) {
    SkipClassifier classifier;
    return kinds(classifier, attempts);
}

TEST(SkipKindTest, ANonFiniteLossIsAFaultFromTheFirstStepOn) {
    EXPECT_EQ(kinds("n"), "F");
    EXPECT_EQ(kinds("onoa"), "pFp.");
}

TEST(SkipKindTest, TheStartMaySkipAsLongAsItLikesWhileTheScaleFalls) {
    EXPECT_EQ(kinds("ooooooooooooooo"), std::string(15, 'p'));  // 2^32 down to 2^17
}

TEST(SkipKindTest, AfterTheFirstAppliedStepTheThirdInARowIsAFault) {
    EXPECT_EQ(kinds("aoo"), ".pp");
    EXPECT_EQ(kinds("aoooo"), ".ppFF");
    EXPECT_EQ(kinds("ooooaooaooo"), "pppp.pp.ppF");
    // A skip of another kind counts for the row.
    EXPECT_EQ(kinds("anoo"), ".FpF");
}

TEST(SkipKindTest, AScaleBelowOneIsAFaultAlsoAtTheStart) {
    SkipClassifier classifier;
    EXPECT_EQ(classifier.record({.skipped = true, .scale_after = 1.0}), SkipKind::Probing);
    EXPECT_EQ(classifier.record({.skipped = true, .scale_after = 0.5}), SkipKind::Fault);
    EXPECT_EQ(classifier.record({.skipped = true, .scale_after = 0.0}), SkipKind::Fault);
    EXPECT_EQ(classifier.record({.skipped = true, .scale_after = std::numeric_limits<double>::quiet_NaN()}),
              SkipKind::Fault);
    EXPECT_EQ(classifier.record({.skipped = false, .scale_after = 0.5}), SkipKind::None);
}

TEST(SkipKindTest, WithoutAScalerNothingIsProbed) {
    SkipClassifier classifier;
    EXPECT_EQ(classifier.record({.skipped = true, .scale_after = std::nullopt}), SkipKind::Fault);
}

TEST(SkipKindTest, EightFaultsInARowArePersistentSevenAreNot) {
    SkipClassifier classifier;
    kinds(classifier, "annnnnnn");
    EXPECT_EQ(classifier.faults_in_row(), 7);
    EXPECT_FALSE(classifier.is_persistent());
    kinds(classifier, "n");
    EXPECT_TRUE(classifier.is_persistent());
    EXPECT_EQ(classifier.longest_fault_row(), 8);
    kinds(classifier, "a");
    EXPECT_FALSE(classifier.is_persistent());
    EXPECT_TRUE(classifier.was_persistent());
}

TEST(SkipKindTest, AProbingSkipEndsARowOfFaults) {
    SkipClassifier classifier;
    kinds(classifier, "nnnnnno");  // before the first applied step, so the last one is probing
    EXPECT_EQ(classifier.faults_in_row(), 0);
}

TEST(SkipKindTest, TenFaultsInTheLastFiftyArePersistentElevenInFiftyOneMayNotBe) {
    SkipClassifier classifier;
    for (int fault = 0; fault < 9; ++fault) kinds(classifier, "naaaa");  // faults at 0, 5, ... 40
    EXPECT_EQ(classifier.faults_in_window(), 9);
    EXPECT_FALSE(classifier.is_persistent());
    SkipClassifier tenth = classifier;
    kinds(tenth, "n");  // attempt 45: ten in 46
    EXPECT_TRUE(tenth.is_persistent());
    // The same tenth fault at attempt 50: the one at 0 has left the window of 50.
    kinds(classifier, "aaaaan");
    EXPECT_EQ(classifier.faults_in_window(), 9);
    EXPECT_FALSE(classifier.is_persistent());
    EXPECT_EQ(classifier.attempts(), 51);
}

TEST(SkipKindTest, WindowCountMatchesACountByHand) {
    SkipClassifier classifier;
    std::vector<bool> faults;
    unsigned random = 12345;
    for (int attempt = 0; attempt < 2000; ++attempt) {
        random = random * 1664525u + 1013904223u;
        const SkipKind kind = classifier.record((random >> 24) < 50 ? bad_loss : applied);
        faults.push_back(kind == SkipKind::Fault);
        std::int64_t in_window = 0, in_row = 0;
        for (std::size_t back = 0; back < faults.size() && back < 50; ++back)
            in_window += faults[faults.size() - 1 - back];
        while (in_row < static_cast<std::int64_t>(faults.size()) &&
               faults[faults.size() - 1 - static_cast<std::size_t>(in_row)])
            ++in_row;
        ASSERT_EQ(classifier.faults_in_window(), in_window);
        ASSERT_EQ(classifier.faults_in_row(), in_row);
        ASSERT_EQ(classifier.is_persistent(), in_window >= 10 || in_row >= 8);
    }
}

}  // namespace
}  // namespace mantissa
