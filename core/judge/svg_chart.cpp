#include "judge/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/numbers.h"
#include "judge/chart_axis.h"
#include "judge/html_text.h"
#include "record/decimation.h"

namespace mantissa {
namespace {

constexpr double width = 960, left = 72, right = 20, top = 26, ledger_height = 20, axis_height = 34;

std::string fixed(double value) {
    return to_text(std::round(value * 100) / 100);
}

std::string attribute(const char* name, double value) {
    return " " + std::string(name) + "=\"" + fixed(value) + "\"";
}

std::string label(double x, double y, const std::string& text, const char* anchor,
                  const char* css_class = "axis") {
    return "<text" + attribute("x", x) + attribute("y", y) + " text-anchor=\"" + anchor + "\" class=\"" +
           css_class + "\">" + html::escaped(text) + "</text>\n";
}

std::string segment(double x1, double y1, double x2, double y2, const char* css_class) {
    return "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) + attribute("y2", y2) +
           " class=\"" + css_class + "\"/>\n";
}

class Drawing {
  public:
    explicit Drawing(const Chart& chart) : m_chart(chart), m_y(value_axis(chart)) {
        m_bottom = top + chart.height;
        m_y.pixel_begin = m_bottom;
        m_y.pixel_end = top;
        double end = chart.x_end;
        for (const ChartLine& line : chart.lines) {
            if (!line.x.empty()) end = std::max(end, line.x.back());
        }
        m_x = Axis{0, std::max(end, 1.0), false, left, width - right};
        m_end = m_bottom + 8 + ledger_height * static_cast<double>(chart.ledger.size());
    }

    DrawnChart draw() {
        grid();
        ledger();
        for (const ChartBand& band : m_chart.bands) this->band(band);
        marks();
        for (const ChartLine& line : m_chart.lines) this->line(line);
        const double height = m_end + axis_height;
        m_result.svg = "<svg viewBox=\"0 0 " + fixed(width) + " " + fixed(height) +
                       "\" role=\"img\" aria-label=\"" + html::escaped(m_chart.title) + "\">\n<title>" +
                       html::escaped(m_chart.title) + "</title>\n" + m_svg + "</svg>\n";
        return std::move(m_result);
    }

  private:
    void grid() {
        for (const double tick : m_y.ticks()) {
            m_svg += segment(left, m_y.pixel(tick), width - right, m_y.pixel(tick), "grid");
            m_svg += label(left - 8, m_y.pixel(tick) + 4, tick_text(tick, m_chart.format), "end");
        }
        for (const double tick : m_x.ticks()) {
            if (tick != std::floor(tick)) continue;  // half a step doesn't exist
            m_svg +=
                label(m_x.pixel(tick), m_end + 16, readable_count(static_cast<std::int64_t>(tick)), "middle");
        }
        m_svg += label(width - right, m_end + 30, m_chart.x_label, "end");
        double x = left;
        for (const ChartLine& line : m_chart.lines) {
            m_svg += "<line" + attribute("x1", x) + attribute("y1", 12.0) + attribute("x2", x + 18) +
                     attribute("y2", 12.0) + " class=\"line " + html::escaped(line.css_class) + "\"/>" +
                     label(x + 23, 16, line.name, "start");
            x += 60 + 7 * static_cast<double>(line.name.size());
        }
        for (const ChartBand& band : m_chart.bands) {
            m_svg += "<rect" + attribute("x", x) + attribute("y", 6.0) + attribute("width", 18) + attribute("height", 12) +
                     " class=\"band " + html::escaped(band.css_class) + "\"/>" + label(x + 23, 16, band.name, "start");
            x += 60 + 7 * static_cast<double>(band.name.size());
        }
    }

    void ledger() {
        double y = m_bottom + 8;
        for (const LedgerLine& row : m_chart.ledger) {
            m_svg += label(left - 8, y + 12, row.name, "end");
            for (const LedgerSpan& span : row.spans) ledger_span(row, span, y);
            if (!row.note.empty()) ledger_note(row, y);
            y += ledger_height;
        }
    }

    void ledger_span(const LedgerLine& row, const LedgerSpan& span, double y) {
        static constexpr const char* names[] = {"applied", "probing", "fault", "nonfinite"};
        const double begin = m_x.pixel(span.from);
        // A single bad step stays visible at any length of the run.
        const double least = span.kind == LedgerKind::Applied ? 0.5 : 2.0;
        const double end = std::max(m_x.pixel(span.to + 1), begin + least);
        const char* name = names[static_cast<int>(span.kind)];
        m_svg += "<rect" + attribute("x", begin) + attribute("y", y + 2) +
                 attribute("width", std::min(end, width - right) - begin) +
                 attribute("height", ledger_height - 6) + " class=\"ledger " + name + " " +
                 html::escaped(row.css_class) + "\"/>\n";
    }

    void ledger_note(const LedgerLine& row, double y) {
        const double used = row.spans.empty() ? left : m_x.pixel(row.spans.back().to + 1);
        const double room = 7 * static_cast<double>(row.note.size());
        if (used + 8 + room < width - right)
            m_svg += label(used + 8, y + 12, row.note, "start");
        else
            m_svg += label(width - right - 6, y + 12, row.note, "end", "axis over");
    }

