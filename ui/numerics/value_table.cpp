#include "ui/numerics/value_table.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QTableView>
#include <cmath>
#include <limits>

namespace mantissa::ui {
namespace {

/// What is bad is bold, in the colour that the theme has for errors.
class ValueDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        if (index.data(ValueTableModel::BadRole).toBool()) {
            option->font.setBold(true);
            option->palette.setColor(QPalette::Text, option->palette.color(QPalette::BrightText));
        }
    }
};

}  // namespace

bool ValueCell::operator==(const ValueCell& other) const {
    const bool isSameNumber = number == other.number || (std::isnan(number) && std::isnan(other.number));
    return text == other.text && isSameNumber && isBad == other.isBad;
}

ValueCell textCell(const QString& text) { return {text, std::numeric_limits<double>::quiet_NaN(), false}; }

ValueCell numberCell(const QString& text, double number, bool isBad) { return {text, number, isBad}; }

void ValueTableModel::setTable(ValueTable table) {
    const bool hasSameShape = table.columns.size() == m_table.columns.size() && table.rows.size() == m_table.rows.size();
    if (!hasSameShape) {
        beginResetModel();
        m_table = std::move(table);
        endResetModel();
        return;
    }
    if (table.columns != m_table.columns) {
        m_table.columns = std::move(table.columns);
        Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    }
    if (table.rows != m_table.rows) {
        m_table.rows = std::move(table.rows);
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    }
}

int ValueTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size()); }

int ValueTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_table.columns.size());
}

QVariant ValueTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
        return {};
    }
    const ValueCell& cell = m_table.rows[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
    switch (role) {
        case Qt::DisplayRole: return cell.text;
        case Qt::TextAlignmentRole:
            return static_cast<int>(std::isnan(cell.number) ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
        case SortRole: return std::isnan(cell.number) ? QVariant(cell.text) : QVariant(cell.number);
        case BadRole: return cell.isBad;
        default: return {};
    }
}

QVariant ValueTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) {
        return {};
    }
    if (role == Qt::DisplayRole) {
        return m_table.columns[static_cast<std::size_t>(section)];
    }
    if (role == Qt::TextAlignmentRole) {
        const bool isText = m_table.rows.empty() || std::isnan(m_table.rows.front()[static_cast<std::size_t>(section)].number);
        return static_cast<int>(isText ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
    }
    return {};
}

QTableView* makeValueView(ValueTableModel* model, const char* name, QWidget* parent) {
    auto* view = new QTableView(parent);
    auto* sorted = new QSortFilterProxyModel(view);
    sorted->setSourceModel(model);
    sorted->setSortRole(ValueTableModel::SortRole);
    view->setObjectName(QLatin1String(name));
    view->setModel(sorted);
    view->setItemDelegate(new ValueDelegate(view));
    view->setSortingEnabled(true);
    view->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    view->horizontalHeader()->setSortIndicatorClearable(true);
    view->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    view->horizontalHeader()->setStretchLastSection(true);
    view->horizontalHeader()->setHighlightSections(false);
    view->horizontalHeader()->setResizeContentsPrecision(200);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(view->fontMetrics().height() + 8);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setTabKeyNavigation(false);
    view->setShowGrid(false);
    view->setAlternatingRowColors(true);
    view->setMinimumHeight(40);
    return view;
}

}  // namespace mantissa::ui
