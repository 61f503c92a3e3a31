#include "ui/charts/ledger.h"

#include <algorithm>
#include <cmath>

namespace mantissa::ui {
namespace {

void countIn(LedgerCell& cell, const StepMark& mark) {
    ++cell.steps;
    cell.worst = std::max(cell.worst, mark.fate);
    if (mark.fate != StepFate::Nonfinite) {
        return;
    }
    if (cell.nonfinite++ == 0) {
        cell.firstNonfinite = mark.step;
        cell.firstIsNan = mark.lossIsNan;
        cell.firstLossIsFinite = mark.lossIsFinite;
    }
    cell.lastNonfinite = mark.step;
}

}  // namespace

LedgerLane ledgerLane(const RunSeries& run, XKind kind, XSpan visible, int columns) {
    LedgerLane lane;
    const std::vector<double>& x = run.x(kind);
    const auto first = std::lower_bound(x.begin(), x.end(), visible.from);
    const auto last = std::upper_bound(first, x.end(), visible.to);
    if (first == last || columns < 1) {
        return lane;
    }
    lane.isEmpty = false;
    lane.from = *first;
    lane.to = *(last - 1);
    const auto beginIndex = static_cast<std::size_t>(first - x.begin());
    const auto endIndex = static_cast<std::size_t>(last - x.begin());
    auto mark = std::lower_bound(run.marks().begin(), run.marks().end(), beginIndex,
                                 [](const StepMark& m, std::size_t index) { return m.index < index; });
    for (; mark != run.marks().end() && mark->index < endIndex; ++mark) {
        const double share = (x[mark->index] - visible.from) / visible.width();
        const int column = std::clamp(static_cast<int>(std::floor(share * columns)), 0, columns - 1);
        if (lane.cells.empty() || lane.cells.back().column != column) {
            lane.cells.push_back({});
            lane.cells.back().column = column;
            lane.cells.back().worst = mark->fate;
        }
        countIn(lane.cells.back(), *mark);
    }
    return lane;
}

std::vector<MarkCluster> markClusters(const LedgerLane& lane, int joinWithin) {
    std::vector<MarkCluster> clusters;
    for (const LedgerCell& cell : lane.cells) {
        if (cell.nonfinite == 0) {
            continue;
        }
        if (clusters.empty() || cell.column - clusters.back().lastColumn > joinWithin) {
            clusters.push_back({cell.column, cell.column, cell.firstNonfinite, cell.lastNonfinite, 0, cell.firstIsNan,
                                cell.firstLossIsFinite});
        }
        MarkCluster& cluster = clusters.back();
        cluster.lastColumn = cell.column;
        cluster.lastStep = cell.lastNonfinite;
        cluster.steps += cell.nonfinite;
    }
    return clusters;
}

}  // namespace mantissa::ui
