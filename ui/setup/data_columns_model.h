#pragma once
// Columns of a table and what is in them, the whole last. A check mark says that the column is a feature.
#include <QAbstractTableModel>
#include <memory>

#include "ui/setup/data_reader.h"

namespace mantissa::ui {

class DataColumnsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Name, Smallest, Largest, Mean, Missing, Infinite, SquareInfinite, Flushed, ColumnCount };
    using QAbstractTableModel::QAbstractTableModel;

    /// Null: nothing is known.
    void setLook(std::shared_ptr<const DataLook> look);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

  Q_SIGNALS:
    /// Names of the columns that are no features, after a click on a check mark.
    void leftOut(const std::vector<std::string>& names);

  private:
    [[nodiscard]] const ColumnStatistics* statisticsOf(int row) const;  // null: left out
    [[nodiscard]] bool isColumn(int row) const;                        // not the whole
    [[nodiscard]] QString cell(const ColumnStatistics& statistics, int column) const;

    std::shared_ptr<const DataLook> m_look;
};

}  // namespace mantissa::ui
