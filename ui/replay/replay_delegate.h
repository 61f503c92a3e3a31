#pragma once
// Colours of the page's two tables, from the models' facts: the best line, the birth, what was only carried on, good and bad cells.
#include <QStyledItemDelegate>

namespace mantissa::ui {

class Theme;

class ReplayDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    ReplayDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), m_theme(theme) {}

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

  private:
    [[nodiscard]] QColor rowFill(const QModelIndex& index) const;
    [[nodiscard]] QColor textColour(const QModelIndex& index) const;

    const Theme& m_theme;
};

}  // namespace mantissa::ui
