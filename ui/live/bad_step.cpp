#include "ui/live/bad_step.h"

#include <QCoreApplication>
#include <algorithm>

namespace mantissa::ui {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(mantissa::ui::BadStep)
};

/// Incidents of the numbers have a phase; those of files (a checkpoint that could not be saved) have none.
bool isOfNumbers(const IncidentRow& incident) { return !incident.phase.empty() && (incident.severity == "error" || incident.severity == "warning"); }

}  // namespace

std::optional<BadStep> badStepOf(const RunFollower& run) {
    BadStep bad{run.folder(), run.mode(), 0, run.state().state == RunState::StoppedNonfinite};
    const auto incident = std::find_if(run.incidents().begin(), run.incidents().end(), &isOfNumbers);
    if (incident != run.incidents().end()) {
        bad.step = incident->step;
        return bad;
    }
    const auto& marks = run.series().marks();
    const auto mark = std::find_if(marks.begin(), marks.end(), [](const StepMark& one) { return one.fate == StepFate::Nonfinite; });
    if (mark == marks.end()) {
        return std::nullopt;
    }
    bad.step = mark->step;
    return bad;
}

QString questionOf(const BadStep& bad) {
    const QString mode = QLatin1String(to_string(bad.mode));
    return bad.hasStopped ? Words::tr("Why did %1 stop?").arg(mode) : Words::tr("What went wrong in %1?").arg(mode);
}

}  // namespace mantissa::ui
