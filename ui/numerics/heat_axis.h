#pragma once
// Where the columns of a heat map lie: a linear axis of steps, on which a record reaches to the next one. Records come every 50 steps or at
// every step as the level of watching is switched, and equal widths for them would draw a bent time. No Qt.
#include <cstdint>
#include <optional>
#include <vector>

#include "ui/numerics/tensor_heat.h"

namespace mantissa::ui {

class HeatAxis {
  public:
    struct Columns {
        std::size_t from = 0, to = 0;  // [from, to); empty: nothing was recorded there
        [[nodiscard]] bool isEmpty() const { return to <= from; }
        bool operator==(const Columns&) const = default;
    };
    struct Pixels {
        double from = 0, to = 0;
    };

    HeatAxis(const std::vector<HeatColumn>& columns, int width);

    /// Steps, from the first record to the end of the last one.
    [[nodiscard]] double begin() const { return m_begin; }
    [[nodiscard]] double end() const { return m_end; }
    [[nodiscard]] double pixelOf(double step) const { return (step - m_begin) / (m_end - m_begin) * m_width; }
    /// A column's own place, which may be narrower than a pixel.
    [[nodiscard]] Pixels pixelsOf(std::size_t column) const;
    /// All that a pixel shows. Each column is shown by one pixel at least.
    [[nodiscard]] const std::vector<Columns>& shown() const { return m_shown; }
    /// Round steps, `most` of them at most.
    [[nodiscard]] std::vector<std::int64_t> ticks(int most) const;

  private:
    /// Steps that a column stands for: to the next record, but not over a hole in which nothing was watched.
    [[nodiscard]] static double reachOf(const std::vector<HeatColumn>& columns, std::size_t column);

    const std::vector<HeatColumn>& m_columns;
    int m_width;
    double m_begin = 0, m_end = 1;
    std::vector<double> m_reach;
    std::vector<Columns> m_shown;
};

}  // namespace mantissa::ui
