#pragma once
// What a strip says of one mode, as plain values: from the run's recording where there is one, else from its trial.
#include <QString>
#include <optional>

#include "judge/precision_answer.h"
#include "record/comparison_record.h"
#include "ui/bridge/run_follower.h"
#include "ui/live/bad_step.h"

namespace mantissa::ui {

enum class StripTone { Normal, Waiting, Stalled, Bad };

struct ModeFacts {
    Precision mode = Precision::No;
    bool isOn = false, isEffectKnown = false;  // effective = requested
    QString badge, badgeTip;                    // control, native, emulated, refused
    bool isEmulated = false;
    QString progressText;                       // "240 / 300", "■ stopped at 144", "trying…"
    StripTone tone = StripTone::Normal;
    int done = 0, planned = 0;
    std::optional<double> loss;  // last step's
    bool lossIsBad = false;
    QString metricName, metric, stepTime, memory;
    bool hasRun = false;  // there is a run folder
    QString reason;       // why it stopped, in full
    std::optional<BadStep> badStep;  // that can be looked at
};

/// `trial` and `run` may each be absent.
[[nodiscard]] ModeFacts modeFacts(Precision mode, const TrialReport* trial, const RunFollower* run, bool isTrialNow);

/// What the four checks of the article speak of, as followed so far.
[[nodiscard]] PrecisionEvidence precisionEvidence(Precision mode, const TrialReport* trial, const RunFollower* run);

}  // namespace mantissa::ui
