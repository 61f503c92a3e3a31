#include "record/decimation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/assert.h"

namespace mantissa {
namespace {

// Two doubles in one register (every x86-64 and AArch64 has them); the plain loop is four times slower,
// because the compiler may not reorder comparisons of doubles on its own.
using Pair = double __attribute__((vector_size(16)));
using PairMask = long long __attribute__((vector_size(16)));

Pair load(const double* from) {
    Pair pair;
    std::memcpy(&pair, from, sizeof pair);
    return pair;
}

struct Extent {
    double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
    bool all_finite = true;
};

/// min and max are right only if all values are finite.
Extent extent_of(std::span<const double> values) {
    constexpr std::size_t lanes = 8;
    Extent extent;
    std::size_t at = 0;
    if (values.size() >= lanes) {
        Pair low[4], high[4];
        PairMask bad{};
        for (int lane = 0; lane < 4; ++lane) low[lane] = high[lane] = load(values.data() + 2 * lane);
        for (; at + lanes <= values.size(); at += lanes) {
            for (int lane = 0; lane < 4; ++lane) {
                const Pair value = load(values.data() + at + 2 * static_cast<std::size_t>(lane));
                low[lane] = value < low[lane] ? value : low[lane];
                high[lane] = value > high[lane] ? value : high[lane];
                bad |= (value * 0.0 != Pair{0.0, 0.0});  // Inf * 0 and NaN * 0 are NaN
            }
        }
        extent.all_finite = bad[0] == 0 && bad[1] == 0;
        for (int lane = 0; lane < 4; ++lane) {
            extent.min = std::min({extent.min, low[lane][0], low[lane][1]});
            extent.max = std::max({extent.max, high[lane][0], high[lane][1]});
        }
    }
    for (; at < values.size(); ++at) {
        extent.min = std::min(extent.min, values[at]);
        extent.max = std::max(extent.max, values[at]);
        extent.all_finite = extent.all_finite && std::isfinite(values[at]);
    }
    return extent;
}

/// One column that holds something non-finite. `broken`: such a point came after the last finite one.
void fill_mixed_column(DecimatedColumn& column, std::span<const double> values, bool& broken) {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
    for (const double value : values) {
        if (std::isfinite(value)) {
            if (column.finite++ == 0) {
                column.first = value;
                column.gap_before = broken;
            }
            column.last = value;
            low = std::min(low, value);
            high = std::max(high, value);
            broken = false;
        } else {
            broken = true;
            column.nan += std::isnan(value) ? 1 : 0;
            column.pos_inf += value > 0 ? 1 : 0;
            column.neg_inf += value < 0 ? 1 : 0;
        }
    }
    if (column.finite > 0) {
        column.min = low;
        column.max = high;
    }
}

void fill_column(DecimatedColumn& column, std::span<const double> values, bool& broken) {
    const Extent extent = extent_of(values);
    if (!extent.all_finite) return fill_mixed_column(column, values, broken);
    column.finite = static_cast<std::int64_t>(values.size());
    column.min = extent.min;
    column.max = extent.max;
    column.first = values.front();
    column.last = values.back();
    column.gap_before = broken;
    broken = false;
}

}  // namespace

DecimatedLine decimate(std::span<const double> x, std::span<const double> y, double x_begin, double x_end,
                       int width) {
    MANTISSA_ASSERT(x.size() == y.size());
    DecimatedLine line;
    if (width <= 0 || !(x_begin <= x_end) || x.empty()) return line;
    const auto begin = static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), x_begin) - x.begin());
    const auto end = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), x_end) - x.begin());
    const double scale = x_end > x_begin ? width / (x_end - x_begin) : 0.0;
    const auto pixel_of = [&](std::size_t at) {
        const double pixel =
            (x[at] - x_begin) * scale;  // not a number in a view of no width worth speaking of
        return pixel < width - 1 ? std::max(static_cast<int>(pixel), 0) : width - 1;
    };

    bool broken = begin > 0 && !std::isfinite(y[begin - 1]);
    if (begin > 0 && !broken) line.before = DecimatedPoint{x[begin - 1], y[begin - 1]};
    line.columns.reserve(std::min(static_cast<std::size_t>(width), end - std::min(begin, end)));
    std::size_t stride = 1;
    for (std::size_t from = begin; from < end;) {
        // The end of the column: doubling steps from here, then halving. The first stride is the last
        // column's length.
        const int pixel = pixel_of(from);
        std::size_t inside = from, outside = from + stride;
        while (outside < end && pixel_of(outside) == pixel) {
            inside = outside;
            outside += stride;
            stride *= 2;
        }
        outside = std::min(outside, end);
        while (outside - inside > 1) {
            const std::size_t middle = inside + (outside - inside) / 2;
            (pixel_of(middle) == pixel ? inside : outside) = middle;
        }
        DecimatedColumn column;
        column.pixel = pixel;
        column.x = x[from];
        column.x_last = x[inside];
        fill_column(column, y.subspan(from, outside - from), broken);
        if (column.finite > 0) {
            line.min = std::isnan(line.min) ? column.min : std::min(line.min, column.min);
            line.max = std::isnan(line.max) ? column.max : std::max(line.max, column.max);
        }
        line.columns.push_back(column);
        stride = std::max<std::size_t>(1, outside - from);
        from = outside;
    }
    if (end < x.size() && !broken && std::isfinite(y[end])) line.after = DecimatedPoint{x[end], y[end]};
    return line;
}

}  // namespace mantissa
