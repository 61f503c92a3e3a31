#include "ui/charts/chart_painter.h"

#include <algorithm>

namespace mantissa::ui {
namespace {

constexpr double diamondRadius = 7;
constexpr double compactDiamondRadius = 4.5;
constexpr double narrowestCell = 3;
constexpr double bandOpacity = 0.2;

QColor faded(QColor colour, double opacity) {
    colour.setAlphaF(static_cast<float>(opacity));
    return colour;
}

void drawDiamond(QPainter& painter, QPointF centre, double radius) {
    const QPointF corners[] = {centre + QPointF(0, -radius), centre + QPointF(radius * 0.85, 0),
                               centre + QPointF(0, radius), centre + QPointF(-radius * 0.85, 0)};
    painter.drawConvexPolygon(corners, 4);
}

}  // namespace

ChartPainter::ChartPainter(QPainter& painter, const ChartScene& scene, const ThemeColours& colours)
    : m_painter(painter), m_scene(scene), m_colours(colours) {}

void ChartPainter::paintBelow() {
    const QRectF& plot = m_scene.plot;
    const double labelHeight = m_painter.fontMetrics().height();
    m_painter.setRenderHint(QPainter::Antialiasing, false);
    for (const AxisTick& tick : m_scene.yTicks) {
        const double y = m_scene.toPixelY(tick.position);
        m_painter.setPen(m_colours.grid);
        m_painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        m_painter.setPen(m_colours.muted);
        m_painter.drawText(QRectF(0, y - labelHeight / 2, plot.left() - 7, labelHeight),
                           Qt::AlignRight | Qt::AlignVCenter, tick.text);
    }
    paintBand();
    m_painter.setPen(m_colours.muted);
    if (m_scene.hasXLabels) {
        const double top = (m_scene.ledger.isEmpty() ? plot.bottom() : m_scene.ledger.bottom()) + 4;
        for (const AxisTick& tick : m_scene.xTicks) {
            const double half = m_painter.fontMetrics().horizontalAdvance(tick.text) / 2.0 + 2;
            const double x = std::clamp(m_scene.toPixelX(tick.position), half, m_scene.view.right() - half);
            m_painter.drawText(QRectF(x - half, top, 2 * half, labelHeight), Qt::AlignCenter, tick.text);
        }
    }
    if (!m_scene.emptyText.isEmpty()) {
        m_painter.drawText(plot, Qt::AlignCenter | Qt::TextWordWrap, m_scene.emptyText);
    }
    for (const SceneLane& lane : m_scene.lanes) {
        paintLane(lane);
    }
}

void ChartPainter::paintBand() {
    if (!m_scene.band) {
        return;
    }
    m_painter.save();
    m_painter.setClipRect(m_scene.plot, Qt::IntersectClip);
    m_painter.setRenderHint(QPainter::Antialiasing, true);
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(faded(m_scene.band->colour, bandOpacity));
    for (const QPolygonF& area : m_scene.band->areas) {
        m_painter.drawPolygon(area);
    }
    m_painter.restore();
}

/// Low on the left, where a loss that falls leaves room; above the notes on the plot's floor.
void ChartPainter::paintBandLegend() {
    if (!m_scene.band || m_scene.band->areas.empty() || m_scene.isCompact) {
        return;
    }
    const double line = m_painter.fontMetrics().height(), width = m_painter.fontMetrics().horizontalAdvance(m_scene.band->legend);
    const QRectF swatch(m_scene.plot.left() + 10, m_scene.plot.bottom() - 14 - line, 22, line - 4);
    const QRectF text(swatch.right() + 7, swatch.top() - 2, width + 4, line);
    m_painter.fillRect(QRectF(swatch.topLeft(), text.bottomRight()).adjusted(-4, -2, 2, 2), faded(m_colours.surface, 0.8));
    m_painter.fillRect(swatch, faded(m_scene.band->colour, bandOpacity));
    m_painter.setPen(m_colours.muted);
    m_painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, m_scene.band->legend);
}

