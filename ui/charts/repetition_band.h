#pragma once
// How far repetitions of the control lie apart: the lowest and the highest of them at each step, as the control's line is drawn (scale,
// view, smoothing, x). Grows with the runs; a step that fewer than two of them have is no spread and isn't drawn.
#include <optional>

#include "ui/charts/plot_column.h"
#include "ui/charts/step_range.h"

namespace mantissa::ui {

struct SpreadPoint {
    double x = 0;
    double low = 0, high = 0;  // on the axis' scale
    bool operator==(const SpreadPoint&) const = default;
};

/// Of one step, raw values as recorded.
struct SpreadReading {
    std::int64_t runs = 0;
    double low = 0, high = 0;
};

class RepetitionBand {
  public:
    void reset(const PlotOptions& options, std::vector<const RunSeries*> repetitions);
    /// Takes in what is new. On the axis of time a step lies where the control made it, for the repetitions ran at other times.
    void update(const RunSeries* control);

    [[nodiscard]] const std::vector<const RunSeries*>& repetitions() const { return m_repetitions; }
    /// Of those that have made a step.
    [[nodiscard]] std::int64_t started() const;
    /// As the lines: to the pixel, clipped to the view with a neighbour on each side, split where there is none.
    [[nodiscard]] std::vector<std::vector<SpreadPoint>> pieces(XSpan visible, int columns) const;

  private:
    struct Slot {
        double low = 0, high = 0;
        int runs = 0;
        [[nodiscard]] bool isSpread() const { return runs >= 2; }
    };
    [[nodiscard]] std::size_t placeOf(std::int64_t step) const { return static_cast<std::size_t>(step - m_first); }

    PlotOptions m_options;
    std::vector<const RunSeries*> m_repetitions;
    std::vector<PlotColumn> m_columns;
    std::vector<std::size_t> m_taken;  // of each column
    std::int64_t m_first = 0;          // step of the first slot
    std::vector<Slot> m_slots;
    std::vector<double> m_x;  // may be shorter than the slots
};

/// The lowest and the highest recorded value of those that have the step; empty when fewer than two do.
[[nodiscard]] std::optional<SpreadReading> spreadAt(const std::vector<const RunSeries*>& repetitions, std::int64_t step, Quantity quantity);

}  // namespace mantissa::ui
