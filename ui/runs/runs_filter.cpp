#include "ui/runs/runs_filter.h"

#include <QBrush>

#include "ui/bridge/theme.h"
#include "ui/runs/runs_model.h"

namespace mantissa::ui {

RunsFilter::RunsFilter(const Theme& theme, QObject* parent) : QSortFilterProxyModel(parent), m_theme(theme) {
    setSortRole(RunsModel::SortRole);
    setDynamicSortFilter(true);
}

void RunsFilter::setWords(const QString& typed) {
    m_words = typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool RunsFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    const QString text = sourceModel()->index(row, 0, parent).data(RunsModel::FilterRole).toString();
    return std::all_of(m_words.begin(), m_words.end(),
                       [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

QVariant RunsFilter::data(const QModelIndex& index, int role) const {
    if (role != Qt::ForegroundRole || !index.isValid()) {
        return QSortFilterProxyModel::data(index, role);
    }
    const ThemeColours& colours = m_theme.colours();
    if (index.column() == RunsModel::State) {
        switch (static_cast<RunState>(index.data(RunsModel::StateRole).toInt())) {
            case RunState::Running:
            case RunState::Paused:
            case RunState::Trial:
            case RunState::Queued:
                return QBrush(m_theme.isDark() ? colours.bf16 : colours.accent);
            case RunState::Lost:
            case RunState::Failed:
                return QBrush(colours.error);
            case RunState::StoppedNonfinite:
                return QBrush(colours.nonfinite);
            case RunState::Interrupted:
            case RunState::Stopped:
                return QBrush(colours.warning);
            case RunState::Finished:
                return QBrush(colours.good);
        }
    }
    if (index.column() == RunsModel::Started || index.column() == RunsModel::DecisionColumn) {
        return QBrush(colours.muted);
    }
    return {};
}

}  // namespace mantissa::ui
