#include "ui/setup/layer_table_model.h"

#include <algorithm>

#include "base/numbers.h"
#include "layers/layer_shapes.h"

namespace mantissa::ui {
namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }

QString cell(const layers::LayerRow& row, LayerTableModel::Column column) {
    switch (column) {
        case LayerTableModel::Path:
            return (row.problem.empty() ? QString() : QStringLiteral("✗ ")) + text(row.path);
        case LayerTableModel::Layer:
            return QString(row.depth * 4, QLatin1Char(' ')) + text(row.text);
        case LayerTableModel::Output:
            return row.is_fitted ? text(layers::shape_text(row.output)) : QStringLiteral("?");
        case LayerTableModel::Parameters:
            return row.parameters > 0 ? text(readable_count(row.parameters)) : QString();
        case LayerTableModel::Memory:
            return row.parameters > 0 ? text(readable_bytes(layers::training_bytes(row))) : QString();
        case LayerTableModel::ColumnCount:
            break;
    }
    return {};
}

}  // namespace

void LayerTableModel::setRows(std::vector<layers::LayerRow> rows) {
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

int LayerTableModel::wrongRow() const {
    const auto wrong = std::find_if(m_rows.begin(), m_rows.end(), [](const layers::LayerRow& row) { return !row.problem.empty(); });
    return wrong == m_rows.end() ? -1 : static_cast<int>(wrong - m_rows.begin());
}

void LayerTableModel::retranslate() { Q_EMIT headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1); }

int LayerTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_rows.size()); }

int LayerTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant LayerTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const layers::LayerRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const auto column = static_cast<Column>(index.column());
    if (role == Qt::DisplayRole) {
        return cell(row, column);
    }
    if (role == Qt::TextAlignmentRole && column >= Output) {
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    }
    if (role == Qt::ToolTipRole) {
        return row.problem.empty() ? text(row.place) : text(row.problem);
    }
    return {};
}

QVariant LayerTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::ToolTipRole && section == Memory) {
        return tr("Weights, their gradients and Adam's two states, all fp32 in every mode; activations come on top");
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant((section >= Output ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (static_cast<Column>(section)) {
        case Path:
            return tr("Path");
        case Layer:
            return tr("Layer");
        case Output:
            return tr("Output of a sample");
        case Parameters:
            return tr("Weights");
        case Memory:
            return tr("Memory in training");
        case ColumnCount:
            break;
    }
    return {};
}

}  // namespace mantissa::ui
