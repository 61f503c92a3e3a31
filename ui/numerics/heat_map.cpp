#include "ui/numerics/heat_map.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "ui/numerics/heat_scale.h"

namespace mantissa::ui {
namespace {

constexpr int shortestRow = 17, tallestRow = 64;

QString stepsText(const HeatColumn& column) {
    return column.first == column.last ? HeatMap::tr("step %1").arg(column.first)
                                       : HeatMap::tr("steps %1 to %2").arg(column.first).arg(column.last);
}

}  // namespace

HeatMap::HeatMap(Theme& theme, QWidget* parent) : QAbstractScrollArea(parent), m_theme(theme) {
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    viewport()->setAutoFillBackground(false);
    connect(&theme, &Theme::changed, this, [this] { viewport()->update(); });
}

void HeatMap::setHeat(std::shared_ptr<const TensorHeat> heat) {
    m_heat = std::move(heat);
    m_hover.reset();
    setCurrent(m_currentTensor, m_currentStep);
    layOut();
    viewport()->update();
}

void HeatMap::setShown(HeatQuantity quantity, NumberFormat format) {
    m_quantity = quantity;
    m_format = format;
    viewport()->update();
    tell();
}

void HeatMap::setEmptyText(const QString& text) {
    m_emptyText = text;
    if (!m_heat || m_heat->isEmpty()) {
        setAccessibleDescription(text);
    }
    viewport()->update();
}

void HeatMap::setCurrent(const std::string& tensor, std::optional<std::int64_t> step) {
    m_currentTensor = tensor;
    m_currentStep = step;
    m_current.reset();
    if (m_heat && !m_heat->isEmpty()) {
        const auto row = m_heat->indexOf(tensor);
        const auto column = step ? m_heat->columnOf(*step) : std::optional(m_heat->columns().size() - 1);
        if (row && column) {
            m_current = Place{*row, *column};
        }
    }
    viewport()->update();
    tell();
}

int HeatMap::namesWidth() const {
    int widest = 40;  // and two pixels, since advances are rounded
    for (const std::string& name : m_heat->tensors()) {
        widest = std::max(widest, fontMetrics().horizontalAdvance(QString::fromStdString(name)));
    }
    return std::min(widest, viewport()->width() * 2 / 5) + namesGap + 2;
}

QRect HeatMap::plot() const {
    const int left = namesWidth();
    const int below = 2 * fontMetrics().height() + 6;  // the steps, then the legend
    return {left, 0, std::max(1, viewport()->width() - left - 2), std::max(1, viewport()->height() - below)};
}

int HeatMap::rowHeight() const {
    const auto rows = static_cast<int>(std::max<std::size_t>(1, m_heat->tensors().size()));
    return std::clamp(plot().height() / rows, std::max(shortestRow, fontMetrics().height()), tallestRow);
}

void HeatMap::layOut() {
    if (!m_heat || m_heat->isEmpty()) {
        verticalScrollBar()->setRange(0, 0);
        return;
    }
    const int wanted = rowHeight() * static_cast<int>(m_heat->tensors().size());
    verticalScrollBar()->setPageStep(plot().height());
    verticalScrollBar()->setSingleStep(rowHeight());
    verticalScrollBar()->setRange(0, std::max(0, wanted - plot().height()));
}

QRectF HeatMap::cellRect(const Place& place) const {
    const HeatAxis::Pixels pixels = axis().pixelsOf(place.column);
    return {plot().left() + pixels.from, static_cast<double>(static_cast<int>(place.tensor) * rowHeight() - verticalScrollBar()->value()),
            pixels.to - pixels.from, static_cast<double>(rowHeight())};
}

QPoint HeatMap::positionOf(std::size_t tensor, std::size_t column) const {
    const QRectF box = cellRect({tensor, column});
    // Of one that is narrower than a pixel: the pixel that shows it.
    return {box.width() > 2 ? static_cast<int>(box.center().x()) : static_cast<int>(std::lround(box.left())), static_cast<int>(box.center().y())};
}

std::optional<HeatMap::Place> HeatMap::placeAt(const QPoint& at) const {
    if (!m_heat || m_heat->isEmpty() || at.y() >= plot().height() || at.x() < 0 || at.x() > plot().right()) {
        return std::nullopt;
    }
    const auto row = static_cast<std::size_t>((at.y() + verticalScrollBar()->value()) / rowHeight());
    if (row >= m_heat->tensors().size()) {
        return std::nullopt;
    }
    if (at.x() < plot().left()) {  // on the name: the last step that was recorded
        return Place{row, m_heat->columns().size() - 1};
    }
    const HeatAxis steps = axis();
    const auto pixel = std::min(static_cast<std::size_t>(at.x() - plot().left()), steps.shown().size() - 1);
    const HeatAxis::Columns columns = steps.shown()[pixel];
    if (columns.isEmpty()) {
        return std::nullopt;  // nothing was recorded there
    }
    Place worst{row, columns.from};
    for (std::size_t column = columns.from + 1; column < columns.to; ++column) {
        const auto value = m_heat->value(row, column, m_quantity, m_format), before = m_heat->value(row, worst.column, m_quantity, m_format);
        if (value && (!before || isWorse(m_quantity, *value, *before))) {
            worst.column = column;
        }
    }
    return worst;
}

void HeatMap::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    const ThemeColours& colours = m_theme.colours();
    if (!m_heat || m_heat->isEmpty()) {
        painter.setPen(colours.muted);
        painter.drawText(viewport()->rect().adjusted(24, 8, -24, -8), Qt::AlignCenter | Qt::TextWordWrap, m_emptyText);
        return;
    }
    painter.save();
    painter.setClipRect(QRect(0, 0, viewport()->width(), plot().height()));
    paintCells(painter);
    paintNames(painter);
    if (m_hover) {
        paintFrame(painter, *m_hover, colours.muted);
    }
    if (m_current) {
        paintFrame(painter, *m_current, hasFocus() ? colours.accent.lighter(m_theme.isDark() ? 150 : 100) : colours.text);
    }
    painter.restore();
    paintSteps(painter);
    paintLegend(painter);
}