void ChartPainter::paintLane(const SceneLane& lane) {
    m_painter.setPen(m_colours.muted);
    m_painter.drawText(QRectF(0, lane.area.center().y() - 10, m_scene.plot.left() - 7, 20),
                       Qt::AlignRight | Qt::AlignVCenter, lane.name);
    if (lane.area.width() > 0) {
        m_painter.fillRect(lane.area, faded(lane.colour, 0.25));
    }
    for (const LedgerCell& cell : lane.cells) {
        paintLaneCell(lane, cell);
    }
    if (lane.isStopped) {
        const double side = lane.area.height() - 2;
        m_painter.fillRect(QRectF(lane.area.right() + 2, lane.area.top() + 1, side, side), m_colours.text);
    }
    paintLaneText(lane);
}

// The kinds differ in form too, not in colour alone: probing is a plain tick, a fault stands out above and below the lane, a
// non-finite step is a filled block that the mark's line runs into.
void ChartPainter::paintLaneCell(const SceneLane& lane, const LedgerCell& cell) {
    const double columnWidth = m_scene.plot.width() / std::max(1.0, std::floor(m_scene.plot.width()));
    const double x = m_scene.plot.left() + (cell.column + 0.5) * columnWidth;
    QRectF area(x - narrowestCell / 2, lane.area.top(), narrowestCell, lane.area.height());
    switch (cell.worst) {
        case StepFate::Applied: return;
        case StepFate::SkipProbing: m_painter.fillRect(area, lane.colour); return;
        case StepFate::SkipFault:
            m_painter.fillRect(area.adjusted(0, -2, 0, 2), m_colours.error);
            return;
        case StepFate::Nonfinite:
            m_painter.fillRect(area.adjusted(-0.5, 0, 0.5, 0), m_colours.nonfinite);
            return;
    }
}

/// Behind the lane's end; else on the lane where it is plain. It never covers a step that wasn't applied: without room it is left
/// out, since the strips and the cursor say the same.
void ChartPainter::paintLaneText(const SceneLane& lane) {
    if (lane.text.isEmpty()) {
        return;
    }
    const double width = m_painter.fontMetrics().horizontalAdvance(lane.text) + 4;
    double left = lane.area.right() + (lane.isStopped ? lane.area.height() + 6 : 8);
    if (left + width > m_scene.plot.right()) {
        const double columnWidth = m_scene.plot.width() / std::max(1.0, std::floor(m_scene.plot.width()));
        double end = lane.area.right();
        auto cell = lane.cells.rbegin();
        for (; cell != lane.cells.rend(); ++cell) {
            const double x = m_scene.plot.left() + (cell->column + 0.5) * columnWidth;
            if (end - x >= width + 16) {
                break;
            }
            end = x;
        }
        if (cell == lane.cells.rend() && end - lane.area.left() < width + 16) {
            return;
        }
        left = end - width - 8;
    }
    m_painter.setPen(m_colours.muted);
    m_painter.drawText(QRectF(left, lane.area.top() - 4, width, lane.area.height() + 8), Qt::AlignVCenter | Qt::AlignLeft,
                       lane.text);
}

void ChartPainter::paintAbove() {
    m_painter.setRenderHint(QPainter::Antialiasing, true);
    paintBandLegend();
    for (const SceneDot& dot : m_scene.dots) {
        m_painter.setPen(QPen(dot.colour, 2));
        m_painter.setBrush(m_colours.surface);
        m_painter.drawEllipse(dot.at, dot.radius, dot.radius);
    }
    double labelledUpTo[8] = {};
    for (const SceneMark& mark : m_scene.marks) {
        paintMark(mark, labelledUpTo[mark.row % 8]);
    }
    paintNotes();
    paintCursor();
    if (m_scene.rubberBand) {
        m_painter.setPen(m_colours.accent);
        m_painter.setBrush(faded(m_colours.accent, 0.15));
        m_painter.drawRect(*m_scene.rubberBand);
    }
}

double ChartPainter::markLabelLeft(const QRectF& plot, const SceneMark& mark, double width) {
    const double behind = mark.x + std::max(diamondRadius, mark.width) + 5;
    if (behind + width <= plot.right()) {
        return behind;
    }
    const double before = mark.x - diamondRadius - 5 - width;
    if (before >= plot.left()) {
        return before;
    }
    // A cluster over the whole plot carries its label itself.
    return std::max(plot.left(), std::min(mark.x + diamondRadius + 5, plot.right() - width));
}

