#pragma once
// Words typed into the filter box, sorting by value, and the colours of the states (facts stay in RunsModel).
#include <QSortFilterProxyModel>

namespace mantissa::ui {

class Theme;

class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    explicit RunsFilter(const Theme& theme, QObject* parent = nullptr);
    /// Rows stay that hold every word, in any case and order.
    void setWords(const QString& typed);
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

  protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

  private:
    const Theme& m_theme;
    QStringList m_words;
};

}  // namespace mantissa::ui
