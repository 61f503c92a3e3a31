#pragma once
// The table twin of a chart: a row per step, two columns per run (value, what became of the step), two for the band of repetitions. Raw values, never decimated.
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
    void setRepetitions(std::vector<const RunSeries*> repetitions);
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
    [[nodiscard]] bool isBandColumn(int column) const { return column > 2 * static_cast<int>(m_runs.size()); }
    [[nodiscard]] QVariant bandData(const QModelIndex& index, int role) const;
    [[nodiscard]] std::size_t repeatedSteps() const;
    [[nodiscard]] int stepsOf(const ChartRun& run) const;

    std::vector<ChartRun> m_runs;
    std::vector<int> m_seen;  // steps of each run that the view has been told of
    std::vector<const RunSeries*> m_repetitions;
    std::size_t m_seenRepeated = 0;  // their steps that the view has been told of
    Quantity m_quantity = Quantity::Loss;
    int m_rows = 0;
};

}  // namespace mantissa::ui
