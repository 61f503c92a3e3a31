#include "ui/runs/runs_model.h"

#include <QDateTime>
#include <QLocale>
#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace mantissa::ui {
namespace {

QString filterText(const RunEntry& entry) {
    QStringList words{QString::fromStdString(entry.name),
                      QString::fromStdString(entry.model),
                      QString::fromStdString(entry.dataset),
                      RunsModel::stateText(entry),
                      QString::fromStdString(entry.decisionText),
                      QDateTime::fromMSecsSinceEpoch(entry.startedNs / 1'000'000).toString(Qt::ISODate)};
    for (const RunOfEntry& run : entry.runs) {
        words << QLatin1String(to_string(run.mode)) << QLatin1String(to_string(run.state));
    }
    return words.join(QLatin1Char(' '));
}

}  // namespace

RunsModel::RunsModel(QObject* parent) : QAbstractTableModel(parent) {}

void RunsModel::setEntries(const std::vector<RunEntry>& entries) {
    // Rows that vanished, from the end, so that positions stay valid.
    for (int row = static_cast<int>(m_entries.size()) - 1; row >= 0; --row) {
        const auto same = [&](const RunEntry& entry) {
            return entry.folder == m_entries[static_cast<size_t>(row)].folder;
        };
        if (std::none_of(entries.begin(), entries.end(), same)) {
            beginRemoveRows({}, row, row);
            m_entries.erase(m_entries.begin() + row);
            endRemoveRows();
        }
    }
    // A stretch of new rows is one insert.
    for (size_t at = 0; at < entries.size();) {
        size_t end = at;
        const auto isKnown = [&](size_t i) {
            return std::any_of(m_entries.begin(), m_entries.end(),
                               [&](const RunEntry& entry) { return entry.folder == entries[i].folder; });
        };
        while (end < entries.size() && !isKnown(end)) {
            ++end;
        }
        if (end > at) {
            beginInsertRows({}, static_cast<int>(at), static_cast<int>(end) - 1);
            m_entries.insert(m_entries.begin() + static_cast<std::ptrdiff_t>(at),
                             entries.begin() + static_cast<std::ptrdiff_t>(at),
                             entries.begin() + static_cast<std::ptrdiff_t>(end));
            endInsertRows();
        }
        at = end + 1;
    }
    for (size_t i = 0; i < entries.size(); ++i) {
        if (m_entries[i].folder != entries[i].folder) {  // the order changed: rare, told as such
            beginResetModel();
            m_entries = entries;
            endResetModel();
            return;
        }
        if (m_entries[i] != entries[i]) {
            m_entries[i] = entries[i];
            Q_EMIT dataChanged(index(static_cast<int>(i), 0), index(static_cast<int>(i), ColumnCount - 1));
        }
    }
}

const RunEntry* RunsModel::entry(const QModelIndex& index) const {
    return checkIndex(index, CheckIndexOption::IndexIsValid) ? &m_entries[static_cast<size_t>(index.row())]
                                                             : nullptr;
}

void RunsModel::retranslate() {
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
    if (!m_entries.empty()) {
        Q_EMIT dataChanged(index(0, 0), index(static_cast<int>(m_entries.size()) - 1, ColumnCount - 1));
    }
}

int RunsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const RunEntry& entry = m_entries[static_cast<size_t>(index.row())];
    const auto column = static_cast<Column>(index.column());
    switch (role) {
        case Qt::DisplayRole:
            return cell(entry, column);
        case Qt::ToolTipRole:
            return toolTip(entry, column);
        case SortRole:
            return sortValue(entry, column);
        case StateRole:
            return static_cast<int>(stateOf(entry));
        case FilterRole:
            return filterText(entry);
        default:
            return {};
    }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= ColumnCount) {
        return {};
    }
    switch (static_cast<Column>(section)) {
        case Started:
            return tr("Started");
        case Name:
            return tr("Name");
        case Modes:
            return tr("Modes");
        case State:
            return tr("State");
        case Steps:
            return tr("Steps");
        case FinalLoss:
            return tr("Final loss");
        case DecisionColumn:
            return tr("Decision");
        case ColumnCount:
            break;
    }
    return {};
}

