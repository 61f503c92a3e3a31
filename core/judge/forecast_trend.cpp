// When the largest value of an output reaches the end of a format. log2 of it grows about evenly and scatters from batch to batch by some
// tenths of a bit, so it isn't the trend that gets there first but one batch above it: the step that is told is the one by which one of
// all batches so far, also those between the records, has reached the end with even odds. Nothing is told further ahead than was seen: a
// run's first steps grow fast and then level off.
#include <algorithm>
#include <cmath>

#include "judge/forecast.h"

namespace mantissa {
namespace {

struct Point {
    double step = 0, bits = 0;  // log2 of the largest value
};

constexpr std::size_t fewest_records = 10, many_records = 20, most_points = 160;
// What batches of the runs that were tried scatter by, in bits, and how many records outweigh it.
constexpr double usual_scatter = 0.3, weight_of_usual = 10;
constexpr double even_odds = 0.5, early_odds = 0.05, late_odds = 0.95, slope_limits = 1.645;
// A half run takes its own way: in nine pairs of gated-overflow it met the end within 19 % of the step at which its control did.
constexpr double run_to_run = 0.2;
// What is as far below the end isn't left open: what grows, and what doesn't but was seen for less than half of the steps.
constexpr double far_bits = 6, far_bits_at_rest = 3;
constexpr double narrow = 0.6;  // of the steps from the first record to the foretold step
// Each is looked at: without a limit a plan of a billion steps would take minutes, and a damaged one for ever.
constexpr std::int64_t most_steps = 1'000'000;

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// A line through most of the points (Theil and Sen), which a few odd batches don't move, with 90 % limits of its slope.
struct Trend {
    double slope = 0, low_slope = 0, high_slope = 0;
    double middle_step = 0, middle_bits = 0;  // the line turns around it within these limits
    double scatter = 0;
    [[nodiscard]] double at(double step, double with_slope) const { return middle_bits + with_slope * (step - middle_step); }
};

Trend fit(const std::vector<Point>& points) {
    std::vector<double> slopes, steps, offsets, residuals;
    for (std::size_t i = 0; i < points.size(); ++i) {
        steps.push_back(points[i].step);
        for (std::size_t j = i + 1; j < points.size(); ++j) {
            if (points[j].step > points[i].step) slopes.push_back((points[j].bits - points[i].bits) / (points[j].step - points[i].step));
        }
    }
    Trend trend;
    if (slopes.empty()) return trend;
    std::sort(slopes.begin(), slopes.end());
    const auto n = static_cast<double>(points.size()), pairs = static_cast<double>(slopes.size());
    const double spread = slope_limits * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);  // Sen's limits, by Kendall's variance
    const auto rank = [&](double at) { return slopes[static_cast<std::size_t>(std::clamp(at, 0.0, pairs - 1))]; };
    trend.slope = rank(pairs / 2);
    trend.low_slope = rank((pairs - spread) / 2);
    trend.high_slope = rank((pairs + spread) / 2);
    trend.middle_step = median(steps);
    for (const Point& point : points) offsets.push_back(point.bits - trend.slope * (point.step - trend.middle_step));
    trend.middle_bits = median(offsets);
    for (const double offset : offsets) residuals.push_back(std::abs(offset - trend.middle_bits));
    const double own = 1.4826 * median(residuals);
    trend.scatter = std::sqrt((weight_of_usual * usual_scatter * usual_scatter + n * own * own) / (weight_of_usual + n));
    return trend;
}

std::vector<Point> thinned(const std::vector<Point>& points) {
    if (points.size() <= most_points) return points;
    std::vector<Point> some;
    for (std::size_t i = 0; i < most_points; ++i) some.push_back(points[i * (points.size() - 1) / (most_points - 1)]);
    return some;
}

/// The first step of `from` … `until` by which a batch is beyond the end with these odds. `is_known`: a record says that it isn't.
template <typename Known>
std::optional<std::int64_t> first_passage(const Trend& trend, double slope, double end_bits, double odds, std::int64_t from,
                                          std::int64_t until, Known is_known) {
    double stays = 1;
    for (std::int64_t step = from; step <= until; ++step) {
        if (is_known(step)) continue;
        const double z = (end_bits - trend.at(static_cast<double>(step), slope)) / trend.scatter;
        stays *= 1 - 0.5 * std::erfc(z / std::sqrt(2.0));
        if (1 - stays >= odds) return step;
    }
    return std::nullopt;
}

/// What one trend says of the steps ahead; empty: not within the plan.
struct Passage {
    std::optional<std::int64_t> soonest, step, latest;
};

Passage passage_ahead(const Trend& trend, double end_bits, std::int64_t last, std::int64_t until_step) {
    const auto ahead = [&](double slope, double odds) {
        return first_passage(trend, slope, end_bits, odds, last + 1, std::min(until_step, last + most_steps), [](std::int64_t) { return false; });
    };
    return {ahead(trend.high_slope, early_odds), trend.slope > 0 ? ahead(trend.slope, even_odds) : std::nullopt,
            ahead(trend.low_slope, late_odds)};
}

void foretell(const std::vector<Point>& points, double end_bits, std::int64_t until_step, OutputForecast& forecast) {
    const bool is_near = forecast.headroom_bits <= far_bits;
    if (points.size() < fewest_records) {
        forecast.is_open = is_near && !points.empty() && points.back().step < static_cast<double>(until_step - 1);
        return;
    }
    const auto first = static_cast<std::int64_t>(points.front().step), last = static_cast<std::int64_t>(points.back().step);
    // Growth that levels off has a lower trend of late; both must get there, and the interval holds what either says.
    const std::vector<Point> late_points(points.begin() + static_cast<std::ptrdiff_t>(points.size() / 3), points.end());
    const Trend whole = fit(thinned(points)), late = fit(thinned(late_points));
    const Passage of_whole = passage_ahead(whole, end_bits, last, until_step), of_late = passage_ahead(late, end_bits, last, until_step);
    const bool gets_there = of_whole.step && of_late.step;
    const std::int64_t step = gets_there ? std::max(*of_whole.step, *of_late.step) : until_step;
    if (!gets_there || step - last > last - first) {
        const bool is_early = until_step - last > last - first && forecast.headroom_bits <= far_bits_at_rest;
        forecast.is_open = is_near && (of_whole.soonest || of_late.soonest || is_early);
        return;
    }
    forecast.step = step;
    const auto from_first = [&](std::int64_t at, double times) {
        return first + static_cast<std::int64_t>(std::lround(static_cast<double>(at - first) * times));
    };
    const std::int64_t soonest = std::min(of_whole.soonest.value_or(step), of_late.soonest.value_or(step));
    forecast.from_step = std::clamp(from_first(soonest, 1 - run_to_run), last + 1, step);
    const bool has_latest = of_whole.latest && of_late.latest;
    forecast.to_step = has_latest ? std::min(from_first(std::max(*of_whole.latest, *of_late.latest), 1 + run_to_run), until_step) : until_step;
    const bool is_narrow = has_latest && static_cast<double>(forecast.to_step - forecast.from_step) <= narrow * static_cast<double>(step - first);
    const bool is_steady = points.size() >= many_records && whole.low_slope > 0;
    forecast.sureness = is_steady && is_narrow ? Sureness::High : is_steady || is_narrow ? Sureness::Medium : Sureness::Low;
}

/// The record at `seen` is beyond: a batch between the records may have been before it.
void tell_seen(const std::vector<Point>& before, std::int64_t first, std::int64_t seen, double seen_bits, double end_bits,
               OutputForecast& forecast) {
    forecast.sureness = Sureness::Seen;
    forecast.step = forecast.from_step = forecast.to_step = seen;
    if (before.empty()) return;
    forecast.from_step = static_cast<std::int64_t>(before.back().step) + 1;
    std::vector<Point> points = before;
    points.push_back({static_cast<double>(seen), seen_bits});
    if (points.size() < fewest_records) return;
    const Trend trend = fit(thinned(points));
    auto record = before.begin();
    const auto passage = [&](double odds) {
        record = before.begin();
        return first_passage(trend, trend.slope, end_bits, odds, std::max(first, seen - most_steps), seen - 1, [&](std::int64_t step) {
            while (record != before.end() && static_cast<std::int64_t>(record->step) < step) ++record;
            return record != before.end() && static_cast<std::int64_t>(record->step) == step;
        });
    };
    forecast.step = passage(even_odds).value_or(seen);
    forecast.from_step = std::min({passage(early_odds).value_or(*forecast.step), *forecast.step, forecast.from_step});
}

}  // namespace

OutputForecast forecast_output(const std::string& tensor, const std::vector<std::pair<std::int64_t, double>>& largest, NumberFormat format,
                               std::int64_t until_step) {
    const FormatLimits& limits = limits_of(format);
    OutputForecast forecast;
    forecast.tensor = tensor;
    for (const auto& [step, value] : largest) {
        if (!(value > forecast.largest)) continue;
        forecast.largest = value;
        forecast.largest_step = step;
    }
    forecast.headroom_bits = forecast.largest > 0 ? std::log2(limits.largest / forecast.largest) : INFINITY;
    const double end_bits = std::log2(limits.overflow_threshold);
    std::vector<Point> points;
    for (const auto& [step, value] : largest) {
        if (!(value > 0)) continue;
        const bool is_over = limits.threshold_overflows ? value >= limits.overflow_threshold : value > limits.overflow_threshold;
        if (is_over) {
            tell_seen(points, largest.front().first, step, std::min(std::log2(value), end_bits + 8), end_bits, forecast);
            return forecast;
        }
        points.push_back({static_cast<double>(step), std::log2(value)});
    }
    foretell(points, end_bits, until_step, forecast);
    return forecast;
}

}  // namespace mantissa
