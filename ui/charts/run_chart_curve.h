#pragma once
// One run inside a RunChart: its values and the Qt series that draw them.
#include <QtCharts/QLineSeries>
#include <vector>

#include "ui/charts/run_chart.h"

namespace mantissa::ui {

struct RunChart::Curve {
    Precision mode = Precision::No;
    std::size_t position = 0;  // among the chart's runs
    PlotColumn column;
    // One Qt series per unbroken piece. Series are reused and emptied, never deleted inside one of their signals.
    std::vector<QLineSeries*> raw, smooth;
    double lowest = 0, highest = 0;
    bool isEmpty = true;
};

}  // namespace mantissa::ui
