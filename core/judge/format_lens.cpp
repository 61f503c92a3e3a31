#include "judge/format_lens.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

FormatLimits make_limits(NumberFormat format, int max_exponent, int min_exponent, int mantissa_bits) {
    FormatLimits limits;
    limits.format = format;
    limits.mantissa_bits = mantissa_bits;
    const double step = std::ldexp(1.0, max_exponent - mantissa_bits);
    limits.largest = std::ldexp(2.0, max_exponent) - step;
    limits.min_normal = std::ldexp(1.0, min_exponent);
    limits.min_subnormal = std::ldexp(1.0, min_exponent - mantissa_bits);
    limits.overflow_threshold = limits.largest + step / 2;
    return limits;
}

FormatLimits make_e4m3fn() {
    // The pattern above 448 is its NaN, so the largest value has an even last bit and a tie stays below.
    FormatLimits limits = make_limits(NumberFormat::E4m3fn, 8, -6, 3);
    limits.largest = 448;
    limits.overflow_threshold = 464;
    limits.threshold_overflows = false;
    limits.has_inf = false;
    return limits;
}

/// Distance of two neighbours of the format around a magnitude.
double spacing(const FormatLimits& limits, double magnitude) {
    const int exponent = magnitude < limits.min_normal ? limits.min_exponent() : std::ilogb(magnitude);
    return std::ldexp(1.0, exponent - limits.mantissa_bits);
}

/// Mean of x² over [a, b].
double mean_square(double a, double b) {
    return (a * a + a * b + b * b) / 3;
}

/// Mean squared error of rounding values that are spread evenly over [a, b] to multiples of `step`.
double grid_noise(double a, double b, double step) {
    if (b - a >= 8 * step) return step * step / 12;
    if (b <= a) {
        const double error = a - std::nearbyint(a / step) * step;
        return error * error;
    }
    double sum = 0;
    for (double from = a; from < b;) {
        // The cell of a multiple ends half a step above it.
        const double multiple = std::floor(from / step + 0.5);
        const double to = std::min(b, (multiple + 0.5) * step);
        if (to <= from) break;
        sum += (to - from) * mean_square(from - multiple * step, to - multiple * step);
        from = to;
    }
    return sum / (b - a);
}

/// Adds values up as they are met. Sums are of counts.
class Tally {
  public:
    Tally(const FormatLimits& limits, double scale, NumberFormat source)
        : m_limits(limits), m_source(limits_of(source)), m_scale(scale), m_keeps_grid(std::exp2(std::round(std::log2(scale))) == scale) {}

    void point(double unscaled, double count) {
        const double value = unscaled * m_scale;
        const double rounded = round_to(m_limits.format, value);
        m_count += count;
        m_signal += count * value * value;
        if (std::isinf(rounded)) {
            m_overflow += count;
            m_clamped += count * (value - m_limits.largest) * (value - m_limits.largest);
            return;
        }
        if (rounded == 0) m_flush += count;
        else if (rounded < m_limits.min_normal) m_subnormal += count;
        if (rounded == value) m_exact += count;
        m_noise += count * (rounded - value) * (rounded - value);
    }

    /// Values that are spread evenly between two magnitudes.
    void interval(double unscaled_a, double unscaled_b, double count) {
        const double a = unscaled_a * m_scale, b = unscaled_b * m_scale;
        const double flush_limit = m_limits.flush_limit();
        const auto part = [&](double from, double to) { return count * std::max(0.0, to - from) / (b - a); };
        const auto inside = [&](double limit) { return std::clamp(limit, a, b); };
        const double flush_end = inside(flush_limit), over_start = inside(m_limits.overflow_threshold);
        const double subnormal_end = inside(m_limits.min_normal - flush_limit);
        const auto cut_by = [&](double limit) { return limit > a && limit < b ? count : 0; };
        m_flush_error += cut_by(flush_limit);
        m_subnormal_error += cut_by(flush_limit) + cut_by(m_limits.min_normal - flush_limit);
        m_overflow_error += cut_by(m_limits.overflow_threshold);
        m_count += count;
        m_signal += count * mean_square(a, b);
        m_flush += part(a, flush_end);
        m_subnormal += part(flush_end, subnormal_end);
        m_overflow += part(over_start, b);
        m_noise += part(a, flush_end) * mean_square(a, flush_end);
        m_clamped += part(over_start, b) * mean_square(over_start - m_limits.largest, b - m_limits.largest);
        const double source_step = spacing(m_source, unscaled_a) * m_scale;
        for (double from = flush_end; from < over_start;) {
            // One binade at a time: the spacing changes at powers of two.
            const double binade = from < m_limits.min_normal ? m_limits.min_normal : std::ldexp(1.0, std::ilogb(from) + 1);
            const double to = std::min(over_start, binade);
            piece(from, to, part(from, to), source_step);
            from = to;
        }
    }

