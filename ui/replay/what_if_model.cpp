#include "ui/replay/what_if_model.h"

#include <algorithm>

namespace mantissa::ui {

void WhatIfModel::setReport(const ReplayReport* report) {
    static const std::vector<VariantReport> none;
    const std::vector<VariantReport>& next = report == nullptr ? none : report->variants;
    const bool isSameGrid = next.size() == m_variants.size() &&
                            std::equal(next.begin(), next.end(), m_variants.begin(), [](const auto& a, const auto& b) { return a.id == b.id; });
    const std::string best = report == nullptr ? std::string() : report->best;
    if (!isSameGrid) {
        beginResetModel();
    }
    const bool isOverNow = report != nullptr && isGridOver(*report);
    const bool isChanged = m_variants != next || m_best != best || m_isOver != isOverNow;
    m_isOver = isOverNow;
    m_variants = next;
    m_best = best;
    m_mode = report == nullptr ? Precision::No : report->mode;
    m_step = report == nullptr ? 0 : report->step;
    if (!isSameGrid) {
        endResetModel();
    } else if (isChanged && !m_variants.empty()) {
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        Q_EMIT headerDataChanged(Qt::Horizontal, Later, Later);
    }
}

void WhatIfModel::retranslate() {
    if (!m_variants.empty()) {
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
}

int WhatIfModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_variants.size()); }

int WhatIfModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

CellText WhatIfModel::cell(const QModelIndex& index) const {
    const VariantReport& variant = m_variants[static_cast<std::size_t>(index.row())];
    switch (static_cast<Column>(index.column())) {
        case Change: {
            const QString change = changeText(variant, m_mode, m_step);
            return {variant.id == m_best ? tr("%1 ◀ best").arg(change) : change, variant.reason.empty() ? change : QString::fromStdString(variant.reason), CellTone::Plain};
        }
        case ThisStep: return thisStepText(variant, m_isOver);
        case Later: return laterText(variant, m_isOver);
        case ColumnCount: break;
    }
    return {};
}

QVariant WhatIfModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
        return {};
    }
    switch (role) {
        case Qt::DisplayRole: return cell(index).text;
        case Qt::ToolTipRole: return cell(index).details;
        case Qt::AccessibleDescriptionRole: return cell(index).details;
        case ToneRole: return static_cast<int>(cell(index).tone);
        case BestRole: return !m_best.empty() && m_variants[static_cast<std::size_t>(index.row())].id == m_best;
        default: return {};
    }
}

QVariant WhatIfModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    std::int64_t later = 0;
    for (const VariantReport& variant : m_variants) {
        later = std::max(later, variant.later_steps);
    }
    switch (static_cast<Column>(section)) {
        case Change: return tr("change");
        case ThisStep: return tr("this step");
        case Later: return later > 0 ? tr("%n step(s) on", nullptr, static_cast<int>(later)) : tr("later steps");
        case ColumnCount: break;
    }
    return {};
}

}  // namespace mantissa::ui