QString HeatMap::textOf(const Place& place) const {
    const HeatCell* cell = m_heat->cell(place.tensor, place.column);
    const HeatColumn& column = m_heat->columns()[place.column];
    QStringList parts{QString::fromStdString(m_heat->tensors()[place.tensor]), stepsText(column)};
    if (!cell) {
        parts << tr("not recorded");
        return parts.join(QStringLiteral(" · "));
    }
    if (const auto value = heatValue(*cell, m_quantity, m_format)) {
        const bool hasFormat = m_quantity != HeatQuantity::NonfiniteShare && m_quantity != HeatQuantity::UnmovedShare;
        parts << (hasFormat ? tr("%1 in %2: %3").arg(quantityName(m_quantity), QString::fromLatin1(to_string(m_format)), heatText(m_quantity, *value))
                            : tr("%1: %2").arg(quantityName(m_quantity), heatText(m_quantity, *value)));
    } else {
        parts << tr("%1: not measured").arg(quantityName(m_quantity));
    }
    if (cell->lossScale != 1) {
        parts << tr("at loss scale 2^%1").arg(std::log2(cell->lossScale), 0, 'g', 4);
    }
    if (cell->nonfinite > 0) {
        parts << tr("%1 of it NaN or Inf").arg(shareText(cell->nonfinite));
    }
    return parts.join(QStringLiteral(" · "));
}

QString HeatMap::readout() const {
    if (!m_heat || m_heat->isEmpty()) {
        return {};
    }
    return m_hover ? textOf(*m_hover) : m_current ? textOf(*m_current) : QString();
}

void HeatMap::tell() {
    const QString text = readout();
    if (text == m_told) {
        return;
    }
    m_told = text;
    setAccessibleDescription(text.isEmpty() ? m_emptyText : text);
    if (hasFocus()) {
        QAccessibleEvent event(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&event);
    }
    Q_EMIT readoutChanged(text);
}

void HeatMap::moveTo(Place place) {
    m_current = place;
    const QRectF box = cellRect(place);
    if (box.top() < 0) {
        verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(box.top()));
    } else if (box.bottom() > plot().height()) {
        verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(box.bottom()) - plot().height());
    }
    const HeatCell* cell = m_heat->cell(place.tensor, place.column);
    m_currentTensor = m_heat->tensors()[place.tensor];
    m_currentStep = cell ? cell->step : m_heat->columns()[place.column].last;
    viewport()->update();
    tell();
    Q_EMIT picked(QString::fromStdString(m_currentTensor), *m_currentStep);
}

void HeatMap::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    layOut();
}

bool HeatMap::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave) {
        leaveEvent(event);
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void HeatMap::mouseMoveEvent(QMouseEvent* event) {
    const auto place = placeAt(event->pos());
    if (place != m_hover) {
        m_hover = place;
        viewport()->update();
        tell();
    }
}

void HeatMap::leaveEvent(QEvent*) {
    if (m_hover) {
        m_hover.reset();
        viewport()->update();
        tell();
    }
}

void HeatMap::mousePressEvent(QMouseEvent* event) {
    if (const auto place = placeAt(event->pos()); place && event->button() == Qt::LeftButton) {
        moveTo(*place);
    }
}

void HeatMap::keyPressEvent(QKeyEvent* event) {
    if (!m_heat || m_heat->isEmpty()) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    Place place = m_current.value_or(Place{0, m_heat->columns().size() - 1});
    const std::size_t lastRow = m_heat->tensors().size() - 1, lastColumn = m_heat->columns().size() - 1;
    switch (event->key()) {
        case Qt::Key_Left: place.column -= place.column > 0 ? 1 : 0; break;
        case Qt::Key_Right: place.column = std::min(place.column + 1, lastColumn); break;
        case Qt::Key_Up: place.tensor -= place.tensor > 0 ? 1 : 0; break;
        case Qt::Key_Down: place.tensor = std::min(place.tensor + 1, lastRow); break;
        case Qt::Key_Home: place.column = 0; break;
        case Qt::Key_End: place.column = lastColumn; break;
        case Qt::Key_PageUp: place.tensor = 0; break;
        case Qt::Key_PageDown: place.tensor = lastRow; break;
        case Qt::Key_Return:
        case Qt::Key_Enter: break;
        default: QAbstractScrollArea::keyPressEvent(event); return;
    }
    moveTo(place);
}

void HeatMap::focusInEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void HeatMap::focusOutEvent(QFocusEvent* event) {
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

}  // namespace mantissa::ui
