#pragma once
// From a quantity's value to a colour and a text. One ramp of rising contrast for all quantities, from quiet (good) to strong (bad): its
// lightness alone carries the order, so it is safe for colour-blind eyes; non-finite values have a colour and a mark of their own.
#include <QColor>
#include <QString>
#include <vector>

#include "ui/bridge/theme.h"
#include "ui/numerics/tensor_heat.h"

namespace mantissa::ui {

/// 0 quiet … 1 bad.
[[nodiscard]] double heatLevel(HeatQuantity quantity, double value);
[[nodiscard]] QColor heatColour(double level, const Theme& theme);

struct HeatTick {
    double level = 0;
    QString text;
};
[[nodiscard]] std::vector<HeatTick> heatTicks(HeatQuantity quantity);

[[nodiscard]] QString quantityName(HeatQuantity quantity);
/// "3.2 bits", "0.31 %", "41 dB".
[[nodiscard]] QString heatText(HeatQuantity quantity, double value);
/// A share with enough digits that 0 is only written for nothing: "0 %", "0.0004 %", "31.2 %".
[[nodiscard]] QString shareText(double share);
[[nodiscard]] QString decibelText(double decibels);

}  // namespace mantissa::ui
