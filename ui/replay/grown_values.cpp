#include "ui/replay/grown_values.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "ui/replay/birth_words.h"
#include "ui/replay/replay_view.h"

namespace mantissa::ui {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::GrownValues)
};

/// What the run watched of the place of the birth: its output, else the gradient or the weights of its leaf.
const IncidentReport::Watched* watchedOf(const IncidentReport& incident, const BirthReport* birth) {
    if (birth == nullptr) {
        return nullptr;
    }
    const std::string& name = birth->tensor.empty() ? birth->place() : birth->tensor;
    const auto found = std::find_if(incident.watched.begin(), incident.watched.end(), [&](const auto& one) { return one.tensor == name; });
    return found == incident.watched.end() ? nullptr : &*found;
}

QString quantityText(const IncidentReport::Watched& watched) {
    const QString tensor = QString::fromStdString(watched.tensor);
    if (watched.quantity == "gradient") {
        return Words::tr("gradient of %1").arg(tensor);
    }
    return tensor;
}

}  // namespace

GrownValues grownValues(const ReplaySnapshot& snapshot, std::int64_t step) {
    GrownValues values;
    values.birthStep = step;
    const BirthReport* birth = birthOf(snapshot);
    if (birth == nullptr) {
        return values;
    }
    values.birthStep = birth->step.value_or(step);
    values.birth = badText(birth->producer.result);
    values.tensor = QString::fromStdString(birth->place());
    values.limit = limitOf(snapshot);
    if (snapshot.replay && !snapshot.replay->producer_largest.empty()) {
        values.largest = snapshot.replay->producer_largest;
        values.oneBitLeftStep = snapshot.replay->one_bit_left_step;
    } else if (snapshot.incident) {
        if (const auto* watched = watchedOf(*snapshot.incident, birth)) {
            values.tensor = quantityText(*watched);
            values.largest = watched->largest;
        }
    }
    std::erase_if(values.largest, [&values](const StepValue& one) { return !std::isfinite(one.value) || one.step > values.birthStep; });
    if (!values.oneBitLeftStep && values.limit > 0) {
        const auto near = std::find_if(values.largest.begin(), values.largest.end(), [&](const StepValue& one) { return one.value > values.limit / 2; });
        values.oneBitLeftStep = near == values.largest.end() ? std::nullopt : std::optional(near->step);
    }
    return values;
}

void GrownModel::setValues(const GrownValues& values) {
    if (values == m_values) {
        return;
    }
    beginResetModel();
    m_values = values;
    endResetModel();
}

int GrownModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_values.largest.size()); }

int GrownModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant GrownModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid) || role != Qt::DisplayRole) {
        return {};
    }
    const StepValue& value = m_values.largest[static_cast<std::size_t>(index.row())];
    switch (static_cast<Column>(index.column())) {
        case Step: return static_cast<qlonglong>(value.step);
        case Largest: return QString::fromStdString(to_text(value.value));
        case BitsLeft: return m_values.limit > 0 && value.value > 0 ? QString::number(std::log2(m_values.limit / value.value), 'f', 2) : QString();
        case ColumnCount: break;
    }
    return {};
}

QVariant GrownModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    switch (static_cast<Column>(section)) {
        case Step: return tr("step");
        case Largest: return tr("largest value");
        case BitsLeft: return tr("bits left");
        case ColumnCount: break;
    }
    return {};
}

}  // namespace mantissa::ui
