#include "ui/bridge/elided_label.h"

#include <QPainter>
#include <QStyle>

namespace mantissa::ui {

ElidedLabel::ElidedLabel(QWidget* parent) : QLabel(parent) {
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void ElidedLabel::setWholeText(const QString& text) {
    if (text != this->text()) {
        setText(text);
        setToolTip(text);
    }
}

QString ElidedLabel::shownText() const { return fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width()); }

void ElidedLabel::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    style()->drawItemText(&painter, contentsRect(), static_cast<int>(alignment()), palette(), isEnabled(), shownText(), foregroundRole());
}

}  // namespace mantissa::ui
