#include "ui/charts/repetition_band.h"

#include <algorithm>
#include <cmath>

namespace mantissa::ui {

void RepetitionBand::reset(const PlotOptions& options, std::vector<const RunSeries*> repetitions) {
    m_options = options;
    m_repetitions = std::move(repetitions);
    m_columns.assign(m_repetitions.size(), PlotColumn());
    for (PlotColumn& column : m_columns) {
        column.reset(options);
    }
    m_taken.assign(m_repetitions.size(), 0);
    m_first = 0;
    m_slots.clear();
    m_x.clear();
}

std::int64_t RepetitionBand::started() const {
    return std::count_if(m_repetitions.begin(), m_repetitions.end(), [](const RunSeries* run) { return !run->isEmpty(); });
}

void RepetitionBand::update(const RunSeries* control) {
    for (std::size_t i = 0; i < m_repetitions.size(); ++i) {
        const RunSeries& run = *m_repetitions[i];
        m_columns[i].update(run, control);
        const std::vector<double>& values = m_options.smoothingSteps > 0 ? m_columns[i].smooth() : m_columns[i].raw();
        for (; m_taken[i] < values.size(); ++m_taken[i]) {
            const std::int64_t step = run.steps()[m_taken[i]];
            if (m_slots.empty()) {
                m_first = step;
            }
            const double value = values[m_taken[i]];
            if (step < m_first || !std::isfinite(value)) {
                continue;
            }
            if (placeOf(step) >= m_slots.size()) {
                m_slots.resize(placeOf(step) + 1);
            }
            Slot& slot = m_slots[placeOf(step)];
            slot.low = slot.runs == 0 ? value : std::min(slot.low, value);
            slot.high = slot.runs == 0 ? value : std::max(slot.high, value);
            ++slot.runs;
        }
    }
    while (m_x.size() < m_slots.size()) {
        const std::int64_t step = m_first + static_cast<std::int64_t>(m_x.size());
        if (m_options.x == XKind::Step) {
            m_x.push_back(static_cast<double>(step));
            continue;
        }
        const auto index = control ? control->indexOfStep(step) : std::nullopt;
        if (!index) {
            break;  // the control may still come there
        }
        m_x.push_back(control->x(m_options.x)[*index]);
    }
}

std::vector<std::vector<SpreadPoint>> RepetitionBand::pieces(XSpan visible, int columns) const {
    std::vector<std::vector<SpreadPoint>> pieces;
    // A neighbour on each side, so that the band goes to the edges of the view.
    const auto first = std::lower_bound(m_x.begin(), m_x.end(), visible.from), last = std::upper_bound(first, m_x.end(), visible.to);
    const auto from = static_cast<std::size_t>(first - m_x.begin()), to = static_cast<std::size_t>(last - m_x.begin());
    const std::size_t begin = from > 0 ? from - 1 : 0, end = std::min(to + 1, m_x.size());
    bool isOpen = false;
    long long pixel = 0;
    for (std::size_t i = begin; i < end; ++i) {
        const Slot& slot = m_slots[i];
        if (!slot.isSpread()) {
            isOpen = false;
            continue;
        }
        const auto here = static_cast<long long>(std::floor((m_x[i] - visible.from) / visible.width() * columns));
        if (isOpen && here == pixel) {
            SpreadPoint& point = pieces.back().back();  // extremes are what the eye must not lose
            point.low = std::min(point.low, slot.low);
            point.high = std::max(point.high, slot.high);
            continue;
        }
        if (!isOpen) {
            pieces.emplace_back();
        }
        pieces.back().push_back({m_x[i], slot.low, slot.high});
        isOpen = true;
        pixel = here;
    }
    return pieces;
}

std::optional<SpreadReading> spreadAt(const std::vector<const RunSeries*>& repetitions, std::int64_t step, Quantity quantity) {
    SpreadReading reading;
    for (const RunSeries* run : repetitions) {
        const auto index = run->indexOfStep(step);
        const double value = index ? run->column(quantity)[*index] : std::nan("");
        if (std::isfinite(value)) {
            reading.low = reading.runs == 0 ? value : std::min(reading.low, value);
            reading.high = reading.runs == 0 ? value : std::max(reading.high, value);
            ++reading.runs;
        }
    }
    return reading.runs >= 2 ? std::optional(reading) : std::nullopt;
}

}  // namespace mantissa::ui