    [[nodiscard]] LensReading reading() const {
        LensReading reading;
        if (m_count <= 0) {
            reading.sqnr_db = reading.sqnr_clamped_db = infinity;
            return reading;
        }
        reading.flush = m_flush / m_count;
        reading.subnormal = m_subnormal / m_count;
        reading.overflow = m_overflow / m_count;
        reading.share_error = std::max({m_flush_error, m_subnormal_error, m_overflow_error}) / m_count;
        reading.exact = m_exact / m_count;
        reading.sqnr_clamped_db = ratio_db(m_noise + m_clamped);
        reading.sqnr_db = m_overflow > 0 ? -infinity : ratio_db(m_noise);
        return reading;
    }

  private:
    [[nodiscard]] double ratio_db(double noise) const { return noise > 0 ? 10 * std::log10(m_signal / noise) : infinity; }

    void piece(double from, double to, double count, double source_step) {
        const double step = spacing(m_limits, from);
        if (m_keeps_grid && source_step >= step) {
            m_exact += count;
            return;
        }
        m_noise += count * grid_noise(from, to, step);
        if (!m_keeps_grid) return;
        // Of the values of the source that lie strictly inside, every (step / source_step)th is one of the format too.
        const double mine = std::max(0.0, (to - from) / step - 1), theirs = (to - from) / source_step - 1;
        if (theirs > 0) m_exact += count * std::min(1.0, mine / theirs);
    }

    const FormatLimits& m_limits;
    const FormatLimits& m_source;
    double m_scale;
    bool m_keeps_grid;  // the scale is a power of two
    double m_count = 0, m_flush = 0, m_subnormal = 0, m_overflow = 0, m_exact = 0;
    double m_flush_error = 0, m_subnormal_error = 0, m_overflow_error = 0;  // at most
    double m_signal = 0, m_noise = 0, m_clamped = 0;
};

/// The values inside a bin. The largest and the smallest one are known by themselves: of a tensor with a long tail they alone may decide
/// the signal and its noise.
void spread(Tally& tally, const LensInput& input, const HistogramBin& bin) {
    double from = bin_edge(bin.index), to = bin_end(bin), count = static_cast<double>(bin.inside);
    // What only float64 holds lies in the outermost bins, but not within their edges.
    if (bin.index == 0) from = std::min(from, input.smallest.value_or(from));
    if (bin.index + bin.parts == histogram_bins) to = std::max(to, input.largest.value_or(to));
    const bool has_smallest = input.smallest && *input.smallest > from && *input.smallest < to;
    const bool has_largest = input.largest && *input.largest > from && *input.largest < to;
    if (input.largest) to = std::min(to, *input.largest);
    if (has_smallest) from = *input.smallest;
    if (from >= to) return tally.point(to, count);
    if (has_largest) tally.point(to, 1), --count;
    if (has_smallest && count > 0) tally.point(from, 1), --count;
    if (count > 0) tally.interval(from, to, count);
}

double largest_of(const LensInput& input) {
    if (input.largest) return *input.largest;
    if (input.histogram.bins.empty()) return 0;
    const HistogramBin& last = input.histogram.bins.back();
    // Without the exact value the upper edge stands for it: rather too little headroom than too much.
    return last.inside > 0 ? bin_end(last) : bin_edge(last.index);
}

}  // namespace

const char* to_string(NumberFormat format) {
    switch (format) {
        case NumberFormat::Fp32: return "fp32";
        case NumberFormat::Fp16: return "fp16";
        case NumberFormat::Bf16: return "bf16";
        case NumberFormat::E4m3fn: return "e4m3fn";
        case NumberFormat::E5m2: return "e5m2";
    }
    return "";
}

int FormatLimits::min_exponent() const { return std::ilogb(min_normal); }

