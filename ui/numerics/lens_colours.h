#pragma once
// Colours of the formats, as everywhere in the window: fp16, bf16, and fp8's green for both of its formats (told apart by their lines).
#include <QPen>

#include "judge/format_lens.h"
#include "ui/bridge/theme.h"

namespace mantissa::ui {

[[nodiscard]] inline QColor formatColour(NumberFormat format, const Theme& theme) {
    switch (format) {
        case NumberFormat::Fp32: return theme.colours().no;
        case NumberFormat::Fp16: return theme.colours().fp16;
        case NumberFormat::Bf16: return theme.colours().bf16;
        case NumberFormat::E4m3fn:
        case NumberFormat::E5m2: return theme.colours().fp8;
    }
    return theme.colours().no;
}

[[nodiscard]] inline QPen formatPen(NumberFormat format, const Theme& theme, double width) {
    QPen pen(formatColour(format, theme), width);
    if (format == NumberFormat::E5m2) {
        pen.setStyle(Qt::DashLine);
    } else if (format == NumberFormat::Bf16) {
        pen.setStyle(Qt::DotLine);
    }
    return pen;
}

/// What a loss scale moves: bars, zones and lines all say 2^k.
[[nodiscard]] inline QString powerText(int log2Scale) { return QStringLiteral("2^%1").arg(log2Scale); }

}  // namespace mantissa::ui
