#pragma once
// Round numbers for an axis, and their texts.
#include <QString>
#include <vector>

#include "ui/charts/plot_options.h"

namespace mantissa::ui {

struct AxisTick {
    double position = 0;  // on the axis' scale (log10, log2 or as it is)
    QString text;
};

/// About `most` ticks (never more) inside [from, to], both on the axis' scale.
[[nodiscard]] std::vector<AxisTick> axisTicks(double from, double to, int most, ValueScale scale, Quantity quantity,
                                              ValueView view);
[[nodiscard]] std::vector<AxisTick> xTicks(double from, double to, int most, XKind kind);
/// A value for people, in the unit of the quantity: "0.031", "2^16", "12.4 MB", "5.1 ms".
[[nodiscard]] QString valueText(double value, Quantity quantity, ValueView view);
[[nodiscard]] QString quantityName(Quantity quantity);

}  // namespace mantissa::ui
