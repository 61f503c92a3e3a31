#include "ui/replay/grown_chart.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/bridge/theme.h"
#include "ui/replay/birth_words.h"

namespace mantissa::ui {
namespace {

constexpr double diamondRadius = 8;
// Below this share of the limit a line on a linear axis would lie on the floor: the limit is left out then.
constexpr double nearShare = 1.0 / 32;

}  // namespace

GrownChart::GrownChart(const Theme& theme, QWidget* parent) : QWidget(parent), m_theme(theme) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void GrownChart::setValues(const GrownValues& values, Precision mode) {
    m_values = values;
    m_mode = mode;
    const auto most = std::max_element(m_values.largest.begin(), m_values.largest.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    if (most != m_values.largest.end() && most->value < m_values.limit * nearShare) {
        m_values.limit = 0;
    }
    m_cursor = std::min(m_cursor, static_cast<int>(m_values.largest.size()) - 1);
    setAccessibleDescription(tr("Left and right arrow keys go from step to step. The menu beside the title shows the same values as a table."));
    update();
}

QRectF GrownChart::plot() const {
    const double left = fontMetrics().horizontalAdvance(QStringLiteral("655,040")) + 8;
    const double above = fontMetrics().height() + 2;
    return {left, above, std::max(10.0, width() - left - 26.0), std::max(10.0, height() - above - fontMetrics().height() - 8)};
}

double GrownChart::top() const {
    double most = m_values.limit;
    for (const StepValue& value : m_values.largest) {
        most = std::max(most, value.value);
    }
    return most > 0 ? most * 1.03 : 1;
}

QPointF GrownChart::pointOf(double step, double value) const {
    const QRectF area = plot();
    const double first = static_cast<double>(m_values.largest.front().step);
    const double steps = std::max(1.0, static_cast<double>(m_values.birthStep) - first);
    return {area.left() + (step - first) / steps * area.width(), area.bottom() - value / top() * area.height()};
}

void GrownChart::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_values.isEmpty()) {
        painter.setPen(m_theme.colours().muted);
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, tr("The steps before were not recorded here. A replay reads them on its way."));
        return;
    }
    paintAxes(painter);
    paintLine(painter);
    paintSteps(painter);
    paintBirth(painter);
    paintCursor(painter);
    if (hasFocus()) {
        painter.setPen(QPen(m_theme.colours().accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    }
}

void GrownChart::paintAxes(QPainter& painter) const {
    const ThemeColours& c = m_theme.colours();
    const QRectF area = plot();
    const double half = fontMetrics().height() / 2.0;
    std::vector<double> levels{top() / 1.03};
    levels.push_back(levels.front() / 2);
    for (const double level : levels) {
        const double y = pointOf(0, level).y();
        const bool isLimit = m_values.limit > 0 && level == levels.front();
        painter.setPen(isLimit ? QPen(c.nonfinite, 1.5, Qt::DashLine) : QPen(c.grid, 1));
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        painter.setPen(c.muted);
        painter.drawText(QRectF(0, y - half, area.left() - 8, 2 * half), Qt::AlignRight | Qt::AlignVCenter, numberText(level));
    }
}

void GrownChart::paintLine(QPainter& painter) const {
    QPainterPath path;
    for (const StepValue& value : m_values.largest) {
        const QPointF at = pointOf(static_cast<double>(value.step), value.value);
        path.elementCount() == 0 ? path.moveTo(at) : path.lineTo(at);
    }
    painter.setPen(QPen(m_theme.modeColour(m_mode), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
}

/// First step, the one with one bit left, the step of the birth; the middle one gives way when there is no room.
void GrownChart::paintSteps(QPainter& painter) const {
    const QRectF area = plot();
    const double y = area.bottom() + 4, height = fontMetrics().height();
    painter.setPen(m_theme.colours().muted);
    const QString first = tr("step %1").arg(m_values.largest.front().step), last = QString::number(m_values.birthStep);
    const double firstEnd = area.left() + fontMetrics().horizontalAdvance(first) + 12;
    const double lastStart = area.right() - fontMetrics().horizontalAdvance(last) - 12;
    painter.drawText(QRectF(area.left(), y, area.width(), height), Qt::AlignLeft | Qt::AlignTop, first);
    painter.drawText(QRectF(area.left(), y, area.width() + 12, height), Qt::AlignRight | Qt::AlignTop, last);
    if (!m_values.oneBitLeftStep || m_values.limit <= 0) {
        return;
    }
    const QString words = tr("%1 · one bit left").arg(*m_values.oneBitLeftStep);
    const double width = fontMetrics().horizontalAdvance(words) + 4;
    const QPointF at = pointOf(static_cast<double>(*m_values.oneBitLeftStep), m_values.limit / 2);
    const double left = std::clamp(at.x() - width / 2, area.left(), std::max(area.left(), area.right() - width));
    if (left >= firstEnd && left + width <= lastStart) {
        painter.drawText(QRectF(left, y, width, height), Qt::AlignHCenter | Qt::AlignTop, words);
        painter.setPen(QPen(m_theme.colours().grid, 1));
        painter.drawLine(QPointF(at.x(), at.y()), QPointF(at.x(), area.bottom()));
    }
}

void GrownChart::paintBirth(QPainter& painter) const {
    const double level = m_values.limit > 0 ? m_values.limit : m_values.largest.back().value;
    const QPointF at = pointOf(static_cast<double>(m_values.birthStep), level);
    if (m_values.largest.back().step < m_values.birthStep) {
        painter.setPen(QPen(m_theme.modeColour(m_mode), 2));
        painter.drawLine(pointOf(static_cast<double>(m_values.largest.back().step), m_values.largest.back().value), at);
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_theme.colours().nonfinite);
    const QPointF corners[] = {at + QPointF(0, -diamondRadius), at + QPointF(diamondRadius, 0), at + QPointF(0, diamondRadius), at - QPointF(diamondRadius, 0)};
    painter.drawPolygon(corners, 4);
    painter.setPen(m_theme.colours().text);
    const double width = fontMetrics().horizontalAdvance(m_values.birth) + 4;
    const double height = fontMetrics().height();
    painter.drawText(QRectF(at.x() - width - diamondRadius - 3, std::max(0.0, at.y() - height - 2), width, height), Qt::AlignRight | Qt::AlignTop, m_values.birth);
}

QString GrownChart::cursorText() const {
    if (m_cursor < 0) {
        return {};
    }
    const StepValue& value = m_values.largest[static_cast<std::size_t>(m_cursor)];
    if (m_values.limit <= 0 || value.value <= 0) {
        return tr("step %1: %2").arg(value.step).arg(numberText(value.value));
    }
    return tr("step %1: %2, %3 bits left").arg(value.step).arg(numberText(value.value), QString::number(std::log2(m_values.limit / value.value), 'f', 1));
}

void GrownChart::paintCursor(QPainter& painter) const {
    if (m_cursor < 0) {
        return;
    }
    const ThemeColours& c = m_theme.colours();
    const StepValue& value = m_values.largest[static_cast<std::size_t>(m_cursor)];
    const QPointF at = pointOf(static_cast<double>(value.step), value.value);
    painter.setPen(QPen(m_theme.modeColour(m_mode), 2));
    painter.setBrush(c.surface);
    painter.drawEllipse(at, 4, 4);
    const QString words = cursorText();
    const double width = fontMetrics().horizontalAdvance(words) + 14, height = fontMetrics().height() + 6;
    const double left = std::clamp(at.x() - width / 2, 0.0, std::max(0.0, this->width() - width));
    const double above = at.y() - height - 8;
    const QRectF box(left, above > 0 ? above : at.y() + 8, width, height);
    painter.setPen(c.border);
    painter.drawRoundedRect(box, 4, 4);
    painter.setPen(c.text);
    painter.drawText(box, Qt::AlignCenter, words);
}

void GrownChart::setCursorTo(int point) {
    m_cursor = m_values.isEmpty() ? -1 : std::clamp(point, 0, static_cast<int>(m_values.largest.size()) - 1);
    setAccessibleName(tr("Chart: largest value of %1. %2").arg(m_values.tensor, cursorText()));
    update();
}

void GrownChart::keyPressEvent(QKeyEvent* event) {
    const int last = static_cast<int>(m_values.largest.size()) - 1;
    switch (event->key()) {
        case Qt::Key_Left: setCursorTo(m_cursor < 0 ? last : m_cursor - 1); return;
        case Qt::Key_Right: setCursorTo(m_cursor < 0 ? last : m_cursor + 1); return;
        case Qt::Key_Home: setCursorTo(0); return;
        case Qt::Key_End: setCursorTo(last); return;
        default: QWidget::keyPressEvent(event);
    }
}

void GrownChart::mouseMoveEvent(QMouseEvent* event) {
    if (m_values.isEmpty()) {
        return;
    }
    const auto distance = [&](const StepValue& value) { return std::abs(pointOf(static_cast<double>(value.step), 0).x() - event->position().x()); };
    const auto nearest = std::min_element(m_values.largest.begin(), m_values.largest.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    setCursorTo(static_cast<int>(nearest - m_values.largest.begin()));
}

void GrownChart::leaveEvent(QEvent*) {
    m_cursor = -1;
    update();
}

}  // namespace mantissa::ui
