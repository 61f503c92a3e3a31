#pragma once
// The sentences of the Live page that are put together from several runs: headline, title, status, fairness.
#include <QString>

#include "judge/live_headline.h"
#include "ui/bridge/comparison_follower.h"
#include "ui/bridge/theme.h"

namespace mantissa::ui {

struct Headline {
    QString text;
    QString severity;  // ok note warning error
    bool operator==(const Headline&) const = default;
};

[[nodiscard]] Headline headlineOf(const ComparisonFollower& follower, const std::string& language);
[[nodiscard]] QString titleOf(const ComparisonFollower& follower);
/// "digits · batch 32 · adamw 0.003 · seed 7", from the recorded plan.
[[nodiscard]] QString subtitleOf(const ComparisonFollower& follower);
[[nodiscard]] QString statusOf(const ComparisonFollower& follower);

/// Where a run goes on from, and what became of its loss scale; empty for runs that began at step 0.
[[nodiscard]] QString originOf(const ComparisonFollower& follower, const std::string& language);

struct FairnessNote {
    QString html, details;
};
[[nodiscard]] FairnessNote fairnessOf(const ComparisonFollower& follower, const ThemeColours& colours);
/// The mode that is tried on one batch just now, if the comparison is in its trial phase.
[[nodiscard]] std::optional<Precision> modeOnTrial(const ComparisonFollower& follower);

}  // namespace mantissa::ui
