#include "ui/setup/data_columns_model.h"

#include <QLocale>
#include <algorithm>

#include "base/numbers.h"

namespace mantissa::ui {
namespace {

/// "–" for none.
QString share(std::int64_t part, std::int64_t whole) {
    if (part == 0) {
        return QStringLiteral("–");
    }
    return QLocale().toString(part) + QStringLiteral(" (%1)").arg(QString::fromStdString(readable_percent(static_cast<double>(part) / static_cast<double>(whole))));
}

QString number(double value) { return QString::fromStdString(readable_statistic(value)); }

}  // namespace

void DataColumnsModel::setLook(std::shared_ptr<const DataLook> look) {
    beginResetModel();
    m_look = std::move(look);
    endResetModel();
}

int DataColumnsModel::rowCount(const QModelIndex& parent) const {
    if (parent.isValid() || m_look == nullptr || m_look->samples.facts.are_tokens) {
        return 0;
    }
    return static_cast<int>(m_look->statistics.columns.size() + m_look->plan.leave_out.size()) + 1;
}

int DataColumnsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

bool DataColumnsModel::isColumn(int row) const { return row < rowCount() - 1; }

const ColumnStatistics* DataColumnsModel::statisticsOf(int row) const {
    const auto& columns = m_look->statistics.columns;
    if (!isColumn(row)) {
        return &m_look->statistics.all;
    }
    return static_cast<std::size_t>(row) < columns.size() ? &columns[static_cast<std::size_t>(row)] : nullptr;
}

QString DataColumnsModel::cell(const ColumnStatistics& statistics, int column) const {
    switch (static_cast<Column>(column)) {
        case Name: return QString::fromStdString(statistics.name);
        case Smallest: return number(statistics.smallest);
        case Largest: return number(statistics.largest);
        case Mean: return number(statistics.mean);
        case Missing: return share(statistics.missing, statistics.count + statistics.missing);
        case Infinite: return share(statistics.beyond_fp16, statistics.count);
        case SquareInfinite: return share(statistics.squares_beyond_fp16, statistics.count);
        case Flushed: return share(statistics.flushed, statistics.count);
        case ColumnCount: break;
    }
    return {};
}

QVariant DataColumnsModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const ColumnStatistics* statistics = statisticsOf(index.row());
    if (role == Qt::DisplayRole) {
        if (index.column() == Name && !isColumn(index.row())) {
            return tr("all values");
        }
        if (statistics != nullptr) {
            return cell(*statistics, index.column());
        }
        const auto place = static_cast<std::size_t>(index.row()) - m_look->statistics.columns.size();
        return index.column() == Name ? QString::fromStdString(m_look->plan.leave_out[place]) : QStringLiteral("–");
    }
    if (role == Qt::CheckStateRole && index.column() == Name && isColumn(index.row())) {
        return statistics != nullptr ? Qt::Checked : Qt::Unchecked;
    }
    if (role == Qt::TextAlignmentRole && index.column() != Name) {
        return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    }
    return {};
}

QVariant DataColumnsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (static_cast<Column>(section)) {
        case Name: return tr("Feature");
        case Smallest: return tr("Smallest");
        case Largest: return tr("Largest");
        case Mean: return tr("Mean");
        case Missing: return tr("Missing");
        case Infinite: return tr("Inf in fp16");
        case SquareInfinite: return tr("Square Inf");
        case Flushed: return tr("0 in fp16");
        case ColumnCount: break;
    }
    return {};
}

Qt::ItemFlags DataColumnsModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    return index.isValid() && index.column() == Name && isColumn(index.row()) ? flags | Qt::ItemIsUserCheckable : flags;
}

bool DataColumnsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::CheckStateRole || !checkIndex(index, CheckIndexOption::IndexIsValid) || index.column() != Name || !isColumn(index.row())) {
        return false;
    }
    std::vector<std::string> names = m_look->plan.leave_out;
    const std::string name = data(index).toString().toStdString();
    if (value.toInt() == Qt::Checked) {
        std::erase(names, name);
    } else if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(name);
    }
    Q_EMIT leftOut(names);  // the file is read again, and the answer resets the model
    return true;
}

}  // namespace mantissa::ui
