#pragma once
// How the producer's largest value grew until the step that is looked at: values for the chart and for its table twin.
#include <QAbstractTableModel>
#include <QString>
#include <optional>
#include <vector>

#include "ui/bridge/replay_reader.h"

namespace mantissa::ui {

struct GrownValues {
    QString tensor;  // "gate.mul"; "gradient of head.weight"
    std::vector<StepValue> largest;
    double limit = 0;  // of the format; 0: not known, or far away
    std::optional<std::int64_t> oneBitLeftStep;
    std::int64_t birthStep = 0;
    QString birth;  // "+Inf"
    [[nodiscard]] bool isEmpty() const { return largest.size() < 2; }
    bool operator==(const GrownValues&) const = default;
};

/// From the replay, else from what the run itself watched.
[[nodiscard]] GrownValues grownValues(const ReplaySnapshot& snapshot, std::int64_t step);

/// The table twin: step, largest value, bits left to the limit. Raw values.
class GrownModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Step, Largest, BitsLeft, ColumnCount };
    using QAbstractTableModel::QAbstractTableModel;
    void setValues(const GrownValues& values);
    void retranslate() { Q_EMIT headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1); }
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    GrownValues m_values;
};

}  // namespace mantissa::ui
