#include "ui/lessons/bit_table_model.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/numbers.h"

namespace mantissa::ui {
namespace {

/// The shortest digits that mean this number of single precision; all formats here fit into that.
QString number(double value) {
    if (!std::isfinite(value)) {
        return QString::fromStdString(readable_number(value));
    }
    std::array<char, 32> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value));
    return QString::fromLatin1(text.data(), end - text.data());
}
QString neighbour(const std::optional<double>& value) { return value ? number(*value) : QStringLiteral("–"); }

}  // namespace

BitTableModel::BitTableModel(const LessonWords& words, QObject* parent) : QAbstractTableModel(parent), m_words(words), m_inspection(inspect_number(0, {1})) {}

void BitTableModel::setNumber(double typed, double scale) {
    m_inspection = inspect_number(typed, {scale});
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

void BitTableModel::retranslate() {
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
}

int BitTableModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(all_number_formats.size()) + 1; }
int BitTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

const NumberBits& BitTableModel::bits(int row) const {
    return isScaled(row) ? m_inspection.scaled.front().stored : m_inspection.casts[static_cast<std::size_t>(row)];
}

QString BitTableModel::text(int row, int column) const {
    const NumberBits& one = bits(row);
    switch (static_cast<Column>(column)) {
        case Format:
            return QLatin1String(to_string(one.format)) +
                   (isScaled(row) ? QStringLiteral(" × ") + QString::fromStdString(readable_scale(m_inspection.scaled.front().scale)) : QString());
        case Bits: return QString::fromStdString(one.sign_digits + " " + one.exponent_digits + " " + one.mantissa_digits);
        case Value: return isScaled(row) ? number(one.value) + QStringLiteral(" → ") + number(m_inspection.scaled.front().back) : number(one.value);
        case Below: return neighbour(one.below);
        case Above: return neighbour(one.above);
        case Kind: return m_words.course((std::string("kinds.") + to_string(one.kind)).c_str());
        case ColumnCount: break;
    }
    return {};
}

QVariant BitTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const NumberBits& one = bits(index.row());
    const bool isNumber = index.column() == Value || index.column() == Below || index.column() == Above;
    switch (role) {
        case Qt::DisplayRole:
        case Qt::AccessibleTextRole: return text(index.row(), index.column());
        case Qt::TextAlignmentRole: return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter | (isNumber ? Qt::AlignRight : Qt::AlignLeft)));
        case SignRole: return QString::fromStdString(one.sign_digits);
        case ExponentRole: return QString::fromStdString(one.exponent_digits);
        case MantissaRole: return QString::fromStdString(one.mantissa_digits);
        case ChangedRole: return !(one.value == m_inspection.casts[0].value) && !isScaled(index.row());
        default: return {};
    }
}

QVariant BitTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    static constexpr const char* keys[] = {"bits.format", "bits.bits", "bits.value", "bits.below", "bits.above", "bits.kind"};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) {
        return {};
    }
    return role == Qt::DisplayRole ? QVariant(m_words.course(keys[section])) : QVariant();
}

}  // namespace mantissa::ui
