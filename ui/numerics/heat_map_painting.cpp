// What the heat map paints; how it is used is in heat_map.cpp.
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "ui/numerics/heat_map.h"
#include "ui/numerics/heat_scale.h"

namespace mantissa::ui {
namespace {

constexpr int legendWidth = 230;

}  // namespace

void HeatMap::paintCells(QPainter& painter) const {
    const QRect area = plot();
    const int height = rowHeight();
    const ThemeColours& colours = m_theme.colours();
    const HeatAxis steps = axis();
    const std::vector<HeatAxis::Columns>& shown = steps.shown();
    std::vector<QRectF> marks;
    for (std::size_t row = 0; row < m_heat->tensors().size(); ++row) {
        const int top = static_cast<int>(row) * height - verticalScrollBar()->value();
        if (top + height < 0 || top > area.height()) {
            continue;
        }
        for (int pixel = 0; pixel < area.width();) {
            const HeatAxis::Columns columns = shown[static_cast<std::size_t>(pixel)];
            int end = pixel + 1;  // pixels of the same columns are one rectangle
            while (end < area.width() && shown[static_cast<std::size_t>(end)] == columns) {
                ++end;
            }
            std::optional<double> level;
            bool isMarked = false;
            for (std::size_t column = columns.from; column < columns.to; ++column) {
                if (const auto value = m_heat->value(row, column, m_quantity, m_format)) {
                    level = std::max(level.value_or(0), heatLevel(m_quantity, *value));
                }
                const HeatCell* cell = m_heat->cell(row, column);
                isMarked = isMarked || (cell && cell->nonfinite > 0);
            }
            const QRect box(area.left() + pixel, top, end - pixel, height - 1);
            if (level) {
                painter.fillRect(box, heatColour(*level, m_theme));
            }
            if (isMarked) {
                painter.fillRect(box, colours.nonfinite);
                marks.emplace_back(box);
            }
            pixel = end;
        }
    }
    painter.setPen(QPen(m_theme.isDark() ? QColor(Qt::black) : QColor(Qt::white), 1.4));
    painter.setRenderHint(QPainter::Antialiasing);
    for (const QRectF& box : marks) {  // a cross: the colour alone is not enough
        const double side = std::min(box.height() - 6, std::max(box.width() - 2, 4.0)) / 2;
        const QPointF middle = box.center();
        painter.drawLine(middle + QPointF(-side, -side), middle + QPointF(side, side));
        painter.drawLine(middle + QPointF(-side, side), middle + QPointF(side, -side));
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void HeatMap::paintNames(QPainter& painter) const {
    const int width = plot().left() - namesGap;
    for (std::size_t row = 0; row < m_heat->tensors().size(); ++row) {
        const QRect box(0, static_cast<int>(row) * rowHeight() - verticalScrollBar()->value(), width, rowHeight());
        const bool isCurrent = m_current && m_current->tensor == row;
        painter.setPen(isCurrent ? m_theme.colours().text : m_theme.colours().muted);
        painter.drawText(box, Qt::AlignRight | Qt::AlignVCenter,
                         fontMetrics().elidedText(QString::fromStdString(m_heat->tensors()[row]), Qt::ElideMiddle, width));
    }
}

void HeatMap::paintFrame(QPainter& painter, const Place& place, const QColor& colour) const {
    QRectF box = cellRect(place);
    if (box.width() < 5) {
        box.adjust((box.width() - 5) / 2, 0, (5 - box.width()) / 2, 0);
    }
    painter.setBrush(Qt::NoBrush);
    // The halo keeps it visible on a cell of the same colour.
    painter.setPen(QPen(m_theme.isDark() ? QColor(Qt::black) : QColor(Qt::white), 4));
    painter.drawRect(box.adjusted(0, 0, 0, -1));
    painter.setPen(QPen(colour, 2));
    painter.drawRect(box.adjusted(0, 0, 0, -1));
}

void HeatMap::paintSteps(QPainter& painter) const {
    const QRect area = plot();
    painter.setPen(m_theme.colours().muted);
    const int top = std::min(area.height(), rowHeight() * static_cast<int>(m_heat->tensors().size())) + 2;
    const int line = fontMetrics().height();
    const HeatAxis steps = axis();
    // As many round steps as fit, and the last record always.
    const std::int64_t last = m_heat->columns().back().last;
    const int widest = fontMetrics().horizontalAdvance(QString::number(last));
    const auto put = [&](std::int64_t step, int before) {
        const QString text = QString::number(step);
        const int width = fontMetrics().horizontalAdvance(text);
        const int at = area.left() + static_cast<int>(std::lround(steps.pixelOf(static_cast<double>(step))));
        const int left = std::clamp(at - width / 2, area.left(), area.right() - width);
        if (left + width > before) {
            return before;
        }
        painter.drawLine(at, top - 2, at, top);
        painter.drawText(QRect(left, top, width + 1, line), Qt::AlignLeft, text);
        return left;
    };
    const int lastLeft = put(last, area.right() + 1);
    for (const std::int64_t step : steps.ticks(std::max(1, area.width() / (widest + 24)))) {
        (void)put(step, lastLeft - 12);
    }
    painter.drawText(QRect(0, top, area.left() - namesGap, line), Qt::AlignRight, tr("step"));
}

void HeatMap::paintLegend(QPainter& painter) const {
    const int line = fontMetrics().height();
    const std::vector<HeatTick> ticks = heatTicks(m_quantity);
    const int axis = rowHeight() * static_cast<int>(m_heat->tensors().size()) + line;
    const int top = std::min(viewport()->height() - line, axis + line / 2);
    int x = plot().left();
    const QString good = tr("good"), bad = tr("bad");
    painter.setPen(m_theme.colours().muted);
    const int width = std::min(legendWidth, plot().width() / 3);
    const auto put = [&](const QString& text) {
        const int wide = fontMetrics().horizontalAdvance(text);
        painter.drawText(QRect(x, top, wide + 2, line), Qt::AlignLeft | Qt::AlignVCenter, text);
        x += wide + 6;
    };
    put(QStringLiteral("%1 %2").arg(good, ticks.front().text));
    for (int i = 0; i < width; ++i) {
        painter.fillRect(QRect(x + i, top + line / 4, 1, line / 2), heatColour(static_cast<double>(i) / width, m_theme));
    }
    x += width + 6;
    painter.setPen(m_theme.colours().muted);
    put(QStringLiteral("%1 %2").arg(ticks.back().text, bad));
    x += 8;
    const QRectF box(x, top + 2, line - 4, line - 4);
    painter.fillRect(box, m_theme.colours().nonfinite);
    painter.setPen(QPen(m_theme.isDark() ? QColor(Qt::black) : QColor(Qt::white), 1.4));
    painter.drawLine(box.topLeft() + QPointF(3, 3), box.bottomRight() - QPointF(3, 3));
    painter.drawLine(box.topRight() + QPointF(-3, 3), box.bottomLeft() + QPointF(3, -3));
    x += line + 2;
    painter.setPen(m_theme.colours().muted);
    put(tr("NaN or Inf in it"));
}

}  // namespace mantissa::ui
