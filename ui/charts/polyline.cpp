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

/// Split where a gap is wider than `thinnest` pixels (one that is thinner than a pixel can't be drawn).
std::vector<QList<QPointF>> piecesOf(const DecimatedLine& line, int thinnest) {
    std::vector<QList<QPointF>> pieces;
    int lastPixel = 0;
    for (const DecimatedColumn& column : line.columns) {
        if (column.finite == 0) {
            continue;  // the next finite column knows of the gap
        }
        if (pieces.empty() || (column.gap_before && column.pixel > lastPixel + thinnest)) {
            pieces.emplace_back();
            if (pieces.size() == 1 && line.before && !column.gap_before) {
                pieces.back().append({line.before->x, line.before->y});
            }
        }
        appendColumn(pieces.back(), column);
        lastPixel = column.pixel;
    }
    if (line.after && !pieces.empty()) {
        pieces.back().append({line.after->x, line.after->y});
    } else if (line.columns.empty() && line.before && line.after) {
        pieces.push_back({{line.before->x, line.before->y}, {line.after->x, line.after->y}});
    }
    return pieces;
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
    // Every piece is a series of Qt Charts, and hundreds of those would hold up the window: with too many gaps the thinnest ones
    // are drawn over. The marks above and the ledger below show their steps all the same.
    for (int thinnest = 1; thinnest == 1 || line.pieces.size() > mostPiecesPerLine; thinnest *= 2) {
        line.pieces = piecesOf(decimated, thinnest);
    }
    widenDots(line.pieces, visible.width() / std::max(columns, 1));
    line.isEmpty = !std::isfinite(decimated.min);
    line.lowest = decimated.min;
    line.highest = decimated.max;
    return line;
}

}  // namespace mantissa::ui
