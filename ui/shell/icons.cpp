#include "ui/shell/icons.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace mantissa::ui {
namespace {

QPixmap drawn(QSvgRenderer& picture, const QColor& colour, int size) {
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    picture.render(&painter, QRectF(0, 0, size, size));
    painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
    painter.fillRect(pixmap.rect(), colour);
    return pixmap;
}

}  // namespace

QIcon tintedIcon(const QString& name, const QColor& normal, const QColor& on) {
    QSvgRenderer picture(QStringLiteral(":/icons/%1.svg").arg(name));
    QIcon icon;
    for (const int size : {20, 40, 60}) {  // 100, 200 and 300 %
        icon.addPixmap(drawn(picture, normal, size), QIcon::Normal, QIcon::Off);
        icon.addPixmap(drawn(picture, on, size), QIcon::Normal, QIcon::On);
    }
    return icon;
}

QIcon applicationIcon() {
    return QIcon(QStringLiteral(":/icons/mantissa.svg"));
}

}  // namespace mantissa::ui
