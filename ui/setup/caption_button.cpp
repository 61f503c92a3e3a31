#include "ui/setup/caption_button.h"

#include <QPainter>
#include <QPainterPath>

#include "ui/bridge/theme.h"

namespace mantissa::ui {
namespace {

constexpr int padding = 11, markWidth = 13, gap = 6;

}  // namespace

CaptionButton::CaptionButton(const Theme& theme, Mark mark, QWidget* parent)
    : QAbstractButton(parent), m_theme(theme), m_mark(mark) {
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(mark == Mark::CheckBox ? QSizePolicy::Fixed : QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void CaptionButton::setCaption(const QString& strong, const QString& quiet) {
    m_strong = strong;
    m_quiet = quiet;
    setAccessibleName(strong);
    setAccessibleDescription(quiet);
    updateGeometry();
    update();
}

void CaptionButton::setEdge(const QColor& colour) {
    m_edge = colour;
    update();
}

QFont CaptionButton::strongFont() const {
    QFont font = this->font();
    font.setWeight(QFont::DemiBold);
    return font;
}

QSize CaptionButton::sizeHint() const {
    const int strong = QFontMetrics(strongFont()).horizontalAdvance(m_strong);
    const int quiet = m_quiet.isEmpty() ? 0 : fontMetrics().horizontalAdvance(m_quiet) + gap;
    return {2 * padding + markWidth + gap + strong + quiet + 2, fontMetrics().height() + 14};
}

QSize CaptionButton::minimumSizeHint() const {
    if (m_mark == Mark::CheckBox) {
        return sizeHint();
    }
    const int strong = QFontMetrics(strongFont()).horizontalAdvance(m_strong);
    return {2 * padding + markWidth + gap + strong + 2, sizeHint().height()};
}

void CaptionButton::nextCheckState() {
    if (!m_pinned) {
        QAbstractButton::nextCheckState();
    }
}

void CaptionButton::enterEvent(QEnterEvent* event) {
    QAbstractButton::enterEvent(event);
    update();
}

void CaptionButton::leaveEvent(QEvent* event) {
    QAbstractButton::leaveEvent(event);
    update();
}

void CaptionButton::paintEvent(QPaintEvent*) {
    const ThemeColours& colours = m_theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor edge = colours.border;
    if (isEnabled() && m_mark == Mark::CheckBox && isChecked() && m_edge.isValid()) {
        edge = m_edge;
    } else if (isEnabled() && underMouse()) {
        edge = colours.muted;
    }
    painter.setPen(QPen(hasFocus() ? colours.accent : edge, hasFocus() ? 2 : 1));
    painter.setBrush(m_mark == Mark::CheckBox ? colours.button : colours.surface);
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 5, 5);
    const QColor text = isEnabled() ? colours.text : colours.muted;
    paintMark(painter, QRect(padding, (height() - markWidth) / 2, markWidth, markWidth), text);

    int x = padding + markWidth + gap;
    painter.setFont(strongFont());
    painter.setPen(text);
    painter.drawText(QRect(x, 0, width() - x - padding, height()), Qt::AlignVCenter | Qt::AlignLeft,
                     m_strong);
    x += painter.fontMetrics().horizontalAdvance(m_strong) + gap;
    painter.setFont(font());
    painter.setPen(colours.muted);
    const QRect rest(x, 0, qMax(0, width() - x - padding), height());
    painter.drawText(rest, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(m_quiet, Qt::ElideRight, rest.width()));
}

void CaptionButton::paintMark(QPainter& painter, const QRect& place, const QColor& colour) const {
    if (m_mark == Mark::CheckBox) {
        painter.setPen(QPen(colour, 1.2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5), 2, 2);
        if (isChecked()) {
            QPainterPath tick;
            tick.moveTo(place.left() + 3, place.center().y());
            tick.lineTo(place.left() + 5.5, place.bottom() - 2.5);
            tick.lineTo(place.right() - 1.5, place.top() + 3);
            painter.setPen(QPen(colour, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
            painter.drawPath(tick);
        }
        return;
    }
    QPolygonF triangle;
    const QPointF middle = QRectF(place).center();
    if (isChecked()) {
        triangle << middle + QPointF(-4, -2.5) << middle + QPointF(4, -2.5) << middle + QPointF(0, 3);
    } else {
        triangle << middle + QPointF(-2.5, -4) << middle + QPointF(-2.5, 4) << middle + QPointF(3, 0);
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawPolygon(triangle);
}

}  // namespace mantissa::ui
