#pragma once
// Paints a number's bits as three groups of small boxes: sign, exponent, mantissa, each in a colour of its own.
#include <QStyledItemDelegate>

namespace mantissa::ui {

class Theme;

class BitDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    BitDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), m_theme(theme) {}
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

  private:
    [[nodiscard]] int boxWidth(const QStyleOptionViewItem& option) const;
    const Theme& m_theme;
};

}  // namespace mantissa::ui
