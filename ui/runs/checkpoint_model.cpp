#include "ui/runs/checkpoint_model.h"

#include <QDateTime>

#include "base/numbers.h"

namespace mantissa::ui {
namespace {

QString cell(const CheckpointInfo& info, CheckpointModel::Column column) {
    switch (column) {
        case CheckpointModel::Step:
            return QString::fromStdString(readable_count(info.step));
        case CheckpointModel::Mode:
            return QLatin1String(to_string(info.mode));
        case CheckpointModel::Scale:
            return info.loss_scale ? QString::fromStdString(readable_scale(*info.loss_scale)) : QStringLiteral("–");
        case CheckpointModel::Saved:
            return info.time_ns > 0 ? QDateTime::fromMSecsSinceEpoch(info.time_ns / 1'000'000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"))
                                    : QStringLiteral("–");
        case CheckpointModel::Size:
            return QString::fromStdString(readable_bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(0, info.bytes))));
        case CheckpointModel::ColumnCount:
            break;
    }
    return {};
}

}  // namespace

CheckpointModel::CheckpointModel(std::vector<CheckpointInfo> checkpoints, QObject* parent)
    : QAbstractTableModel(parent), m_checkpoints(std::move(checkpoints)) {}

const CheckpointInfo* CheckpointModel::checkpoint(int row) const {
    return row >= 0 && row < rowCount() ? &m_checkpoints[static_cast<std::size_t>(row)] : nullptr;
}

int CheckpointModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_checkpoints.size());
}

int CheckpointModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CheckpointModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const CheckpointInfo& info = m_checkpoints[static_cast<std::size_t>(index.row())];
    const auto column = static_cast<Column>(index.column());
    if (role == Qt::DisplayRole) {
        return cell(info, column);
    }
    if (role == Qt::ToolTipRole) {
        return tr("%1 updates applied, epoch %2\n%3").arg(info.applied_steps).arg(info.epoch).arg(QString::fromStdString(info.path.string()));
    }
    return {};
}

QVariant CheckpointModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (static_cast<Column>(section)) {
        case Step:
            return tr("After step");
        case Mode:
            return tr("Mode");
        case Scale:
            return tr("Loss scale");
        case Saved:
            return tr("Saved");
        case Size:
            return tr("Size");
        case ColumnCount:
            break;
    }
    return {};
}

}  // namespace mantissa::ui
