#include "plan/alarm_entries.h"

#include <gtest/gtest.h>

#include "plan/validate.h"

namespace mantissa {
namespace {

std::string refusal(const std::vector<std::string>& entries) {
    RunPlan plan;
    plan.observe.alarms = entries;
    for (const PlanIssue& issue : find_plan_issues(plan)) {
        if (issue.path == "observe.alarms") return describe(issue.error);
    }
    return {};
}

TEST(AlarmEntries, WithoutEntriesEveryRuleHasItsDefault) {
    const auto rules = parse_alarms({});
    ASSERT_TRUE(rules.ok());
    ASSERT_EQ(rules->size(), all_alarm_kinds.size());
    for (std::size_t i = 0; i < rules->size(); ++i) EXPECT_EQ((*rules)[i], default_alarm(all_alarm_kinds[i]));
    EXPECT_EQ(rules->front().threshold, 1);
}

TEST(AlarmEntries, AnEntryChangesWhatItNames) {
    const auto rules = parse_alarms({"headroom threshold=2.5 steps=3 action=pause", "dead_layer off", "skip_streak level=error"});
    ASSERT_TRUE(rules.ok());
    ASSERT_EQ(rules->size(), 6U);
    EXPECT_EQ((*rules)[0], (AlarmRule{AlarmKind::Headroom, 2.5, 3, AlarmLevel::Warning, AlarmAction::Pause}));
    EXPECT_EQ((*rules)[2], (AlarmRule{AlarmKind::SkipStreak, 3, 1, AlarmLevel::Error, AlarmAction::Mark}));
    for (const AlarmRule& rule : *rules) EXPECT_NE(rule.kind, AlarmKind::DeadLayer);
    EXPECT_TRUE(parse_alarms({"off"})->empty());
}

TEST(AlarmEntries, WhatIsWrittenReadsBack) {
    for (const AlarmKind kind : all_alarm_kinds) {
        AlarmRule rule = default_alarm(kind);
        rule.steps = 7;
        rule.level = AlarmLevel::Error;
        rule.action = AlarmAction::Watch;
        const auto rules = parse_alarms({alarm_entry(rule)});
        ASSERT_TRUE(rules.ok()) << alarm_entry(rule);
        EXPECT_EQ((*rules)[static_cast<std::size_t>(kind)], rule);
    }
}

TEST(AlarmEntries, BadEntriesAreNamedWithWhatIsAllowed) {
    EXPECT_EQ(refusal({}), "");
    EXPECT_EQ(refusal({"headroom threshold=2"}), "");
    EXPECT_EQ(refusal({"headrom"}),
              "observe.alarms has the entry \"headrom\": it begins with no rule's name — did you mean headroom? the rules are: headroom, "
              "flush_share, skip_streak, scale_floor, vanishing_gradient, dead_layer, update_share; \"off\" switches all of them off");
    EXPECT_EQ(refusal({"headroom threshold=many"}),
              "observe.alarms has the entry \"headroom threshold=many\": its threshold is many — use a number from 0 to 64 bits; the default "
              "is 1");
    EXPECT_EQ(refusal({"flush_share threshold=nan"}),
              "observe.alarms has the entry \"flush_share threshold=nan\": its threshold is nan — use a number from 0 to 1 (a share); the "
              "default is 0.1");
    EXPECT_EQ(refusal({"headroom action=explode"}),
              "observe.alarms has the entry \"headroom action=explode\": its action is explode — use one of: mark, pause, stop, checkpoint, "
              "watch");
    EXPECT_EQ(refusal({"headroom steps=0"}),
              "observe.alarms has the entry \"headroom steps=0\": its steps are 0 — use a whole number from 1 to 1000000");
    EXPECT_NE(refusal({"headroom pause"}), "");
    EXPECT_NE(refusal({""}), "");
    EXPECT_NE(refusal({"headroom off", "headroom threshold=2"}), "");
    EXPECT_NE(refusal({"off", "headroom threshold=2"}), "");
}

}  // namespace
}  // namespace mantissa
