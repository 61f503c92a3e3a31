#pragma once
// The steps of one run as columns, for charts and tables: append-only, one entry per recorded step, in step order. Owned by a
// RunFollower; window's thread only. Charts keep a reference and look at `size()` to see what is new.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "record/rows.h"

namespace mantissa::ui {

/// What a chart can show of a step. Values are raw: NaN and Inf are real in the first two; in the others NaN means not measured.
enum class Quantity { Loss, GradientNorm, LossScale, LearningRate, MemoryPeak, StepTime, Throughput, Headroom };
inline constexpr std::size_t quantityCount = 8;

enum class XKind { Step, AppliedStep, Time };

/// What became of a step. The order is the order of badness: a pixel that holds several shows the worst.
enum class StepFate : std::uint8_t { Applied, SkipProbing, SkipFault, Nonfinite };

/// A step that wasn't simply applied.
struct StepMark {
    std::size_t index = 0;  // position in the columns
    std::int64_t step = 0;
    StepFate fate = StepFate::Applied;
    bool lossIsNan = false;    // else Inf, when the loss is what isn't finite
    bool lossIsFinite = true;  // then it is the gradients
};

class RunSeries {
  public:
    void append(std::span<const StepRow> rows);
    /// One step of `other`, with one value: for what isn't measured at every step.
    void appendValue(const RunSeries& other, std::size_t index, Quantity quantity, double value);

    [[nodiscard]] std::size_t size() const { return m_steps.size(); }
    [[nodiscard]] bool isEmpty() const { return m_steps.empty(); }
    [[nodiscard]] const std::vector<std::int64_t>& steps() const { return m_steps; }
    [[nodiscard]] const std::vector<double>& column(Quantity quantity) const;
    /// x as doubles: step, applied step, or seconds since the first step began.
    [[nodiscard]] const std::vector<double>& x(XKind kind) const;
    [[nodiscard]] StepFate fate(std::size_t index) const { return m_fates[index]; }
    [[nodiscard]] const std::vector<StepMark>& marks() const { return m_marks; }
    [[nodiscard]] std::optional<std::size_t> indexOfStep(std::int64_t step) const;

    [[nodiscard]] std::int64_t count(StepFate fate) const { return m_counts[static_cast<std::size_t>(fate)]; }
    /// Skipped steps of a kind as the recording has them; a step skipped for its loss is counted as not
    /// finite too.
    [[nodiscard]] std::int64_t skipped(SkipKind kind) const {
        return m_skipped[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] std::int64_t appliedSteps() const { return m_steps.empty() ? 0 : m_lastApplied; }
    [[nodiscard]] double memoryPeakBytes() const { return m_memoryPeak; }
    /// Median of the last 200 step times; empty before the first step.
    [[nodiscard]] std::optional<double> recentStepMilliseconds() const;
    [[nodiscard]] bool hasLossScale() const { return m_hasLossScale; }

  private:
    void appendOne(const StepRow& row);

    std::vector<std::int64_t> m_steps;
    std::array<std::vector<double>, 3> m_x;
    std::array<std::vector<double>, quantityCount> m_columns;
    std::vector<StepFate> m_fates;
    std::vector<StepMark> m_marks;
    std::array<std::int64_t, 4> m_counts{};
    std::array<std::int64_t, 3> m_skipped{};
    std::int64_t m_startNs = 0;
    std::int64_t m_lastApplied = 0;
    double m_memoryPeak = 0;
    bool m_hasLossScale = false;
};

[[nodiscard]] StepFate fateOf(const StepRow& row);

}  // namespace mantissa::ui
