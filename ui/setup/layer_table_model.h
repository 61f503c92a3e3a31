#pragma once
// The layers of a list as a table: what it is, output of a sample, weights, memory. Facts only; the layer that doesn't fit is marked and
// has its sentence as a tool tip, those behind it have no sizes.
#include <QAbstractTableModel>
#include <vector>

#include "layers/layer_rows.h"

namespace mantissa::ui {

class LayerTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Path, Layer, Output, Parameters, Memory, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;
    void setRows(std::vector<layers::LayerRow> rows);
    [[nodiscard]] const std::vector<layers::LayerRow>& rows() const { return m_rows; }
    /// The row of the layer that doesn't fit; -1: all fit.
    [[nodiscard]] int wrongRow() const;
    void retranslate();

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    std::vector<layers::LayerRow> m_rows;
};

}  // namespace mantissa::ui
