#include "ui/charts/step_table_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"
#include "ui/charts/axis_ticks.h"
#include "ui/charts/repetition_band.h"

namespace mantissa::ui {

StepTableModel::StepTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void StepTableModel::setRuns(std::vector<ChartRun> runs) {
    beginResetModel();
    m_runs = std::move(runs);
    m_rows = 0;
    m_seen.clear();
    for (const ChartRun& run : m_runs) {
        m_seen.push_back(stepsOf(run));
        m_rows = std::max(m_rows, m_seen.back());
    }
    endResetModel();
}

void StepTableModel::setRepetitions(std::vector<const RunSeries*> repetitions) {
    if (repetitions != m_repetitions) {
        beginResetModel();
        m_repetitions = std::move(repetitions);
        m_seenRepeated = repeatedSteps();
        endResetModel();
    }
}

std::size_t StepTableModel::repeatedSteps() const {
    std::size_t steps = 0;
    for (const RunSeries* run : m_repetitions) {
        steps += run->size();
    }
    return steps;
}

void StepTableModel::setQuantity(Quantity quantity) {
    if (quantity != m_quantity) {
        beginResetModel();
        m_quantity = quantity;
        endResetModel();
    }
}

int StepTableModel::stepsOf(const ChartRun& run) const {
    if (run.series->isEmpty()) {
        return 0;
    }
    // Steps count from 0, so that the row is the step.
    return static_cast<int>(std::min<std::int64_t>(run.series->steps().back() + 1, std::numeric_limits<int>::max() - 1));
}

void StepTableModel::refresh() {
    int firstChanged = m_rows, rows = m_rows;
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        const int steps = stepsOf(m_runs[i]);
        if (steps > m_seen[i]) {
            firstChanged = std::min(firstChanged, m_seen[i]);  // rows that a faster run had opened already
            m_seen[i] = steps;
        }
        rows = std::max(rows, steps);
    }
    if (const std::size_t repeated = repeatedSteps(); repeated != m_seenRepeated) {
        m_seenRepeated = repeated;
        firstChanged = 0;  // they go over steps that the others have made long before
    }
    const int before = m_rows;
    if (rows > before) {
        beginInsertRows({}, before, rows - 1);
        m_rows = rows;
        endInsertRows();
    }
    if (firstChanged < before) {
        Q_EMIT dataChanged(index(firstChanged, 0), index(before - 1, columnCount() - 1));
    }
}

int StepTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_rows; }

int StepTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : 1 + 2 * static_cast<int>(m_runs.size()) + (m_repetitions.empty() ? 0 : 2);
}

QVariant StepTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue(Qt::Alignment(isValueColumn(index.column()) || index.column() == 0 || isBandColumn(index.column())
                                                     ? Qt::AlignRight | Qt::AlignVCenter
                                                     : Qt::AlignLeft | Qt::AlignVCenter));
    }
    if (role == StepRole || (index.column() == 0 && (role == Qt::DisplayRole || role == ValueRole))) {
        return index.row();
    }
    if (index.column() == 0) {
        return {};
    }
    if (isBandColumn(index.column())) {
        return bandData(index, role);
    }
    const RunSeries& series = *runOf(index.column()).series;
    const std::optional<std::size_t> at = series.indexOfStep(index.row());
    if (!at) {
        return {};
    }
    const double value = series.column(m_quantity)[*at];
    const bool canBeNan = m_quantity == Quantity::Loss || m_quantity == Quantity::GradientNorm;
    const bool isMissing = std::isnan(value) && !canBeNan;
    if (role == FateRole) {
        return static_cast<int>(series.fate(*at));
    }
    if (role == ValueRole) {
        return isMissing ? QVariant() : QVariant(value);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    if (!isValueColumn(index.column())) {
        return fateName(series.fate(*at));
    }
    return isMissing ? QVariant() : QVariant(QString::fromStdString(to_text(value)));
}

QVariant StepTableModel::bandData(const QModelIndex& index, int role) const {
    const auto spread = spreadAt(m_repetitions, index.row(), m_quantity);
    if (!spread || (role != ValueRole && role != Qt::DisplayRole)) {
        return {};
    }
    const double value = index.column() == 1 + 2 * static_cast<int>(m_runs.size()) ? spread->low : spread->high;
    return role == ValueRole ? QVariant(value) : QVariant(QString::fromStdString(to_text(value)));
}

QVariant StepTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= columnCount()) {
        return {};
    }
    if (section == 0) {
        return tr("Step");
    }
    if (isBandColumn(section)) {
        const auto count = static_cast<int>(m_repetitions.size());
        return section == 1 + 2 * static_cast<int>(m_runs.size()) ? tr("lowest of %n repetition(s)", nullptr, count) : tr("highest of %n repetition(s)", nullptr, count);
    }
    const QString mode = nameOf(runOf(section));
    return isValueColumn(section) ? tr("%1 · %2").arg(mode, quantityName(m_quantity)) : tr("%1 · step").arg(mode);
}

QString StepTableModel::fateName(StepFate fate) {
    switch (fate) {
        case StepFate::Applied: return tr("applied");
        case StepFate::SkipProbing: return tr("skipped, probing");
        case StepFate::SkipFault: return tr("skipped, fault");
        case StepFate::Nonfinite: return tr("not finite");
    }
    return {};
}

}  // namespace mantissa::ui
