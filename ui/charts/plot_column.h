#pragma once
// The y values of one run as a chart draws them: absolute, difference or ratio to the control, on the axis' scale, raw and smoothed.
// Grows with the run; NaN = nothing to draw there (not finite, not measured, or not positive on a logarithmic axis).
#include <vector>

#include "ui/charts/plot_options.h"

namespace mantissa::ui {

class PlotColumn {
  public:
    void reset(const PlotOptions& options);
    /// Takes in what is new. In a view against the control it stops at the first step that the control hasn't reached yet.
    void update(const RunSeries& run, const RunSeries* control);

    [[nodiscard]] const std::vector<double>& raw() const { return m_raw; }
    [[nodiscard]] const std::vector<double>& smooth() const { return m_smooth; }  // empty while smoothing is off

  private:
    PlotOptions m_options;
    std::vector<double> m_raw, m_smooth;
    double m_average = 0;
    bool m_hasAverage = false;
};

/// Onto the axis and back: Qt Charts' own logarithmic axis drops a whole line for one value ≤ 0, so ours is always linear in this.
[[nodiscard]] double toScale(double value, ValueScale scale);
[[nodiscard]] double fromScale(double scaled, ValueScale scale);

}  // namespace mantissa::ui
