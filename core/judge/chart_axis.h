#pragma once
// Ticks of an axis: round numbers, at most about seven.
#include <string>
#include <vector>

#include "judge/svg_chart.h"

namespace mantissa {

struct Axis {
    double begin = 0, end = 1;
    bool log = false;
    double pixel_begin = 0, pixel_end = 1;

    [[nodiscard]] double pixel(double value) const;
    [[nodiscard]] std::vector<double> ticks() const;
};

/// Over the finite values of all lines (positive ones on a logarithmic axis), with a little air; always a
/// proper interval.
[[nodiscard]] Axis value_axis(const Chart& chart);
[[nodiscard]] std::string tick_text(double value, AxisFormat format);

}  // namespace mantissa
