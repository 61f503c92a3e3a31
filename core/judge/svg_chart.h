#pragma once
// A line chart as inline SVG: lines that break at non-finite values, marks for those steps over the whole
// height, and under it, on the same x axis, a ledger of applied and skipped steps. Colours come from CSS
// classes of the page ("no" "fp16" "bf16" "fp8" "bad").
#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

struct ChartLine {
    std::string name, css_class;
    std::vector<double> x, y;  // x ascends
    bool dots = false;         // each value as a dot as well
    bool stairs = false;       // holds its value until the next point
};

/// An area behind the lines: at each x from `low` to `high`. A value that isn't finite, or isn't above 0 on a logarithmic axis, splits it.
struct ChartBand {
    std::string name, css_class;
    std::vector<double> x, low, high;  // x ascends
};

struct ChartMark {
    double x = 0;
    std::string label;
};

enum class LedgerKind { Applied, Probing, Fault, Nonfinite };

struct LedgerSpan {
    double from = 0, to = 0;  // steps, both included
    LedgerKind kind = LedgerKind::Applied;
};

struct LedgerLine {
    std::string name, css_class, note;
    std::vector<LedgerSpan> spans;
};

enum class AxisFormat { Number, Scale, Bytes, Percent };  // Scale: values are exponents of two

struct Chart {
    std::string title, x_label;
    bool log_y = false;
    AxisFormat format = AxisFormat::Number;
    double x_end = 0;  // the axis goes from 0 to here at least
    double height = 240;
    std::vector<ChartBand> bands;
    std::vector<ChartLine> lines;
    std::vector<ChartMark> marks;
    std::vector<LedgerLine> ledger;
};

struct DrawnChart {
    std::string svg;
    std::int64_t not_drawn = 0;  // values at or below zero on a logarithmic axis
    bool decimated = false;      // a line had more points than twice its pixels
};

[[nodiscard]] DrawnChart draw_chart(const Chart& chart);

}  // namespace mantissa
