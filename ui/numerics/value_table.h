#pragma once
// A table of values: the twin of every chart of the page, and its tables. The rows come whole; while their number stays the same, cells
// that changed are told one by one in a single signal, so that a selection survives the next refresh.
#include <QAbstractTableModel>
#include <QString>
#include <vector>

class QTableView;

namespace mantissa::ui {

struct ValueCell {
    QString text;
    double number = 0;  // sorts; NaN: sorts as text
    bool isBad = false;
    bool operator==(const ValueCell& other) const;
};
[[nodiscard]] ValueCell textCell(const QString& text);
[[nodiscard]] ValueCell numberCell(const QString& text, double number, bool isBad = false);

struct ValueTable {
    std::vector<QString> columns;
    std::vector<std::vector<ValueCell>> rows;  // each as long as `columns`
};

class ValueTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Role { SortRole = Qt::UserRole, BadRole };

    using QAbstractTableModel::QAbstractTableModel;

    void setTable(ValueTable table);
    [[nodiscard]] const ValueTable& table() const { return m_table; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    ValueTable m_table;
};

/// A view on the model that sorts by a click on a header; rows are as they come until then.
QTableView* makeValueView(ValueTableModel* model, const char* name, QWidget* parent);

}  // namespace mantissa::ui
