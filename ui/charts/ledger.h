#pragma once
// The step ledger as pixels: which columns of a lane hold steps that weren't simply applied, and the worst of each. Every such step is
// counted, however many fall into one column, so that none is lost by drawing.
#include <cstdint>
#include <vector>

#include "ui/bridge/run_series.h"
#include "ui/charts/step_range.h"

namespace mantissa::ui {

struct LedgerCell {
    int column = 0;
    StepFate worst = StepFate::SkipProbing;
    std::int64_t steps = 0;       // not applied ones in this column
    std::int64_t nonfinite = 0;   // of these, the non-finite ones
    std::int64_t firstNonfinite = -1, lastNonfinite = -1;  // step numbers
    bool firstIsNan = false, firstLossIsFinite = true;
};

struct LedgerLane {
    double from = 0, to = 0;  // x of the first and last recorded step inside the view
    bool isEmpty = true;
    std::vector<LedgerCell> cells;  // ascending columns
};

[[nodiscard]] LedgerLane ledgerLane(const RunSeries& run, XKind kind, XSpan visible, int columns);

/// Neighbouring columns with non-finite steps as one mark, so that a thousand bad steps are one label with a count.
struct MarkCluster {
    int firstColumn = 0, lastColumn = 0;
    std::int64_t firstStep = 0, lastStep = 0, steps = 0;
    bool firstIsNan = false, firstLossIsFinite = true;
};
[[nodiscard]] std::vector<MarkCluster> markClusters(const LedgerLane& lane, int joinWithin);

}  // namespace mantissa::ui
