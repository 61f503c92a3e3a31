#pragma once
// The table twin of a chart: a row per step, two columns per run (value, what became of the step). Raw values, never decimated.
// `refresh` takes in what the runs have got since: one rowsInserted and at most one dataChanged, however many steps came.
#include <QAbstractTableModel>
#include <vector>

#include "ui/charts/chart_run.h"
#include "ui/charts/plot_options.h"

namespace mantissa::ui {

class StepTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Role { ValueRole = Qt::UserRole + 1, FateRole, StepRole };

    explicit StepTableModel(QObject* parent = nullptr);

    void setRuns(std::vector<ChartRun> runs);
    void setQuantity(Quantity quantity);
    void refresh();
    [[nodiscard]] static QString fateName(StepFate fate);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    [[nodiscard]] const ChartRun& runOf(int column) const { return m_runs[static_cast<std::size_t>(column - 1) / 2]; }
    [[nodiscard]] static bool isValueColumn(int column) { return column % 2 == 1; }
    [[nodiscard]] int stepsOf(const ChartRun& run) const;

    std::vector<ChartRun> m_runs;
    std::vector<int> m_seen;  // steps of each run that the view has been told of
    Quantity m_quantity = Quantity::Loss;
    int m_rows = 0;
};

}  // namespace mantissa::ui
