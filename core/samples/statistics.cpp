#include "samples/statistics.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace mantissa {
namespace {

// Rounding to nearest even: 65,520 is the first value that becomes infinite, 2^-25 the last that becomes 0.
constexpr double first_infinite = 65520, last_zero = 0x1p-25;
// Of x·x in fp16 x is rounded first. 255.875² = 65,472.02 rounds to 65,472; 256² is 65,536.
constexpr double first_infinite_square = 255.9375;  // the first x that rounds to 256
// Near 2^-13 fp16 numbers are 2^-23 apart. 1448 · 2^-23 is the last whose square is at most 2^-25; halfway to the next still rounds to it.
constexpr double last_zero_square = 1448.5 * 0x1p-23;

struct Running {
    ColumnStatistics statistics;
    double squares = 0;
    void add(float raw) {
        if (std::isnan(raw)) {
            ++statistics.missing;
            return;
        }
        const double value = raw, size = std::abs(value);
        if (statistics.count == 0) statistics.smallest = statistics.largest = value;
        ++statistics.count;
        const double distance = value - statistics.mean;
        statistics.mean += distance / static_cast<double>(statistics.count);
        squares += distance * (value - statistics.mean);
        statistics.smallest = std::min(statistics.smallest, value);
        statistics.largest = std::max(statistics.largest, value);
        statistics.beyond_fp16 += size >= first_infinite ? 1 : 0;
        statistics.squares_beyond_fp16 += size >= first_infinite_square ? 1 : 0;
        statistics.flushed += size != 0 && size <= last_zero ? 1 : 0;
        statistics.squares_flushed += size != 0 && size <= last_zero_square ? 1 : 0;
    }
    [[nodiscard]] ColumnStatistics done() const {
        ColumnStatistics result = statistics;
        result.deviation = result.count > 0 ? std::sqrt(squares / static_cast<double>(result.count)) : 0;
        return result;
    }
};

}  // namespace

std::string readable_statistic(double value) {
    std::string text = readable_number(value, 4);
    if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

SampleStatistics describe_samples(const Samples& samples) {
    const SampleFacts& facts = samples.facts;
    const std::int64_t width = facts.width();
    Running all;
    all.statistics.name = "all values";
    std::vector<Running> columns(facts.columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].statistics.name = facts.columns[i];
    const float* value = samples.features.data();
    for (std::int64_t sample = 0; sample < facts.samples; ++sample) {
        for (std::int64_t i = 0; i < width; ++i, ++value) {
            all.add(*value);
            if (!columns.empty()) columns[static_cast<std::size_t>(i)].add(*value);
        }
    }
    SampleStatistics result;
    result.all = all.done();
    for (const Running& column : columns) result.columns.push_back(column.done());
    result.of_class.resize(facts.target == SampleTarget::Values ? 0 : facts.classes.size());
    if (!result.of_class.empty())
        for (const std::int64_t label : samples.labels) ++result.of_class[static_cast<std::size_t>(label)];
    if (!samples.values.empty()) {
        const auto [low, high] = std::minmax_element(samples.values.begin(), samples.values.end());
        result.smallest_value = *low;
        result.largest_value = *high;
        double sum = 0;
        for (const float one : samples.values) sum += one;
        result.mean_value = sum / static_cast<double>(samples.values.size());
    }
    return result;
}

}  // namespace mantissa
