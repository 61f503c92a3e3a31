// RunChart: painting on demand, mouse, wheel and keyboard.
#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "ui/charts/chart_painter.h"
#include "ui/charts/run_chart.h"

namespace mantissa::ui {

void RunChart::drawBackground(QPainter* painter, const QRectF& /*rect*/) {
    painter->setFont(font());
    ChartPainter(*painter, m_scene, m_theme.colours()).paintBelow();
}

void RunChart::drawForeground(QPainter* painter, const QRectF& /*rect*/) {
    painter->setFont(font());
    ChartPainter(*painter, m_scene, m_theme.colours()).paintAbove();
    if (hasFocus() && !m_isExporting) {
        painter->setRenderHint(QPainter::Antialiasing, true);
        painter->setPen(QPen(m_theme.colours().accent, 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(m_scene.view.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    }
}

void RunChart::paintOn(QPainter& painter, const QRectF& target) {
    m_isExporting = true;  // the focus frame is no part of the picture
    painter.fillRect(target, m_theme.colours().surface);
    render(&painter, target, viewport()->rect(), Qt::IgnoreAspectRatio);
    m_isExporting = false;
}

double RunChart::xAt(double pixel) const {
    const double share = (pixel - m_scene.plot.left()) / m_scene.plot.width();
    const double x = m_scene.x.from + std::clamp(share, 0.0, 1.0) * m_scene.x.width();
    return m_options.x == XKind::Time ? x : std::round(x);
}

void RunChart::wheelEvent(QWheelEvent* event) {
    const double turns = event->angleDelta().y() / 120.0;
    if (turns == 0) {
        const double sideways = event->angleDelta().x() / 120.0;
        m_range.pan(-0.1 * sideways);
    } else if (event->modifiers().testFlag(Qt::ShiftModifier)) {
        m_range.pan(-0.1 * turns);
    } else if (turns < 0 && !m_range.isZoomed()) {
        event->ignore();  // nothing to zoom out of: the page may scroll
        return;
    } else {
        m_range.zoomBy(std::pow(0.8, turns), xAt(event->position().x()));
    }
    event->accept();
}

void RunChart::mousePressEvent(QMouseEvent* event) {
    m_isPanning = event->button() == Qt::MiddleButton || event->modifiers().testFlag(Qt::ShiftModifier);
    m_pressedAt = event->position();
    event->accept();
}

void RunChart::mouseMoveEvent(QMouseEvent* event) {
    const QPointF at = event->position();
    if (m_pressedAt && m_isPanning) {
        m_range.pan((m_pressedAt->x() - at.x()) / m_scene.plot.width());
        m_pressedAt = at;
    } else if (m_pressedAt && std::abs(at.x() - m_pressedAt->x()) >= QApplication::startDragDistance()) {
        const double left = std::clamp(std::min(m_pressedAt->x(), at.x()), m_scene.plot.left(), m_scene.plot.right());
        const double right = std::clamp(std::max(m_pressedAt->x(), at.x()), m_scene.plot.left(), m_scene.plot.right());
        m_scene.rubberBand = QRectF(left, m_scene.plot.top(), right - left, m_scene.plot.height());
        viewport()->update();
    } else if (at.x() >= m_scene.plot.left() && at.x() <= m_scene.plot.right()) {
        m_range.setCursor(xAt(at.x()));
    }
    event->accept();
}

void RunChart::mouseReleaseEvent(QMouseEvent* event) {
    if (m_scene.rubberBand) {
        const QRectF band = *m_scene.rubberBand;
        m_scene.rubberBand.reset();
        m_range.zoomTo({xAt(band.left()), xAt(band.right())});
        viewport()->update();
    } else if (m_pressedAt && !m_isPanning && longest()) {
        Q_EMIT stepPicked(std::llround(xAt(m_pressedAt->x())));
    }
    m_pressedAt.reset();
    m_isPanning = false;
    event->accept();
}

void RunChart::mouseDoubleClickEvent(QMouseEvent* event) {
    m_pressedAt.reset();
    m_range.reset();
    event->accept();
}

bool RunChart::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString note = noteAt(help->pos());
        note.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), note, viewport());
        return true;
    }
    return QChartView::viewportEvent(event);
}

