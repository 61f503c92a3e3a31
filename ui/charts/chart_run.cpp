#include "ui/charts/chart_run.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/charts/step_range.h"

namespace mantissa::ui {

void fitRange(StepRange& range, const std::vector<ChartRun>& runs, XKind kind, std::int64_t plannedSteps) {
    double dataEnd = 0;
    for (const ChartRun& run : runs) {
        if (!run.series->isEmpty()) {
            dataEnd = std::max(dataEnd, run.series->x(kind).back());
        }
    }
    const double planned = kind == XKind::Time ? 0 : static_cast<double>(plannedSteps);
    range.setWhole({0, std::max(dataEnd, planned)}, dataEnd);
}

QString nameOf(const ChartRun& run) {
    const QString mode = QString::fromLatin1(to_string(run.mode));
    return run.isBefore ? QCoreApplication::translate("ChartRun", "%1 before").arg(mode) : mode;
}

const RunSeries* controlOf(const std::vector<ChartRun>& runs) {
    const auto found = std::find_if(runs.begin(), runs.end(), [](const ChartRun& run) { return run.mode == Precision::No && !run.isBefore; });
    return found == runs.end() ? nullptr : found->series;
}

}  // namespace mantissa::ui
