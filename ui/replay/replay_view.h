#pragma once
// What the page Replay says, made from what the run's folder holds, as plain values in the window's language. The order is the page's: the
// sentence, the experiment, the evidence.
#include <QString>
#include <optional>

#include "ui/bridge/replay_reader.h"
#include "ui/replay/variant_words.h"

namespace mantissa::ui {

/// What can be done next; decides the main button.
enum class ReplayStage {
    Reading,         // nothing was read yet
    Unreadable,      // the folder is gone, or there is nothing to look at
    Untried,         // an incident without a replay
    NeedsControl,    // the same of a single half run: without a control the cause stays open
    Running,
    NotReproduced,   // one line, no grid
    Cured,           // a change holds: it can be applied
    Uncured
};

struct ReplayView {
    ReplayStage stage = ReplayStage::Reading;
    Precision mode = Precision::No;
    QString title, subtitle;
    QString place;  // "fp16 · step 65 · forward"
    CellText reproduced, control;
    QString effort;  // "7 replays · 41 s"
    QString headline, next, evidence, severity;  // severity: ok note warning error
    bool hasGrid = false;
    int done = 0, all = 0;  // lines of the grid
    QString apply;   // text of the main button when a change holds
    QString states;  // what is kept on the disk for this step
    bool canFreeStates = false;
};

/// `isReplaying`: this window's own replay is going. `language` of the verdict's texts: "en" or "zh".
[[nodiscard]] ReplayView replayView(const ReplaySnapshot& snapshot, std::int64_t step, bool isReplaying, const std::string& language);

[[nodiscard]] const BirthReport* birthOf(const ReplaySnapshot& snapshot);
/// Largest finite value of the producer's format.
[[nodiscard]] double limitOf(const ReplaySnapshot& snapshot);
[[nodiscard]] const VariantReport* bestOf(const ReplaySnapshot& snapshot);
/// Headline, next step, grid and evidence as lines of text, for the clipboard.
[[nodiscard]] QString replayAsText(const ReplayView& view, const ReplaySnapshot& snapshot, std::int64_t step);

}  // namespace mantissa::ui
