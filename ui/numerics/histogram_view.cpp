#include "ui/numerics/histogram_view.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/numerics/heat_scale.h"
#include "ui/numerics/lens_colours.h"

namespace mantissa::ui {
namespace {

constexpr double margin = 3;  // exponents beside what there is to see

QColor faded(QColor colour, double opacity) {
    colour.setAlphaF(static_cast<float>(opacity));
    return colour;
}

}  // namespace

ExponentShares exponentShares(const ExponentHistogram& histogram) {
    ExponentShares shares;
    const auto count = static_cast<double>(histogram.count());
    shares.first = 256;
    for (const HistogramBin& bin : histogram.bins) {
        const int field = std::max(0, exponent_of_bin(bin.index) + 127);  // subnormal numbers together
        shares.share[static_cast<std::size_t>(field)] += static_cast<double>(bin.on_edge + bin.inside) / count;
        shares.first = std::min(shares.first, field);
        shares.last = std::max(shares.last, field);
    }
    return shares;
}

FormatZones zonesOf(NumberFormat format) {
    const FormatLimits& limits = limits_of(format);
    return {std::log2(limits.flush_limit()), std::log2(limits.min_normal), std::log2(limits.overflow_threshold)};
}

Zone zoneOf(int exponent, NumberFormat format) {
    const FormatZones zones = zonesOf(format);
    if (exponent < std::ceil(zones.subnormal)) {
        return Zone::Flush;
    }
    if (exponent < zones.normal) {
        return Zone::Subnormal;
    }
    return exponent < zones.overflow ? Zone::Normal : Zone::Overflow;
}

QString zoneName(Zone zone) {
    switch (zone) {
        case Zone::Flush: return HistogramView::tr("becomes 0");
        case Zone::Subnormal: return HistogramView::tr("subnormal");
        case Zone::Normal: return HistogramView::tr("normal");
        case Zone::Overflow: return HistogramView::tr("overflow");
    }
    return {};
}

HistogramView::HistogramView(Theme& theme, QWidget* parent) : QWidget(parent), m_theme(theme) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void HistogramView::setHistogram(const ExponentShares& shares) {
    m_shares = shares;
    double least = 1;
    for (const double share : shares.share) {
        least = share > 0 ? std::min(least, share) : least;
    }
    m_leastShare = std::clamp(std::pow(10, std::floor(std::log10(least))) / 2, 1e-9, 1e-2);
    updateRange();
    tell();
}

void HistogramView::setFormat(NumberFormat format) {
    m_format = format;
    updateRange();
    tell();
}

void HistogramView::setLog2Scale(int log2Scale) {
    m_log2Scale = log2Scale;
    updateRange();
    tell();
}

/// All values, at rest and moved, and all zones of a format that isn't as wide as float32.
void HistogramView::updateRange() {
    const FormatZones zones = zonesOf(m_format);
    const bool isWide = zones.overflow > 100;
    m_from = isWide ? 0 : zones.subnormal;
    m_to = isWide ? 0 : zones.overflow;
    if (!m_shares.isEmpty()) {
        const double first = exponentOf(m_shares.first), last = exponentOf(m_shares.last) + 1;
        m_from = std::min({isWide ? first : m_from, first, first + m_log2Scale});
        m_to = std::max({isWide ? last : m_to, last, last + m_log2Scale});
        if (isWide) {  // its limits come into sight when values are near them
            m_from = m_from < zones.normal + 12 ? std::min(m_from, zones.subnormal) : m_from;
            m_to = m_to > zones.overflow - 12 ? std::max(m_to, zones.overflow) : m_to;
        }
    }
    m_from = std::max(m_from - margin, -160.0);
    m_to = std::min(m_to + margin, 160.0);
    if (m_to - m_from < 24) {
        const double middle = (m_from + m_to) / 2;
        m_from = middle - 12;
        m_to = middle + 12;
    }
    update();
}

QRectF HistogramView::plot() const {
    const double line = fontMetrics().height();
    return QRectF(4, line + 4, width() - 8, height() - 2 * line - 10);
}

double HistogramView::xOf(double log2Magnitude) const {
    return plot().left() + std::clamp((log2Magnitude - m_from) / (m_to - m_from), 0.0, 1.0) * plot().width();
}

double HistogramView::heightOf(double share) const {
    if (share <= m_leastShare) {
        return share > 0 ? 1 : 0;
    }
    return plot().height() * std::log10(share / m_leastShare) / -std::log10(m_leastShare);
}

void HistogramView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (m_shares.isEmpty()) {
        painter.setPen(m_theme.colours().muted);
        painter.drawText(rect().adjusted(16, 4, -16, -4), Qt::AlignCenter | Qt::TextWordWrap, m_emptyText);
        return;
    }
    paintZones(painter);
    paintBars(painter);
    paintAxis(painter);
    if (hasFocus()) {
        painter.setPen(m_theme.colours().accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
}

/// Bands with their names above; the two lossy ones are hatched, in two directions.
void HistogramView::paintZones(QPainter& painter) const {
    const ThemeColours& colours = m_theme.colours();
    const FormatZones zones = zonesOf(m_format);
    const QRectF area = plot();
    const struct {
        Zone zone;
        double from, to;
        QColor fill;
        Qt::BrushStyle style;
    } bands[] = {{Zone::Flush, m_from, zones.subnormal, colours.muted, Qt::BDiagPattern},
                 {Zone::Subnormal, zones.subnormal, zones.normal, faded(colours.warning, 0.16), Qt::SolidPattern},
                 {Zone::Normal, zones.normal, zones.overflow, Qt::transparent, Qt::SolidPattern},
                 {Zone::Overflow, zones.overflow, m_to, colours.nonfinite, Qt::FDiagPattern}};
    for (const auto& band : bands) {
        const double left = xOf(band.from), right = xOf(band.to);
        if (right - left < 1) {
            continue;
        }
        const QRectF box(left, area.top(), right - left, area.height());
        painter.fillRect(box, band.style == Qt::SolidPattern ? QBrush(band.fill) : QBrush(faded(band.fill, 0.45), band.style));
        painter.setPen(colours.border);
        painter.drawLine(box.topLeft(), box.bottomLeft());
        painter.setPen(colours.muted);
        const QString name = zoneName(band.zone);
        const double wanted = fontMetrics().horizontalAdvance(name) + 2;
        // The last zone's name may begin over the zone before it; another that doesn't fit is left out.
        const bool isLast = band.zone == Zone::Overflow && wanted > box.width() && box.left() - xOf(m_from) > 3 * wanted;
        if (wanted <= box.width() || isLast) {
            const QRectF place(isLast ? right - wanted : left, 0, isLast ? wanted : right - left, area.top() - 1);
            painter.drawText(place, Qt::AlignCenter, name);
        }
    }
}

void HistogramView::paintBars(QPainter& painter) const {
    const QRectF area = plot();
    const QColor colour = formatColour(m_format, m_theme);
    const double width = area.width() / (m_to - m_from);
    const auto bar = [&](int field, double shift) {
        const double left = area.left() + (exponentOf(field) + shift - m_from) * width;
        const double height = heightOf(m_shares.share[static_cast<std::size_t>(field)]);
        return QRectF(left, area.bottom() - height, std::max(1.0, width - (width > 4 ? 1 : 0)), height).intersected(area);
    };
    for (int field = m_shares.first; field <= m_shares.last; ++field) {
        if (m_shares.share[static_cast<std::size_t>(field)] > 0) {
            painter.fillRect(bar(field, 0), m_log2Scale == 0 ? colour : faded(m_theme.colours().muted, 0.55));
        }
    }
    if (m_log2Scale != 0) {
        painter.setPen(QPen(colour, 1.2));
        painter.setBrush(faded(colour, 0.35));
        for (int field = m_shares.first; field <= m_shares.last; ++field) {
            if (m_shares.share[static_cast<std::size_t>(field)] > 0) {
                painter.drawRect(bar(field, m_log2Scale));
            }
        }
    }
    if (m_cursor) {
        painter.setPen(QPen(m_theme.colours().text, 1));
        painter.setBrush(Qt::NoBrush);
        const double left = area.left() + (exponentOf(*m_cursor) - m_from) * width;
        painter.drawRect(QRectF(left - 1, area.top(), width + 1, area.height()).intersected(area.adjusted(-1, 0, 1, 0)));
    }
}

void HistogramView::paintAxis(QPainter& painter) const {
    const QRectF area = plot();
    for (const double share : {0.1, 0.001, 1e-5, 1e-7}) {
        if (share > 3 * m_leastShare) {
            const double y = area.bottom() - heightOf(share);
            painter.setPen(QPen(m_theme.colours().grid, 1, Qt::DotLine));
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
            painter.setPen(m_theme.colours().muted);
            painter.drawText(QRectF(area.left() + 3, y - fontMetrics().height(), 80, fontMetrics().height()), Qt::AlignLeft, shareText(share));
        }
    }
    painter.setPen(m_theme.colours().border);
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    painter.setPen(m_theme.colours().muted);
    const int widest = fontMetrics().horizontalAdvance(QStringLiteral("2^-126")) + 16;
    int every = 4;
    while (every * area.width() / (m_to - m_from) < widest && every < 256) {
        every *= 2;
    }
    for (int exponent = static_cast<int>(std::ceil(m_from / every)) * every; exponent <= m_to; exponent += every) {
        const double x = xOf(exponent);
        const double half = widest / 2.0;
        painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 3));
        if (x - half >= -2 && x + half <= width() + 2) {
            painter.drawText(QRectF(x - half, area.bottom() + 3, widest, fontMetrics().height()), Qt::AlignCenter, powerText(exponent));
        }
    }
}

