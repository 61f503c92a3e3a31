#include "ui/numerics/heat_axis.h"

#include <algorithm>
#include <cmath>

namespace mantissa::ui {

HeatAxis::HeatAxis(const std::vector<HeatColumn>& columns, int width) : m_columns(columns), m_width(std::max(width, 1)) {
    m_shown.resize(static_cast<std::size_t>(m_width));
    if (columns.empty()) {
        return;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
        m_reach.push_back(reachOf(columns, i));
    }
    m_begin = static_cast<double>(columns.front().first);
    m_end = static_cast<double>(columns.back().first) + m_reach.back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const Pixels place = pixelsOf(i);
        const int from = std::clamp(static_cast<int>(std::lround(place.from)), 0, m_width - 1);
        const int to = std::clamp(static_cast<int>(std::lround(place.to)), from + 1, m_width);
        for (int pixel = from; pixel < to; ++pixel) {
            Columns& shown = m_shown[static_cast<std::size_t>(pixel)];
            shown = shown.isEmpty() ? Columns{i, i + 1} : Columns{shown.from, i + 1};
        }
    }
}

double HeatAxis::reachOf(const std::vector<HeatColumn>& columns, std::size_t column) {
    const auto distance = [&columns](std::size_t at) { return static_cast<double>(columns[at + 1].first - columns[at].first); };
    const double own = static_cast<double>(columns[column].last - columns[column].first) + 1;
    if (column + 1 == columns.size()) {
        return std::max(own, column > 0 ? distance(column - 1) : 0);  // as far as the one before, since the next isn't there yet
    }
    // Usual is what lies before or behind; at either end nothing tells a hole from the pace.
    const double here = distance(column), before = column > 0 ? distance(column - 1) : here;
    const double after = column + 2 < columns.size() ? distance(column + 1) : here;
    return std::min(here, std::max({own, before, after}));
}

HeatAxis::Pixels HeatAxis::pixelsOf(std::size_t column) const {
    const auto first = static_cast<double>(m_columns[column].first);
    return {pixelOf(first), pixelOf(first + m_reach[column])};
}

std::vector<std::int64_t> HeatAxis::ticks(int most) const {
    std::vector<std::int64_t> ticks;
    const double span = m_end - m_begin;
    std::int64_t every = 1;
    for (std::int64_t decade = 1; static_cast<double>(every) * std::max(most, 1) < span; decade *= 10) {
        for (const std::int64_t part : {1, 2, 5}) {
            every = part * decade;
            if (static_cast<double>(every) * std::max(most, 1) >= span) {
                break;
            }
        }
    }
    const auto first = static_cast<std::int64_t>(std::ceil(m_begin / static_cast<double>(every)));
    for (std::int64_t tick = first * every; static_cast<double>(tick) < m_end; tick += every) {
        ticks.push_back(tick);
    }
    return ticks;
}

}  // namespace mantissa::ui
