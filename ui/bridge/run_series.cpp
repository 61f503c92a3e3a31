#include "ui/bridge/run_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa::ui {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

StepFate fateOf(const StepRow& row) {
    if (row.nonfinite_loss) {
        return StepFate::Nonfinite;
    }
    // A gradient overflow that the scaler caught is a skip, not a non-finite step (rule 12).
    if (row.skipped) {
        return row.skip_kind == SkipKind::Fault ? StepFate::SkipFault : StepFate::SkipProbing;
    }
    return row.nonfinite_grads > 0 ? StepFate::Nonfinite : StepFate::Applied;
}

void RunSeries::append(std::span<const StepRow> rows) {
    for (const StepRow& row : rows) {
        if (m_steps.empty() || row.step > m_steps.back()) {
            appendOne(row);
        }
    }
}

void RunSeries::appendOne(const StepRow& row) {
    const auto put = [this](Quantity quantity, double value) {
        m_columns[static_cast<std::size_t>(quantity)].push_back(value);
    };
    if (m_steps.empty()) {
        m_startNs = row.time_ns - row.step_ns;
    }
    const StepFate fate = fateOf(row);
    if (fate != StepFate::Applied) {
        m_marks.push_back({m_steps.size(), row.step, fate, std::isnan(row.loss), std::isfinite(row.loss)});
    }
    m_steps.push_back(row.step);
    m_x[0].push_back(static_cast<double>(row.step));
    m_x[1].push_back(static_cast<double>(row.applied_step));
    const double seconds = static_cast<double>(row.time_ns - m_startNs) * 1e-9;
    // A wall clock that was set back must not make the line run backwards (and x has to be sorted for decimation).
    m_x[2].push_back(m_x[2].empty() ? seconds : std::max(seconds, m_x[2].back()));
    const double stepSeconds = static_cast<double>(row.step_ns) * 1e-9;
    put(Quantity::Loss, row.loss);
    put(Quantity::GradientNorm, row.grad_norm);
    put(Quantity::LossScale, row.loss_scale.value_or(missing));
    put(Quantity::LearningRate, row.learning_rate);
    put(Quantity::MemoryPeak, row.memory_peak_bytes > 0 ? static_cast<double>(row.memory_peak_bytes) : missing);
    put(Quantity::StepTime, row.step_ns > 0 ? stepSeconds * 1e3 : missing);
    put(Quantity::Throughput, row.step_ns > 0 ? static_cast<double>(row.samples) / stepSeconds : missing);
    put(Quantity::Headroom, missing);
    m_fates.push_back(fate);
    ++m_counts[static_cast<std::size_t>(fate)];
    if (row.skipped) {
        ++m_skipped[static_cast<std::size_t>(row.skip_kind)];
    }
    m_lastApplied = row.applied_step;
    m_memoryPeak = std::max(m_memoryPeak, static_cast<double>(row.memory_peak_bytes));
    m_hasLossScale = m_hasLossScale || row.loss_scale.has_value();
}

void RunSeries::appendValue(const RunSeries& other, std::size_t index, Quantity quantity, double value) {
    m_steps.push_back(other.m_steps[index]);
    for (std::size_t i = 0; i < m_x.size(); ++i) {
        m_x[i].push_back(other.m_x[i][index]);
    }
    for (std::size_t i = 0; i < quantityCount; ++i) {
        m_columns[i].push_back(i == static_cast<std::size_t>(quantity) ? value : missing);
    }
    m_fates.push_back(StepFate::Applied);
}

const std::vector<double>& RunSeries::column(Quantity quantity) const {
    return m_columns[static_cast<std::size_t>(quantity)];
}

const std::vector<double>& RunSeries::x(XKind kind) const { return m_x[static_cast<std::size_t>(kind)]; }

std::optional<std::size_t> RunSeries::indexOfStep(std::int64_t step) const {
    const auto found = std::lower_bound(m_steps.begin(), m_steps.end(), step);
    if (found == m_steps.end() || *found != step) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - m_steps.begin());
}

std::optional<double> RunSeries::recentStepMilliseconds() const {
    const std::vector<double>& times = column(Quantity::StepTime);
    const std::size_t count = std::min<std::size_t>(times.size(), 200);
    std::vector<double> recent;
    recent.reserve(count);
    std::copy_if(times.end() - static_cast<std::ptrdiff_t>(count), times.end(), std::back_inserter(recent),
                 [](double value) { return std::isfinite(value); });
    if (recent.empty()) {
        return std::nullopt;
    }
    const auto middle = recent.begin() + static_cast<std::ptrdiff_t>(recent.size() / 2);
    std::nth_element(recent.begin(), middle, recent.end());
    return *middle;
}

}  // namespace mantissa::ui