void ChartPainter::paintMark(const SceneMark& mark, double& labelledUpTo) {
    const QColor colour = m_colours.nonfinite;
    const double y = m_scene.isCompact ? m_scene.plot.top() + 5 : m_scene.plot.top() + 12 + 17.0 * mark.row;
    const double bottom = m_scene.ledger.isEmpty() ? m_scene.plot.bottom() : m_scene.ledger.bottom();
    m_painter.setPen(QPen(colour, 1.5));
    m_painter.drawLine(QPointF(mark.x, m_scene.plot.top()), QPointF(mark.x, bottom));
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(colour);
    if (mark.width > 1) {
        m_painter.drawRect(QRectF(mark.x, y - 2, mark.width, 4));
    }
    drawDiamond(m_painter, {mark.x, y}, m_scene.isCompact ? compactDiamondRadius : diamondRadius);
    if (mark.label.isEmpty() || mark.x < labelledUpTo) {
        return;
    }
    QFont font = m_painter.font();
    const QFont plain = font;
    font.setWeight(QFont::DemiBold);
    m_painter.setFont(font);
    const double width = m_painter.fontMetrics().horizontalAdvance(mark.label) + 2;
    const QRectF area(markLabelLeft(m_scene.plot, mark, width), y - 9, width, 18);
    m_painter.fillRect(area.adjusted(-2, 1, 2, -1), faded(m_colours.surface, 0.8));
    m_painter.setPen(m_colours.nonfinite.lightness() > 160 && m_colours.surface.lightness() > 128
                         ? m_colours.nonfinite.darker(130)
                         : m_colours.nonfinite);
    m_painter.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, mark.label);
    m_painter.setFont(plain);
    labelledUpTo = area.right() + 6;
}

/// Triangles that stand on the plot's floor: another form than the diamonds of what isn't finite.
void ChartPainter::paintNotes() {
    constexpr double half = 5, height = 8;
    const double y = m_scene.plot.bottom();
    for (const SceneNote& note : m_scene.notes) {
        const QColor colour = note.isError ? m_colours.error : m_colours.warning;
        m_painter.setPen(QPen(colour, 1, Qt::SolidLine));
        m_painter.setBrush(colour);
        const QPointF corners[] = {{note.x, y - height}, {note.x + half, y}, {note.x - half, y}};
        m_painter.drawPolygon(corners, 3);
    }
}

void ChartPainter::paintCursor() {
    if (!m_scene.cursorX) {
        return;
    }
    const double bottom = m_scene.ledger.isEmpty() ? m_scene.plot.bottom() : m_scene.ledger.bottom();
    m_painter.setPen(QPen(m_colours.muted, 1));
    m_painter.drawLine(QPointF(*m_scene.cursorX, m_scene.plot.top()), QPointF(*m_scene.cursorX, bottom));
    if (!m_scene.cursorLines.empty()) {
        paintCursorBox();
    }
}

void ChartPainter::paintCursorBox() {
    const QFontMetricsF metrics(m_painter.font());
    double names = 0, values = 0;
    for (const SceneCursorLine& line : m_scene.cursorLines) {
        names = std::max(names, metrics.horizontalAdvance(line.name));
        values = std::max(values, metrics.horizontalAdvance(line.value));
    }
    const double lineHeight = metrics.height();
    const double width = std::max(metrics.horizontalAdvance(m_scene.cursorTitle), names + values + 14) + 16;
    const double height = lineHeight * (1 + static_cast<double>(m_scene.cursorLines.size())) + 10;
    QRectF box(*m_scene.cursorX + 10, m_scene.plot.top() + 4, width, height);
    if (box.right() > m_scene.view.right()) {
        box.moveRight(*m_scene.cursorX - 10);
    }
    m_painter.setPen(m_colours.border);
    m_painter.setBrush(m_colours.surface);
    m_painter.drawRoundedRect(box, 4, 4);
    QRectF row = box.adjusted(8, 5, -8, 0);
    row.setHeight(lineHeight);
    m_painter.setPen(m_colours.muted);
    m_painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, m_scene.cursorTitle);
    for (const SceneCursorLine& line : m_scene.cursorLines) {
        row.translate(0, lineHeight);
        m_painter.setPen(line.colour);
        m_painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, line.name);
        m_painter.setPen(line.isBad ? m_colours.nonfinite : m_colours.text);
        m_painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter, line.value);
    }
}

}  // namespace mantissa::ui
