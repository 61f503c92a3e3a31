#pragma once
// What a chart shows and how, as one value.
#include "ui/bridge/run_series.h"

namespace mantissa::ui {

enum class ValueView { Absolute, DifferenceToControl, RatioToControl };
enum class ValueScale { Linear, Log10, Log2 };

struct PlotOptions {
    Quantity quantity = Quantity::Loss;
    XKind x = XKind::Step;
    ValueView view = ValueView::Absolute;
    ValueScale scale = ValueScale::Linear;
    int smoothingSteps = 0;  // 0 = off
    bool operator==(const PlotOptions&) const = default;
};

/// A difference has two signs: it is always drawn on a linear axis.
[[nodiscard]] inline ValueScale effectiveScale(const PlotOptions& options) {
    return options.view == ValueView::DifferenceToControl ? ValueScale::Linear : options.scale;
}

}  // namespace mantissa::ui
