#pragma once
// One run as a chart sees it. The pointers belong to a RunFollower and must outlive the chart's use of them.
#include <QString>
#include <vector>

#include "base/precision.h"
#include "record/rows.h"
#include "ui/bridge/run_series.h"

namespace mantissa::ui {

class StepRange;

/// Something to know about one step: a small triangle on the axis, its sentence as a tool tip.
struct ChartNote {
    std::int64_t step = 0;
    bool isError = false;
    QString text;
    bool operator==(const ChartNote&) const = default;
};

struct ChartRun {
    Precision mode = Precision::No;
    const RunSeries* series = nullptr;
    const std::vector<EvaluationRow>* evaluations = nullptr;  // may be absent
    const StateRow* state = nullptr;                          // may be absent
    bool isBefore = false;  // the run that this one goes on from: drawn with it, but no run of its own
    const std::vector<ChartNote>* notes = nullptr;  // may be absent
};

/// "fp16", "fp16 before".
[[nodiscard]] QString nameOf(const ChartRun& run);

/// Sets the whole of `range` to what the runs hold, or, on the step axes, to the plan's steps when these are more.
void fitRange(StepRange& range, const std::vector<ChartRun>& runs, XKind kind, std::int64_t plannedSteps);

/// The run in mode `no`; the one that differences and ratios refer to.
[[nodiscard]] const RunSeries* controlOf(const std::vector<ChartRun>& runs);

}  // namespace mantissa::ui