void RunChart::leaveEvent(QEvent* event) {
    if (!hasFocus()) {  // with the keyboard's focus the cursor belongs to the keys
        m_range.setCursor(std::nullopt);
    }
    QChartView::leaveEvent(event);
}

void RunChart::focusInEvent(QFocusEvent* event) {
    QChartView::focusInEvent(event);
    updateCursor();
    viewport()->update();  // the focus frame
}

void RunChart::focusOutEvent(QFocusEvent* event) {
    QChartView::focusOutEvent(event);
    updateCursor();
    viewport()->update();
}

const RunSeries* RunChart::longest() const {
    const RunSeries* best = nullptr;
    for (const ChartRun& run : m_runs) {
        if (!run.series->isEmpty() && (!best || run.series->size() > best->size())) {
            best = run.series;
        }
    }
    return best;
}

void RunChart::moveCursor(std::int64_t steps) {
    const RunSeries* series = longest();
    if (!series) {
        return;
    }
    if (!m_range.cursor()) {
        setCursorIndex(static_cast<std::int64_t>(series->size()) - 1);
        return;
    }
    const std::vector<double>& x = series->x(m_options.x);
    const auto here = std::upper_bound(x.begin(), x.end(), *m_range.cursor() + 1e-9);
    setCursorIndex(std::max<std::int64_t>(here - x.begin() - 1, 0) + steps);
}

void RunChart::setCursorIndex(std::int64_t index) {
    const RunSeries* series = longest();
    if (!series) {
        return;
    }
    const auto last = static_cast<std::int64_t>(series->size()) - 1;
    const double x = series->x(m_options.x)[static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, last))];
    m_range.reveal(x);
    m_range.setCursor(x);
}

/// The next step, of any run, that wasn't simply applied; from the first one again after the last.
void RunChart::jumpToBadStep() {
    const double here = m_range.cursor().value_or(-1);
    std::optional<double> next, first;
    for (const ChartRun& run : m_runs) {
        const std::vector<double>& x = run.series->x(m_options.x);
        for (const StepMark& mark : run.series->marks()) {
            const double at = x[mark.index];
            first = std::min(first.value_or(at), at);
            if (at > here + 1e-9) {
                next = std::min(next.value_or(at), at);
                break;
            }
        }
    }
    if (const std::optional<double> target = next ? next : first) {
        m_range.reveal(*target);
        m_range.setCursor(target);
    }
}

void RunChart::keyPressEvent(QKeyEvent* event) {
    const bool isFast = event->modifiers().testFlag(Qt::ControlModifier);
    switch (event->key()) {
        case Qt::Key_Left: moveCursor(isFast ? -10 : -1); break;
        case Qt::Key_Right: moveCursor(isFast ? 10 : 1); break;
        case Qt::Key_Home: setCursorIndex(0); break;
        case Qt::Key_End: setCursorIndex(std::numeric_limits<std::int64_t>::max()); break;
        case Qt::Key_PageUp: m_range.pan(-0.8); break;
        case Qt::Key_PageDown: m_range.pan(0.8); break;
        case Qt::Key_Plus:
        case Qt::Key_Equal: m_range.zoomBy(0.5, m_range.cursor().value_or((m_scene.x.from + m_scene.x.to) / 2)); break;
        case Qt::Key_Minus: m_range.zoomBy(2.0, m_range.cursor().value_or((m_scene.x.from + m_scene.x.to) / 2)); break;
        case Qt::Key_0: m_range.reset(); break;
        case Qt::Key_Backspace: m_range.back(); break;
        case Qt::Key_F: m_range.setFollowing(!m_range.isFollowing()); break;
        case Qt::Key_N: jumpToBadStep(); break;
        case Qt::Key_Escape: m_range.setCursor(std::nullopt); break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (m_range.cursor()) {
                Q_EMIT stepPicked(std::llround(*m_range.cursor()));
            }
            break;
        default: QChartView::keyPressEvent(event); return;
    }
    event->accept();
}

}  // namespace mantissa::ui