QString HistogramView::readout() const {
    if (m_shares.isEmpty() || !m_cursor) {
        return {};
    }
    const int exponent = exponentOf(*m_cursor);
    const QString share = shareText(m_shares.share[static_cast<std::size_t>(*m_cursor)]);
    const QString format = QString::fromLatin1(to_string(m_format));
    if (m_log2Scale == 0) {
        return tr("%1 to %2: %3 of the values, %4 in %5")
            .arg(powerText(exponent), powerText(exponent + 1), share, zoneName(zoneOf(exponent, m_format)), format);
    }
    return tr("%1 to %2: %3 of the values; with loss scale %4 at %5, %6 in %7")
        .arg(powerText(exponent), powerText(exponent + 1), share, powerText(m_log2Scale), powerText(exponent + m_log2Scale),
             zoneName(zoneOf(exponent + m_log2Scale, m_format)), format);
}

void HistogramView::setCursorField(std::optional<int> field) {
    if (field != m_cursor) {
        m_cursor = field;
        update();
        tell();
    }
}

void HistogramView::tell() {
    const QString text = readout();
    if (text != m_told) {
        m_told = text;
        setAccessibleDescription(text);
        if (hasFocus()) {
            QAccessibleEvent event(this, QAccessible::DescriptionChanged);
            QAccessible::updateAccessibility(&event);
        }
        Q_EMIT readoutChanged(text);
    }
}

void HistogramView::mouseMoveEvent(QMouseEvent* event) {
    const double at = m_from + (event->position().x() - plot().left()) / plot().width() * (m_to - m_from);
    const int field = static_cast<int>(std::floor(at)) + 127;
    setCursorField(!m_shares.isEmpty() && field >= 0 && field < 256 ? std::optional(field) : std::nullopt);
}

void HistogramView::leaveEvent(QEvent*) { setCursorField(std::nullopt); }

void HistogramView::keyPressEvent(QKeyEvent* event) {
    if (m_shares.isEmpty()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const int now = m_cursor.value_or(m_shares.last + 1);
    switch (event->key()) {
        case Qt::Key_Left: setCursorField(std::max(0, now - 1)); return;
        case Qt::Key_Right: setCursorField(std::min(255, m_cursor ? now + 1 : m_shares.first)); return;
        case Qt::Key_Home: setCursorField(m_shares.first); return;
        case Qt::Key_End: setCursorField(m_shares.last); return;
        default: QWidget::keyPressEvent(event);
    }
}

void HistogramView::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void HistogramView::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

}  // namespace mantissa::ui