const FormatLimits& limits_of(NumberFormat format) {
    static const std::array<FormatLimits, 5> table{
        make_limits(NumberFormat::Fp32, 127, -126, 23), make_limits(NumberFormat::Fp16, 15, -14, 10),
        make_limits(NumberFormat::Bf16, 127, -126, 7), make_e4m3fn(), make_limits(NumberFormat::E5m2, 15, -14, 2)};
    return table[static_cast<std::size_t>(format)];
}

NumberFormat format_of(Precision mode, TensorRole role) {
    switch (mode) {
        case Precision::No: return NumberFormat::Fp32;
        case Precision::Fp16: return NumberFormat::Fp16;
        case Precision::Bf16: return NumberFormat::Bf16;
        case Precision::Fp8: return role == TensorRole::Gradient ? NumberFormat::E5m2 : NumberFormat::E4m3fn;
    }
    return NumberFormat::Fp32;
}

NumberFormat format_of_dtype(std::string_view dtype) {
    if (dtype == "float16") return NumberFormat::Fp16;
    if (dtype == "bfloat16") return NumberFormat::Bf16;
    if (dtype == "float8_e4m3fn") return NumberFormat::E4m3fn;
    if (dtype == "float8_e5m2") return NumberFormat::E5m2;
    return NumberFormat::Fp32;
}

double largest_of_dtype(std::string_view dtype) {
    if (dtype == "float64") return std::numeric_limits<double>::max();
    const NumberFormat format = format_of_dtype(dtype);
    return format == NumberFormat::Fp32 && dtype != "float32" ? 0 : limits_of(format).largest;
}

double round_to(NumberFormat format, double magnitude) {
    const FormatLimits& limits = limits_of(format);
    if (magnitude <= limits.flush_limit()) return 0;
    if (!(magnitude <= limits.overflow_threshold)) return infinity;
    const double step = spacing(limits, magnitude);
    const double rounded = std::nearbyint(magnitude / step) * step;
    return rounded > limits.largest ? infinity : rounded;
}

Result<LensInput> lens_input(const TensorStatRow& row) {
    auto histogram = ExponentHistogram::from_blob(row.exponents);
    if (!histogram) return histogram.error();
    LensInput input;
    input.histogram = std::move(histogram).value();
    input.zero = row.zero;
    input.inf = row.pos_inf + row.neg_inf;
    input.nan = row.nan;
    if (row.largest > 0) input.largest = row.largest;
    if (row.smallest_nonzero > 0) input.smallest = row.smallest_nonzero;
    input.source = format_of_dtype(row.dtype);
    return input;
}

LensReading read_lens(const LensInput& input, NumberFormat format, double scale) {
    const FormatLimits& limits = limits_of(format);
    Tally tally(limits, scale, input.source);
    for (const HistogramBin& bin : input.histogram.bins) {
        const double edge = bin_edge(bin.index);
        if (bin.on_edge > 0) tally.point(edge, static_cast<double>(bin.on_edge));
        if (bin.inside > 0) spread(tally, input, bin);
    }
    LensReading reading = tally.reading();
    const double largest = largest_of(input) * scale;
    reading.headroom_bits = largest > 0 ? std::log2(limits.largest / largest) : infinity;
    return reading;
}

LensCurve lens_curve(const LensInput& input, NumberFormat format, int from_log2, int to_log2) {
    LensCurve curve;
    curve.best_lost = infinity;
    for (int log2_scale = from_log2; log2_scale <= to_log2; ++log2_scale) {
        curve.points.push_back({log2_scale, read_lens(input, format, std::ldexp(1.0, log2_scale))});
        curve.best_lost = std::min(curve.best_lost, curve.points.back().reading.lost());
    }
    // Sums of shares differ in their last bits: what differs by less than one value in ten million counts as equal.
    const auto is_best = [&](const LensCurve::Point& point) { return point.reading.lost() <= curve.best_lost + 1e-7; };
    int longest = 0, length = 0;
    for (const LensCurve::Point& point : curve.points) {
        length = is_best(point) ? length + 1 : 0;
        if (length <= longest) continue;
        longest = length;
        curve.best_first = point.log2_scale - length + 1;
        curve.best_last = point.log2_scale;
    }
    return curve;
}

}  // namespace mantissa
