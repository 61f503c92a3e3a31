#pragma once
// One line of the what-if grid in words of the window's language. ✓ and ✗ always come with a word: colour and shape never stand alone.
#include <QString>

#include "record/replay_report.h"

namespace mantissa::ui {

enum class CellTone { Plain, Quiet, Good, Bad };

struct CellText {
    QString text, details;  // details: a sentence for the tool tip
    CellTone tone = CellTone::Plain;
};

/// "fp16, gate.mul in fp32". `mode`: of the run; `step`: that is looked at.
[[nodiscard]] QString changeText(const VariantReport& variant, Precision mode, std::int64_t step);
/// `isOver`: the replay is; what still waits then was never tried.
[[nodiscard]] CellText thisStepText(const VariantReport& variant, bool isOver = false);
[[nodiscard]] CellText laterText(const VariantReport& variant, bool isOver = false);
/// Of a report: nothing works on its grid any more.
[[nodiscard]] bool isGridOver(const ReplayReport& report);
/// Done, failed or left out: nothing more will come.
[[nodiscard]] bool hasEnded(const VariantReport& variant);

}  // namespace mantissa::ui
