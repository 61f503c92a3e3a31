#include "judge/chart_axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"

namespace mantissa {
namespace {

constexpr double wanted_ticks = 6;
constexpr int most_ticks = 20;  // a range too fine for a double's digits would count for ever

std::vector<double> linear_ticks(double begin, double end) {
    const double rough = (end - begin) / wanted_ticks;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= rough) {
            step = factor * power;
            break;
        }
    }
    std::vector<double> ticks;
    const double first = std::ceil(begin / step - 1e-9);
    for (int i = 0; i < most_ticks; ++i) {
        const double tick = (first + i) * step;
        if (!(tick <= end + 1e-9 * step)) break;
        ticks.push_back(tick);
    }
    return ticks;
}

std::vector<double> log_ticks(double begin, double end) {
    const double first = std::ceil(std::log10(begin) - 1e-9), last = std::floor(std::log10(end) + 1e-9);
    if (last - first < 1) return linear_ticks(begin, end);
    const double stride = std::max(1.0, std::ceil((last - first) / wanted_ticks));
    std::vector<double> ticks;
    for (double exponent = first; exponent <= last; exponent += stride)
        ticks.push_back(std::pow(10.0, exponent));
    return ticks;
}

/// "0.1" rather than "0.100".
std::string short_number(double value) {
    std::string text = readable_number(value);
    if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

}  // namespace

double Axis::pixel(double value) const {
    const double low = log ? std::log10(begin) : begin, high = log ? std::log10(end) : end;
    const double share = ((log ? std::log10(value) : value) - low) / (high - low);
    return pixel_begin + share * (pixel_end - pixel_begin);
}

std::vector<double> Axis::ticks() const {
    return log ? log_ticks(begin, end) : linear_ticks(begin, end);
}

Axis value_axis(const Chart& chart) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    const auto take = [&](const std::vector<double>& values) {
        for (const double value : values) {
            if (!std::isfinite(value) || (chart.log_y && value <= 0)) continue;
            low = std::min(low, value);
            high = std::max(high, value);
        }
    };
    for (const ChartLine& line : chart.lines) take(line.y);
    for (const ChartBand& band : chart.bands) {
        take(band.low);
        take(band.high);
    }
    Axis axis;
    axis.log = chart.log_y;
    if (low > high) {  // nothing to draw
        axis.begin = chart.log_y ? 0.1 : 0;
        axis.end = 1;
        return axis;
    }
    if (chart.log_y) {
        const double air = std::max(0.05 * std::log10(high / low), 0.1);
        axis.begin = std::max(std::pow(10.0, std::log10(low) - air), std::numeric_limits<double>::min());
        axis.end = std::min(std::pow(10.0, std::log10(high) + air), std::numeric_limits<double>::max());
        return axis;
    }
    // A difference of two doubles near the ends of their range isn't a double any more.
    constexpr double most = std::numeric_limits<double>::max() / 8;
    low = std::clamp(low, -most, most);
    high = std::clamp(high, -most, most);
    const double span = high - low;
    const double air = span > 0 ? 0.06 * span : std::max(std::abs(high) * 0.1, 1e-12);
    axis.begin = low >= 0 && low - air < 0 ? 0 : low - air;
    axis.end = high + air;
    return axis;
}

std::string tick_text(double value, AxisFormat format) {
    switch (format) {
        case AxisFormat::Scale:
            return "2^" + short_number(value);  // the line holds exponents
        case AxisFormat::Bytes:
            return readable_bytes(static_cast<std::uint64_t>(std::max(0.0, value)));
        case AxisFormat::Percent:
            return readable_percent(value, 0);
        case AxisFormat::Number:
            break;
    }
    return short_number(value);
}

}  // namespace mantissa
