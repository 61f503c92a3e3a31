#include "ui/lessons/bit_delegate.h"

#include <QPainter>

#include "ui/bridge/theme.h"
#include "ui/lessons/bit_table_model.h"

namespace mantissa::ui {
namespace {

constexpr int gap = 5, allBits = 32;

}  // namespace

int BitDelegate::boxWidth(const QStyleOptionViewItem& option) const { return option.fontMetrics.horizontalAdvance(QLatin1Char('0')); }

QSize BitDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {allBits * boxWidth(option) + 2 * gap + 10, option.fontMetrics.height() + 10};
}

void BitDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    QStyleOptionViewItem ground = option;
    initStyleOption(&ground, index);
    ground.text.clear();
    const QStyle* style = option.widget->style();
    style->drawControl(QStyle::CE_ItemViewItem, &ground, painter, option.widget);
    const ThemeColours& colours = m_theme.colours();
    const std::pair<int, QColor> groups[] = {{BitTableModel::SignRole, colours.nonfinite}, {BitTableModel::ExponentRole, colours.fp16}, {BitTableModel::MantissaRole, colours.bf16}};
    const int width = boxWidth(option);
    QRect box(option.rect.left() + 5, option.rect.top() + 4, width, option.rect.height() - 8);
    painter->save();
    painter->setFont(option.font);
    for (const auto& [role, colour] : groups) {
        QColor fill = colour;
        fill.setAlpha(m_theme.isDark() ? 90 : 60);
        for (const QChar digit : index.data(role).toString()) {
            painter->fillRect(box.adjusted(0, 0, -1, 0), digit == QLatin1Char('1') ? fill : QColor(Qt::transparent));
            painter->setPen(digit == QLatin1Char('1') ? colours.text : colours.muted);
            painter->drawText(box, Qt::AlignCenter, digit);
            box.translate(width, 0);
        }
        painter->fillRect(QRect(box.left() - width * static_cast<int>(index.data(role).toString().size()), box.bottom() + 1, width * static_cast<int>(index.data(role).toString().size()) - 1, 2), colour);
        box.translate(gap, 0);
    }
    painter->restore();
}

}  // namespace mantissa::ui
