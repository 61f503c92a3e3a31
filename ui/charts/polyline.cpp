#include "ui/charts/polyline.h"

#include <algorithm>
#include <cmath>

#include "record/decimation.h"

namespace mantissa::ui {
namespace {

void appendColumn(QList<QPointF>& piece, const DecimatedColumn& column) {
    if (column.finite == 1) {
        piece.append({column.x, column.first});
        return;
    }
    if (column.finite == 2) {
        piece.append({column.x, column.first});
        piece.append({column.x_last, column.last});
        return;
    }
    // Extremes are what the eye must not lose; their order follows the direction of the line.
    const bool isRising = std::abs(column.first - column.min) <= std::abs(column.first - column.max);
    piece.append({column.x, isRising ? column.min : column.max});
    piece.append({column.x_last, isRising ? column.max : column.min});
}

/// A lone finite step between bad ones is a line of no length, which nothing paints: it gets the width of a dot.
void widenDots(std::vector<QList<QPointF>>& pieces, double pixel) {
    for (QList<QPointF>& piece : pieces) {
        if (piece.size() == 1) {
            const QPointF dot = piece.front();
            piece = {dot - QPointF(0.75 * pixel, 0), dot + QPointF(0.75 * pixel, 0)};
        }
    }
}

}  // namespace

qsizetype Polyline::points() const {
    qsizetype count = 0;
    for (const QList<QPointF>& piece : pieces) {
        count += piece.size();
    }
    return count;
}

Polyline makePolyline(std::span<const double> x, std::span<const double> y, XSpan visible, int columns) {
    Polyline line;
    const int width = std::min(columns, mostPointsPerLine / 2 - 1);
    const DecimatedLine decimated = decimate(x.first(std::min(x.size(), y.size())), y, visible.from, visible.to, width);
    int lastPixel = -2;
    for (const DecimatedColumn& column : decimated.columns) {
        if (column.finite == 0) {
            lastPixel = -2;  // a whole column without a finite value: the gap can be seen
            continue;
        }
        // A gap thinner than a pixel can't be drawn; the mark above and the ledger below show its steps all the same.
        const bool isApart = lastPixel < 0 || (column.gap_before && column.pixel > lastPixel + 1);
        if (isApart) {
            line.pieces.emplace_back();
            if (line.pieces.size() == 1 && decimated.before && !column.gap_before) {
                line.pieces.back().append({decimated.before->x, decimated.before->y});
            }
        }
        appendColumn(line.pieces.back(), column);
        lastPixel = column.pixel;
    }
    if (decimated.after && lastPixel >= 0) {
        line.pieces.back().append({decimated.after->x, decimated.after->y});
    } else if (decimated.columns.empty() && decimated.before && decimated.after) {
        line.pieces.push_back({{decimated.before->x, decimated.before->y}, {decimated.after->x, decimated.after->y}});
    }
    widenDots(line.pieces, visible.width() / std::max(columns, 1));
    line.isEmpty = !std::isfinite(decimated.min);
    line.lowest = decimated.min;
    line.highest = decimated.max;
    return line;
}

}  // namespace mantissa::ui
