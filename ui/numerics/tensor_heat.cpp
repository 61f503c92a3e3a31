#include "ui/numerics/tensor_heat.h"

#include <algorithm>
#include <cmath>

namespace mantissa::ui {
namespace {

template <typename Value, typename Worse>
void takeWorse(std::optional<Value>& kept, const std::optional<Value>& other, const Worse& worse) {
    if (other && (!kept || worse(*other, *kept))) {
        kept = other;
    }
}

HeatCell cellOf(const TensorStatRow& row, double lossScale) {
    HeatCell cell;
    cell.step = row.step;
    cell.lossScale = lossScale;
    const auto bad = row.nan + row.pos_inf + row.neg_inf;
    cell.nonfinite = row.elements > 0 ? static_cast<double>(bad) / static_cast<double>(row.elements) : 0;
    cell.unmoved = row.unmoved;
    if (row.largest > 0 && std::isfinite(row.largest)) {
        cell.largest = row.largest;
    }
    const auto input = row.exponents.empty() ? Result<LensInput>(Error{}) : lens_input(row);
    for (std::size_t i = 0; input && i < lensFormats.size(); ++i) {
        const LensReading reading = read_lens(*input, lensFormats[i], lossScale);
        cell.flush[i] = reading.flush;
        cell.sqnrDb[i] = reading.sqnr_db;
    }
    return cell;
}

/// The step of a merged cell is that of its non-finite values, else that of the largest ones.
void merge(HeatCell& kept, const HeatCell& other) {
    const bool isOtherWorse = other.nonfinite != kept.nonfinite
                                  ? other.nonfinite > kept.nonfinite
                                  : other.largest.value_or(0) * other.lossScale > kept.largest.value_or(0) * kept.lossScale;
    const auto larger = [](double a, double b) { return a > b; };
    const auto smaller = [](double a, double b) { return a < b; };
    for (std::size_t i = 0; i < lensFormats.size(); ++i) {
        takeWorse(kept.flush[i], other.flush[i], larger);
        takeWorse(kept.sqnrDb[i], other.sqnrDb[i], smaller);
    }
    takeWorse(kept.unmoved, other.unmoved, larger);
    if (isOtherWorse) {
        kept.step = other.step;
    }
    kept.nonfinite = std::max(kept.nonfinite, other.nonfinite);
    if (other.largest && (!kept.largest || *other.largest * other.lossScale > *kept.largest * kept.lossScale)) {
        kept.largest = other.largest;
        kept.lossScale = other.lossScale;
    }
}

}  // namespace

std::size_t lensIndex(NumberFormat format) {
    const auto found = std::find(lensFormats.begin(), lensFormats.end(), format);
    return found == lensFormats.end() ? 0 : static_cast<std::size_t>(found - lensFormats.begin());
}

bool isWorse(HeatQuantity quantity, double value, double other) {
    switch (quantity) {
        case HeatQuantity::Headroom:
        case HeatQuantity::Sqnr: return value < other;
        case HeatQuantity::FlushShare:
        case HeatQuantity::NonfiniteShare:
        case HeatQuantity::UnmovedShare: return value > other;
    }
    return false;
}

std::optional<double> heatValue(const HeatCell& cell, HeatQuantity quantity, NumberFormat format) {
    switch (quantity) {
        case HeatQuantity::Headroom:
            return cell.largest ? std::optional(std::log2(limits_of(format).largest / (*cell.largest * cell.lossScale))) : std::nullopt;
        case HeatQuantity::FlushShare: return cell.flush[lensIndex(format)];
        case HeatQuantity::Sqnr: return cell.sqnrDb[lensIndex(format)];
        case HeatQuantity::NonfiniteShare: return cell.nonfinite;
        case HeatQuantity::UnmovedShare: return cell.unmoved;
    }
    return std::nullopt;
}

void TensorHeat::add(const TensorStatRow& row, double lossScale) {
    const auto [at, isNew] = m_index.try_emplace(row.tensor, m_tensors.size());
    if (isNew) {
        m_tensors.push_back(row.tensor);
        m_cells.emplace_back();
    }
    if (std::find(m_dtypes.begin(), m_dtypes.end(), row.dtype) == m_dtypes.end()) {
        m_dtypes.push_back(row.dtype);
    }
    if (m_columns.empty() || row.step > m_columns.back().last) {
        if (m_columns.empty() || m_inLast >= m_stepsPerColumn) {
            if (m_columns.size() == mostColumns) {
                mergeNeighbours();
            }
            m_columns.push_back({row.step, row.step});
            m_inLast = 0;
        }
        m_columns.back().last = row.step;
        ++m_inLast;
    }
    auto& cells = m_cells[at->second];
    cells.resize(m_columns.size());
    HeatCell cell = cellOf(row, lossScale);
    if (cells.back()) {
        merge(*cells.back(), cell);
    } else {
        cells.back() = std::move(cell);
    }
}

void TensorHeat::mergeNeighbours() {
    for (std::size_t i = 0; i < m_columns.size() / 2; ++i) {
        m_columns[i] = {m_columns[2 * i].first, m_columns[2 * i + 1].last};
    }
    m_columns.resize(m_columns.size() / 2);
    for (auto& cells : m_cells) {
        cells.resize(2 * m_columns.size());
        for (std::size_t i = 0; i < m_columns.size(); ++i) {
            std::optional<HeatCell> left = cells[2 * i];
            const std::optional<HeatCell>& right = cells[2 * i + 1];
            if (left && right) {
                merge(*left, *right);
            }
            cells[i] = left ? left : right;
        }
        cells.resize(m_columns.size());
    }
    m_stepsPerColumn *= 2;
}

const HeatCell* TensorHeat::cell(std::size_t tensor, std::size_t column) const {
    if (tensor >= m_cells.size() || column >= m_cells[tensor].size() || !m_cells[tensor][column]) {
        return nullptr;
    }
    return &*m_cells[tensor][column];
}

std::optional<double> TensorHeat::value(std::size_t tensor, std::size_t column, HeatQuantity quantity, NumberFormat format) const {
    const HeatCell* found = cell(tensor, column);
    return found ? heatValue(*found, quantity, format) : std::nullopt;
}

std::optional<std::size_t> TensorHeat::indexOf(const std::string& tensor) const {
    const auto found = m_index.find(tensor);
    return found == m_index.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> TensorHeat::columnOf(std::int64_t step) const {
    const auto after = std::upper_bound(m_columns.begin(), m_columns.end(), step,
                                        [](std::int64_t at, const HeatColumn& column) { return at < column.first; });
    return after == m_columns.begin() ? std::nullopt : std::optional(static_cast<std::size_t>(after - m_columns.begin()) - 1);
}

}  // namespace mantissa::ui
