#pragma once
// "In this step": the ops that lead to the bad value, the one that made it, the first that carried it on. A row each.
#include <QAbstractTableModel>
#include <vector>

#include "ui/bridge/replay_reader.h"

namespace mantissa::ui {

class StepOpsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Where, Op, In, Out, Dtype, Note, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;
    void setSnapshot(const ReplaySnapshot& snapshot);
    void retranslate();
    /// Row of the producer; −1 without one.
    [[nodiscard]] int birthRow() const { return m_birthRow; }
    /// Non-finite tensors downstream that have no row. An incident counts what was looked at again when the run met it, a replay all of the step.
    [[nodiscard]] std::int64_t further() const { return m_further; }
    [[nodiscard]] bool isOfReplay() const { return m_isOfReplay; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    [[nodiscard]] QString text(const QModelIndex& index) const;
    [[nodiscard]] bool isCarried(int row) const;

    std::vector<OpReading> m_ops;
    int m_birthRow = -1;
    std::int64_t m_further = 0;
    bool m_isOfReplay = false;
};

}  // namespace mantissa::ui
