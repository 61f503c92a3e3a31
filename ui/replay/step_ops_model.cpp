#include "ui/replay/step_ops_model.h"

#include <algorithm>

#include "ui/replay/birth_words.h"
#include "ui/replay/replay_view.h"
#include "ui/replay/what_if_model.h"

namespace mantissa::ui {
namespace {

/// In order: what led to it, the producer, what carried it on.
std::vector<OpReading> opsOf(const BirthReport& birth) {
    std::vector<OpReading> ops = birth.before;
    const auto hasIt = [&birth](const OpReading& op) { return op.index == birth.producer.index; };
    if (birth.tensor.empty() && std::none_of(ops.begin(), ops.end(), hasIt)) {
        ops.push_back(birth.producer);
    }
    ops.insert(ops.end(), birth.after.begin(), birth.after.end());
    return ops;
}

}  // namespace

void StepOpsModel::setSnapshot(const ReplaySnapshot& snapshot) {
    const BirthReport* birth = birthOf(snapshot);
    m_isOfReplay = snapshot.replay && snapshot.replay->birth;
    std::vector<OpReading> next;
    if (snapshot.replay && !snapshot.replay->ops.empty()) {
        next = snapshot.replay->ops;
    } else if (birth != nullptr) {
        next = opsOf(*birth);
    }
    const bool isSame = next == m_ops;
    if (!isSame) {
        beginResetModel();
        m_ops = std::move(next);
    }
    m_birthRow = -1;
    for (std::size_t i = 0; birth != nullptr && birth->tensor.empty() && i < m_ops.size(); ++i) {
        if (m_ops[i].index == birth->producer.index && m_ops[i].phase == birth->producer.phase) {
            m_birthRow = static_cast<int>(i);
        }
    }
    std::int64_t shown = 0;
    for (int row = 0; row < static_cast<int>(m_ops.size()); ++row) {
        shown += isCarried(row) ? 1 : 0;
    }
    m_further = birth == nullptr ? 0 : std::max<std::int64_t>(0, birth->carried - shown);
    if (!isSame) {
        endResetModel();
    }
}

void StepOpsModel::retranslate() {
    if (!m_ops.empty()) {
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    }
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
}

int StepOpsModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_ops.size()); }

int StepOpsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

bool StepOpsModel::isCarried(int row) const {
    return row != m_birthRow && !m_ops[static_cast<std::size_t>(row)].result.is_finite() && (m_birthRow < 0 || row > m_birthRow);
}

QString StepOpsModel::text(const QModelIndex& index) const {
    const OpReading& op = m_ops[static_cast<std::size_t>(index.row())];
    switch (static_cast<Column>(index.column())) {
        case Where: {
            const bool isBirth = index.row() == m_birthRow;
            const QString where = QString::fromStdString(isBirth || op.module.empty() ? op.place() : op.module);
            return isBirth ? QStringLiteral("▶ %1").arg(where) : where;
        }
        case Op: {
            const QString name = QString::fromStdString(op.op);
            return op.phase == "backward" ? tr("%1, backward").arg(name) : name;
        }
        case In: return operandsText(op);
        case Out: return readingText(op.result);
        case Dtype: return dtypeText(op.result.dtype);
        case Note:
            if (index.row() == m_birthRow) {
                return tr("born here");
            }
            return isCarried(index.row()) ? tr("carried on") : QString();
        case ColumnCount: break;
    }
    return {};
}

QVariant StepOpsModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
        return {};
    }
    const OpReading& op = m_ops[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole: return text(index);
        case Qt::ToolTipRole:
            if (index.column() == In && !op.operands.empty()) {
                QStringList lines;
                for (const TensorReading& one : op.operands) {
                    lines << tr("%1 %2: largest %3, smallest non-zero %4")
                                 .arg(dtypeText(one.dtype), QString::fromStdString(one.name), numberText(one.largest), numberText(one.smallest_nonzero));
                }
                return lines.join(QLatin1Char('\n'));
            }
            if (index.column() == Out) {
                const TensorReading& r = op.result;
                return tr("%1 negative, %2 zero, %3 positive, %4 −Inf, %5 +Inf, %6 NaN").arg(r.negative).arg(r.zero).arg(r.positive).arg(r.neg_inf).arg(r.pos_inf).arg(r.nan);
            }
            return text(index);
        case BirthRole: return index.row() == m_birthRow;
        case CarriedRole: return isCarried(index.row());
        default: return {};
    }
}

QVariant StepOpsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (static_cast<Column>(section)) {
        case Where: return tr("where");
        case Op: return tr("op");
        case In: return tr("in, largest");
        case Out: return tr("out");
        case Dtype: return tr("dtype");
        case Note: return QString();
        case ColumnCount: break;
    }
    return {};
}

}  // namespace mantissa::ui
