#pragma once
// A run's values as the few points a chart needs: decimated to the pixel, clipped to the view, split where something isn't finite.
#include <QList>
#include <QPointF>
#include <span>
#include <vector>

#include "ui/charts/step_range.h"

namespace mantissa::ui {

struct Polyline {
    std::vector<QList<QPointF>> pieces;  // each at least two points
    double lowest = 0, highest = 0;      // of the drawn values; meaningless when `isEmpty`
    bool isEmpty = true;
    [[nodiscard]] qsizetype points() const;
};

/// The most points that `makePolyline` gives for one line, however long the run is.
inline constexpr int mostPointsPerLine = 2000;
/// And the most pieces of it.
inline constexpr std::size_t mostPiecesPerLine = 48;

/// `columns`: pixels of the plot; `x` may be longer than `y` (a view that waits for the control).
[[nodiscard]] Polyline makePolyline(std::span<const double> x, std::span<const double> y, XSpan visible, int columns);

}  // namespace mantissa::ui
