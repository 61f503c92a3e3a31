#pragma once
// The checkpoints of one run as a table, newest first. Facts only; what can't be gone on from is not in it.
#include <QAbstractTableModel>
#include <vector>

#include "record/checkpoint_info.h"

namespace mantissa::ui {

class CheckpointModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Step, Mode, Scale, Saved, Size, ColumnCount };

    explicit CheckpointModel(std::vector<CheckpointInfo> checkpoints, QObject* parent = nullptr);
    [[nodiscard]] const CheckpointInfo* checkpoint(int row) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    const std::vector<CheckpointInfo> m_checkpoints;
};

}  // namespace mantissa::ui
