#include "ui/numerics/loss_curve.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPolygonF>
#include <algorithm>
#include <cmath>

#include "ui/numerics/heat_scale.h"
#include "ui/numerics/lens_colours.h"

namespace mantissa::ui {
namespace {

constexpr double leastShare = 1e-5;  // 0.001 %: below it the line lies on the ground, as 0 does

}  // namespace

LossCurve::LossCurve(Theme& theme, QWidget* parent) : QWidget(parent), m_theme(theme) {
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void LossCurve::setCurves(const std::optional<std::array<LensCurve, 4>>& curves) {
    m_curves = curves;
    update();
}

void LossCurve::setFormat(NumberFormat format) {
    m_format = format;
    update();
}

void LossCurve::setLog2Scale(int log2Scale) {
    m_log2Scale = log2Scale;
    update();
}

void LossCurve::setScaler(std::optional<double> log2Scale) {
    m_scaler = log2Scale;
    update();
}

QRectF LossCurve::plot() const {
    const double left = fontMetrics().horizontalAdvance(QStringLiteral("0.01 %")) + 8;
    const double line = fontMetrics().height();
    return {left, 5, std::max(10.0, width() - left - 10), std::max(10.0, height() - line - 12)};
}

double LossCurve::xOf(double log2Scale) const {
    const double part = (log2Scale - lens_lowest_log2_scale) / (lens_highest_log2_scale - lens_lowest_log2_scale);
    return plot().left() + std::clamp(part, 0.0, 1.0) * plot().width();
}

double LossCurve::yOf(double share) const {
    const double level = share <= leastShare ? 0 : std::log10(share / leastShare) / -std::log10(leastShare);
    return plot().bottom() - level * plot().height();
}

void LossCurve::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintGrid(painter);
    painter.setRenderHint(QPainter::Antialiasing);
    if (m_curves) {
        for (const bool isTop : {false, true}) {  // the chosen format lies above the others
            for (std::size_t i = 0; i < lensFormats.size(); ++i) {
                if ((lensFormats[i] == m_format) != isTop) {
                    continue;
                }
                QPolygonF line;
                for (const LensCurve::Point& point : (*m_curves)[i].points) {
                    line << QPointF(xOf(point.log2_scale), yOf(point.reading.lost()));
                }
                painter.setPen(formatPen(lensFormats[i], m_theme, isTop ? 2.4 : 1.3));
                painter.drawPolyline(line);
            }
        }
    }
    paintMarks(painter);
    if (hasFocus()) {
        painter.setPen(m_theme.colours().accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
}

void LossCurve::paintGrid(QPainter& painter) const {
    const QRectF area = plot();
    const double line = fontMetrics().height();
    for (const double share : {0.0, 1e-4, 1e-2, 1.0}) {
        const double y = yOf(share);
        painter.setPen(m_theme.colours().grid);
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        painter.setPen(m_theme.colours().muted);
        const double top = std::clamp(y - line / 2, 0.0, height() - line);
        painter.drawText(QRectF(0, top, area.left() - 6, line), Qt::AlignRight | Qt::AlignVCenter, shareText(share));
    }
    const int every = area.width() / 6 < fontMetrics().horizontalAdvance(QStringLiteral("2^-24")) + 14 ? 16 : 8;
    for (int scale = lens_lowest_log2_scale; scale <= lens_highest_log2_scale; scale += every) {
        const double x = xOf(scale);
        const double half = fontMetrics().horizontalAdvance(powerText(scale)) / 2.0 + 1;
        const double middle = std::clamp(x, half, width() - half);
        painter.drawText(QRectF(middle - half, area.bottom() + 4, 2 * half, line), Qt::AlignCenter, powerText(scale));
    }
}

void LossCurve::paintMarks(QPainter& painter) const {
    const QRectF area = plot();
    const ThemeColours& colours = m_theme.colours();
    painter.setPen(QPen(colours.text, 1));
    const double at = xOf(m_log2Scale);
    painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
    if (!m_scaler) {
        return;
    }
    const double x = xOf(*m_scaler);
    painter.setBrush(colours.fp16);
    painter.setPen(Qt::NoPen);
    painter.drawPolygon(QPolygonF({QPointF(x, area.bottom() - 8), QPointF(x - 5, area.bottom() + 1), QPointF(x + 5, area.bottom() + 1)}));
    const QString text = tr("scaler %1").arg(powerText(static_cast<int>(std::lround(*m_scaler))));
    const double width = fontMetrics().horizontalAdvance(text) + 4;
    const double left = x + 8 + width < area.right() ? x + 8 : x - 8 - width;
    const QRectF box(left, area.bottom() - fontMetrics().height() - 2, width, fontMetrics().height());
    QColor ground = colours.surface;
    ground.setAlphaF(0.8F);
    painter.fillRect(box, ground);
    painter.setPen(colours.fp16);
    painter.drawText(box, Qt::AlignCenter, text);
}

void LossCurve::pick(double x) {
    const double part = (x - plot().left()) / plot().width();
    const double scale = lens_lowest_log2_scale + part * (lens_highest_log2_scale - lens_lowest_log2_scale);
    Q_EMIT scalePicked(static_cast<int>(std::lround(std::clamp<double>(scale, lens_lowest_log2_scale, lens_highest_log2_scale))));
}

void LossCurve::mousePressEvent(QMouseEvent* event) { pick(event->position().x()); }

void LossCurve::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons().testFlag(Qt::LeftButton)) {
        pick(event->position().x());
    }
}

void LossCurve::keyPressEvent(QKeyEvent* event) {
    const auto to = [this](int scale) { Q_EMIT scalePicked(std::clamp(scale, lens_lowest_log2_scale, lens_highest_log2_scale)); };
    switch (event->key()) {
        case Qt::Key_Left: to(m_log2Scale - 1); return;
        case Qt::Key_Right: to(m_log2Scale + 1); return;
        case Qt::Key_Home: to(lens_lowest_log2_scale); return;
        case Qt::Key_End: to(lens_highest_log2_scale); return;
        default: QWidget::keyPressEvent(event);
    }
}

void LossCurve::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void LossCurve::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

}  // namespace mantissa::ui
