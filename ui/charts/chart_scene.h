#pragma once
// All that a chart paints beside its lines, computed once per refresh, in pixels of the view. Plain values: the painter only paints,
// and tests look at these instead of at pixels.
#include <QColor>
#include <QPointF>
#include <QPolygonF>
#include <QRectF>
#include <QString>
#include <optional>
#include <vector>

#include "ui/charts/axis_ticks.h"
#include "ui/charts/ledger.h"
#include "ui/charts/step_range.h"

namespace mantissa::ui {

struct SceneLane {
    QString name;
    QColor colour;
    QRectF area;  // the recorded part of the lane
    std::vector<LedgerCell> cells;
    QString text;           // "3 skips: probing ✓ · 0 faults"
    bool isStopped = false;  // ended before its plan was done: a square at the end
};

struct SceneMark {
    double x = 0;
    double width = 0;  // of a cluster, beside the first column
    QString label;
    std::int64_t steps = 0;
    int row = 0;  // runs side by side never hide each other's diamonds
};

struct SceneDot {
    QPointF at;
    QColor colour;
    double radius = 4;
};

/// Repetitions of the control: what lies between the lowest and the highest of them.
struct SceneBand {
    std::vector<QPolygonF> areas;
    QColor colour;
    QString legend;  // "3 repetitions of no"
};

struct SceneNote {
    double x = 0;
    bool isError = false;
    QString text;
};

struct SceneCursorLine {
    QString name, value;
    QColor colour;
    bool isBad = false;
};

struct ChartScene {
    QRectF view, plot, ledger;
    XSpan x;
    double yFrom = 0, yTo = 1;  // on the axis' scale
    std::vector<AxisTick> xTicks, yTicks;
    std::vector<SceneLane> lanes;
    std::vector<SceneMark> marks;
    std::vector<SceneDot> dots;
    std::optional<SceneBand> band;
    std::vector<SceneNote> notes;
    std::optional<double> cursorX;
    QString cursorTitle;
    std::vector<SceneCursorLine> cursorLines;
    std::optional<QRectF> rubberBand;
    QString emptyText;  // in the middle of an empty plot
    bool hasXLabels = true;
    bool isCompact = false;

    [[nodiscard]] double toPixelX(double value) const {
        return plot.left() + (value - x.from) / x.width() * plot.width();
    }
    [[nodiscard]] double toPixelY(double scaled) const {
        return plot.bottom() - (scaled - yFrom) / (yTo - yFrom) * plot.height();
    }
};

}  // namespace mantissa::ui