QString RunsModel::stateText(RunState state) {
    switch (state) {
        case RunState::Queued:
            return tr("queued");
        case RunState::Trial:
            return tr("trial");
        case RunState::Running:
            return tr("running");
        case RunState::Paused:
            return tr("paused");
        case RunState::Finished:
            return tr("finished");
        case RunState::StoppedNonfinite:
            return tr("stopped: not finite");
        case RunState::Stopped:
            return tr("stopped");
        case RunState::Interrupted:
            return tr("interrupted");
        case RunState::Failed:
            return tr("failed");
        case RunState::Lost:
            return tr("lost");
    }
    return {};
}

QString RunsModel::stateText(const RunEntry& entry) {
    if (!entry.problem.empty()) {
        return tr("unreadable");
    }
    return entry.repeating ? tr("repeating %1 of %2").arg(entry.repeating->at).arg(entry.repeating->planned) : stateText(stateOf(entry));
}

QString RunsModel::lossText(const std::optional<double>& loss) {
    if (!loss) {
        return QStringLiteral("–");
    }
    if (std::isnan(*loss)) {
        return QStringLiteral("NaN");
    }
    return QString::fromStdString(readable_number(*loss));
}

QString RunsModel::cell(const RunEntry& entry, Column column) const {
    QStringList parts;
    switch (column) {
        case Started:
            return entry.startedNs == 0 ? QStringLiteral("–")
                                        : QDateTime::fromMSecsSinceEpoch(entry.startedNs / 1'000'000)
                                              .toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
        case Name:
            return QString::fromStdString(entry.name);
        case Modes:
            for (const RunOfEntry& run : entry.runs) {
                parts << QLatin1String(to_string(run.mode));
            }
            return parts.join(QStringLiteral(" / "));
        case State:
            return stateText(entry);
        case Steps: {
            std::int64_t steps = 0, planned = 0;
            for (const RunOfEntry& run : entry.runs) {
                steps = std::max(steps, run.steps);
                planned = std::max(planned, run.plannedSteps);
            }
            return planned > 0 && planned != steps ? QStringLiteral("%1 / %2").arg(steps).arg(planned)
                                                   : QString::number(steps);
        }
        case FinalLoss:
            for (const RunOfEntry& run : entry.runs) {
                parts << lossText(run.finalLoss);
            }
            return parts.join(QStringLiteral(" / "));
        case DecisionColumn:
            return entry.problem.empty() ? QString::fromStdString(entry.decisionText)
                                         : QString::fromStdString(entry.problem);
        case ColumnCount:
            break;
    }
    return {};
}

QVariant RunsModel::sortValue(const RunEntry& entry, Column column) {
    switch (column) {
        case Started:
            return QVariant::fromValue<qlonglong>(entry.startedNs);
        case Name:
            return QString::fromStdString(entry.name).toCaseFolded();
        case Modes:
            return static_cast<int>(entry.runs.size());
        case State:
            return static_cast<int>(stateOf(entry));
        case Steps:
            return QVariant::fromValue<qlonglong>(entry.runs.empty() ? 0 : entry.runs.front().steps);
        case FinalLoss: {
            const auto loss = entry.runs.empty() ? std::nullopt : entry.runs.front().finalLoss;
            return loss && !std::isnan(*loss) ? *loss : HUGE_VAL;  // not finite and not measured come last
        }
        case DecisionColumn:
            return QString::fromStdString(entry.decisionText);
        case ColumnCount:
            break;
    }
    return {};
}

QString RunsModel::toolTip(const RunEntry& entry, Column column) {
    if (column == DecisionColumn) {
        return QString::fromStdString(entry.problem.empty() ? entry.decisionText : entry.problem);
    }
    if (column == Name) {
        return QString::fromStdString(entry.folder.string());
    }
    QStringList lines;
    for (const RunOfEntry& run : entry.runs) {
        const QString reason = run.stateReason.empty()
                                   ? QString()
                                   : QStringLiteral(" – ") + QString::fromStdString(run.stateReason);
        lines << QStringLiteral("%1: %2%3")
                     .arg(QLatin1String(to_string(run.mode)), stateText(run.state), reason);
    }
    return lines.join(QLatin1Char('\n'));
}

}  // namespace mantissa::ui