    void marks() {
        std::map<int, std::pair<std::string, int>>
            columns;  // one line per pixel column; what it stands for is counted
        for (const ChartMark& mark : m_chart.marks) {
            auto& [text, count] = columns[static_cast<int>(std::lround(m_x.pixel(mark.x)))];
            if (count++ == 0) text = mark.label;
        }
        bool first = true;
        for (const auto& [pixel, entry] : columns) {
            const double x = pixel;
            const std::string more = entry.second > 1 ? " (+" + std::to_string(entry.second - 1) + ")" : "";
            m_svg += "<g class=\"mark\"><title>" + html::escaped(entry.first + more) + "</title>" +
                     segment(x, top, x, m_end, "bad") + "<path class=\"bad\" d=\"M" + fixed(x) + " " +
                     fixed(top - 6) + "l6 7l-6 7l-6 -7z\"/></g>\n";
            if (!first) continue;
            first = false;
            const bool at_right = x > width * 0.7;
            m_svg += label(at_right ? x - 10 : x + 10, top + 6, entry.first, at_right ? "end" : "start",
                           "bad_text");
        }
    }

    struct BandPoint {
        double x = 0, low = 0, high = 0;
    };

    /// Points of one pixel column are one, with the extremes of all.
    void band(const ChartBand& band) {
        std::vector<BandPoint> piece;
        for (std::size_t i = 0; i < band.x.size(); ++i) {
            const bool is_drawn = std::isfinite(band.low[i]) && std::isfinite(band.high[i]) && (!m_chart.log_y || band.low[i] > 0);
            if (!is_drawn) {
                band_piece(band, piece);
                piece.clear();
            } else if (!piece.empty() && std::floor(m_x.pixel(piece.back().x)) == std::floor(m_x.pixel(band.x[i]))) {
                piece.back().low = std::min(piece.back().low, band.low[i]);
                piece.back().high = std::max(piece.back().high, band.high[i]);
            } else {
                piece.push_back({band.x[i], band.low[i], band.high[i]});
            }
        }
        band_piece(band, piece);
    }

    void band_piece(const ChartBand& band, const std::vector<BandPoint>& piece) {
        if (piece.size() < 2) return;
        std::string path;
        for (const BandPoint& one : piece) path += (path.empty() ? "M" : "L") + point(one.x, one.high);
        for (auto one = piece.rbegin(); one != piece.rend(); ++one) path += "L" + point(one->x, one->low);
        m_svg += "<path class=\"band " + html::escaped(band.css_class) + "\" d=\"" + path + "Z\"/>\n";
    }

    void line(const ChartLine& line) {
        std::vector<double> y = line.y;
        if (m_chart.log_y) {
            for (double& value : y) {
                if (!std::isfinite(value) || value > 0) continue;
                ++m_result.not_drawn;
                value = std::numeric_limits<double>::quiet_NaN();
            }
        }
        const auto pixels = static_cast<std::size_t>(width - left - right);
        const std::string path =
            y.size() <= 4 * pixels ? raw_path(line, y) : decimated_path(line.x, y, static_cast<int>(pixels));
        m_svg += "<path class=\"line " + html::escaped(line.css_class) + "\" d=\"" + path + "\"/>\n";
        for (std::size_t i = 0; i < y.size(); ++i) {
            if (line.dots || is_lone(y, i)) dot(line, i, y[i]);
        }
    }

    /// A finite value between two that aren't would have no line at all.
    static bool is_lone(const std::vector<double>& y, std::size_t i) {
        const bool before = i > 0 && std::isfinite(y[i - 1]),
                   after = i + 1 < y.size() && std::isfinite(y[i + 1]);
        return std::isfinite(y[i]) && !before && !after;
    }

    void dot(const ChartLine& line, std::size_t i, double y) {
        if (!std::isfinite(y)) return;
        m_svg += "<circle" + attribute("cx", m_x.pixel(line.x[i])) + attribute("cy", m_y.pixel(y)) +
                 " r=\"3\" class=\"dot " + html::escaped(line.css_class) + "\"><title>" +
                 html::escaped(line.name + " " + to_text(line.x[i]) + ": " + to_text(y)) +
                 "</title></circle>\n";
    }

    std::string point(double x, double y) const { return fixed(m_x.pixel(x)) + " " + fixed(m_y.pixel(y)); }

    std::string raw_path(const ChartLine& line, const std::vector<double>& y) const {
        std::string path;
        bool open = false;
        for (std::size_t i = 0; i < y.size(); ++i) {
            if (std::isfinite(y[i])) {
                if (open && line.stairs) path += "H" + fixed(m_x.pixel(line.x[i]));
                path += (open ? "L" : "M") + point(line.x[i], y[i]);
            }
            open = std::isfinite(y[i]);
        }
        return path;
    }

    std::string decimated_path(const std::vector<double>& x, const std::vector<double>& y, int pixels) {
        m_result.decimated = true;
        std::string path;
        bool open = false;
        for (const DecimatedColumn& column : decimate(x, y, m_x.begin, m_x.end, pixels).columns) {
            if (column.finite == 0) {
                open = false;
                continue;
            }
            path += (open && !column.gap_before ? "L" : "M") + point(column.x, column.first) + "L" +
                    point(column.x, column.min) + "L" + point(column.x, column.max) + "L" +
                    point(column.x, column.last);
            open = true;
        }
        return path;
    }

    const Chart& m_chart;
    Axis m_x, m_y;
    double m_bottom = 0, m_end = 0;  // of the plot; of the ledger under it
    std::string m_svg;
    DrawnChart m_result;
};

}  // namespace

DrawnChart draw_chart(const Chart& chart) {
    return Drawing(chart).draw();
}

}  // namespace mantissa
