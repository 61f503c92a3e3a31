#include "ui/charts/plot_column.h"

#include <cmath>
#include <limits>

namespace mantissa::ui {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
// Beyond this, pixel arithmetic of the paint engine overflows and a single point paints a block.
constexpr double largestDrawn = 1e300;

/// The value, or NaN; `isWaiting` is set when the control may still bring it.
double viewed(const RunSeries& run, const RunSeries* control, std::size_t index, const PlotOptions& options,
              bool& isWaiting) {
    const double value = run.column(options.quantity)[index];
    if (options.view == ValueView::Absolute) {
        return value;
    }
    if (!control || control->isEmpty() || control->steps().back() < run.steps()[index]) {
        isWaiting = true;
        return nothing;
    }
    const std::int64_t step = run.steps()[index];
    const bool isAligned = index < control->size() && control->steps()[index] == step;
    const std::optional<std::size_t> there = isAligned ? std::optional(index) : control->indexOfStep(step);
    if (!there) {
        return nothing;
    }
    const double reference = control->column(options.quantity)[*there];
    return options.view == ValueView::DifferenceToControl ? value - reference : value / reference;
}

}  // namespace

double toScale(double value, ValueScale scale) {
    if (!std::isfinite(value)) {
        return nothing;
    }
    switch (scale) {
        case ValueScale::Linear: return std::abs(value) <= largestDrawn ? value : nothing;
        case ValueScale::Log10: return value > 0 ? std::log10(value) : nothing;
        case ValueScale::Log2: return value > 0 ? std::log2(value) : nothing;
    }
    return nothing;
}

double fromScale(double scaled, ValueScale scale) {
    switch (scale) {
        case ValueScale::Linear: return scaled;
        case ValueScale::Log10: return std::pow(10.0, scaled);
        case ValueScale::Log2: return std::exp2(scaled);
    }
    return scaled;
}

void PlotColumn::reset(const PlotOptions& options) {
    m_options = options;
    m_raw.clear();
    m_smooth.clear();
    m_hasAverage = false;
}

void PlotColumn::update(const RunSeries& run, const RunSeries* control) {
    const ValueScale scale = effectiveScale(m_options);
    const double weight = 2.0 / (m_options.smoothingSteps + 1.0);
    for (std::size_t i = m_raw.size(); i < run.size(); ++i) {
        bool isWaiting = false;
        const double value = viewed(run, control, i, m_options, isWaiting);
        if (isWaiting) {
            break;
        }
        m_raw.push_back(toScale(value, scale));
        if (m_options.smoothingSteps <= 0) {
            continue;
        }
        // A bad step leaves a gap in the smooth line too, and doesn't poison what comes after it.
        if (!std::isfinite(value)) {
            m_smooth.push_back(nothing);
            continue;
        }
        m_average = m_hasAverage ? m_average + weight * (value - m_average) : value;
        m_hasAverage = true;
        m_smooth.push_back(toScale(m_average, scale));
    }
}

}  // namespace mantissa::ui
