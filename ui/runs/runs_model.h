#pragma once
// The runs as a table of facts, newest first. `setEntries` takes a whole new list and tells views only what
// changed.
#include <QAbstractTableModel>
#include <vector>

#include "ui/runs/run_entry.h"

namespace mantissa::ui {

class RunsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { Started, Name, Modes, State, Steps, FinalLoss, DecisionColumn, ColumnCount };
    enum Role { SortRole = Qt::UserRole, StateRole, FilterRole };

    explicit RunsModel(QObject* parent = nullptr);
    void setEntries(const std::vector<RunEntry>& entries);
    [[nodiscard]] const std::vector<RunEntry>& entries() const { return m_entries; }
    [[nodiscard]] const RunEntry* entry(const QModelIndex& index) const;
    void retranslate();

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    [[nodiscard]] static QString stateText(RunState state);
    [[nodiscard]] static QString stateText(const RunEntry& entry);  // "repeating 2 of 3" once its modes have ended
    [[nodiscard]] static QString lossText(const std::optional<double>& loss);  // "–" = not measured

  private:
    [[nodiscard]] QString cell(const RunEntry& entry, Column column) const;
    [[nodiscard]] static QVariant sortValue(const RunEntry& entry, Column column);
    [[nodiscard]] static QString toolTip(const RunEntry& entry, Column column);

    std::vector<RunEntry> m_entries;
};

}  // namespace mantissa::ui
