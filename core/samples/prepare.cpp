#include "samples/prepare.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {
namespace {

struct Column {
    double mean = 0, squares = 0, largest = 0;  // squares: sum of squared distances from the mean (Welford)
    std::int64_t count = 0;
    void add(double value) {
        ++count;
        const double distance = value - mean;
        mean += distance / static_cast<double>(count);
        squares += distance * (value - mean);
        largest = std::max(largest, std::abs(value));
    }
    [[nodiscard]] double deviation() const { return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0; }
};

std::vector<Column> measure(const FeatureMatrix& features, std::span<const std::int64_t> training, bool as_one) {
    std::vector<Column> columns(static_cast<std::size_t>(as_one ? 1 : features.width));
    for (const std::int64_t sample : training) {
        const float* row = features.data + sample * features.width;
        for (std::int64_t i = 0; i < features.width; ++i)
            if (!std::isnan(row[i])) columns[as_one ? 0 : static_cast<std::size_t>(i)].add(row[i]);
    }
    return columns;
}

template <typename Change>
void change_all(const FeatureMatrix& features, Change change) {
    for (std::int64_t sample = 0; sample < features.samples; ++sample) {
        float* row = features.data + sample * features.width;
        for (std::int64_t i = 0; i < features.width; ++i) row[i] = change(row[i], i);
    }
}

}  // namespace

void prepare_features(FeatureMatrix features, std::span<const std::int64_t> training, Normalise rule) {
    const std::int64_t all = features.samples * features.width;
    if (std::any_of(features.data, features.data + all, [](float value) { return std::isnan(value); })) {
        const auto columns = measure(features, training, false);
        change_all(features, [&columns](float value, std::int64_t i) { return std::isnan(value) ? static_cast<float>(columns[static_cast<std::size_t>(i)].mean) : value; });
    }
    if (rule == Normalise::Auto && features.are_bytes) {
        change_all(features, [](float value, std::int64_t) { return value / 255.0f; });
    } else if (rule == Normalise::Unit) {
        double largest = 0;
        for (const Column& column : measure(features, training, true)) largest = std::max(largest, column.largest);
        const auto divisor = static_cast<float>(largest);
        if (divisor > 0) change_all(features, [divisor](float value, std::int64_t) { return value / divisor; });
    } else if (rule == Normalise::Standardise) {
        const auto columns = measure(features, training, features.are_images);
        change_all(features, [&columns, as_one = features.are_images](float value, std::int64_t i) {
            const Column& column = columns[as_one ? 0 : static_cast<std::size_t>(i)];
            const double deviation = column.deviation();
            return deviation > 0 ? static_cast<float>((value - column.mean) / deviation) : 0.0f;
        });
    }
}

}  // namespace mantissa
