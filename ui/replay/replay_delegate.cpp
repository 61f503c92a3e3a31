#include "ui/replay/replay_delegate.h"

#include <QPainter>

#include "ui/bridge/theme.h"
#include "ui/replay/what_if_model.h"

namespace mantissa::ui {

void ReplayDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    if (const QColor fill = rowFill(index); fill.isValid()) {
        painter->fillRect(option.rect, fill);
    }
    QStyledItemDelegate::paint(painter, option, index);
}

void ReplayDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    const QColor colour = textColour(index);
    for (const QPalette::ColorRole role : {QPalette::Text, QPalette::HighlightedText}) {
        option->palette.setColor(role, colour);
    }
    const auto tone = static_cast<CellTone>(index.data(ToneRole).toInt());
    option->font.setBold(tone == CellTone::Bad || (index.data(BirthRole).toBool() && index.column() == 3));
}

QColor ReplayDelegate::rowFill(const QModelIndex& index) const {
    if (index.data(BestRole).toBool()) {
        return m_theme.colours().goodFill;
    }
    return index.data(BirthRole).toBool() ? m_theme.colours().errorFill : QColor();
}

QColor ReplayDelegate::textColour(const QModelIndex& index) const {
    const ThemeColours& c = m_theme.colours();
    if (index.data(CarriedRole).toBool()) {
        return c.muted;
    }
    switch (static_cast<CellTone>(index.data(ToneRole).toInt())) {
        case CellTone::Plain: return c.text;
        case CellTone::Quiet: return c.muted;
        case CellTone::Good: return c.good;
        case CellTone::Bad: return c.error;
    }
    return c.text;
}

}  // namespace mantissa::ui
