#include "ui/live/runs_before.h"

#include <algorithm>

#include "record/run_folder.h"

namespace mantissa::ui {

bool RunsBefore::update(const ComparisonFollower& follower) {
    bool isNew = false;
    for (const auto& run : follower.runs()) {
        if (!run->summary() || !run->summary()->resumed) {
            continue;
        }
        const ResumedFrom& from = *run->summary()->resumed;
        const std::filesystem::path folder = from.run;
        std::error_code ignored;
        const bool isKnown = std::any_of(m_runs.begin(), m_runs.end(), [&](const auto& one) { return one->folder() == folder; });
        // It may have been deleted since: then the run stands alone, and the caption still names it.
        if (isKnown || folder.empty() || !std::filesystem::exists(RunFolder{folder}.database(), ignored)) {
            continue;
        }
        m_runs.push_back(std::make_unique<RunFollower>(folder, from.mode));
        connect(m_runs.back().get(), &RunFollower::advanced, this, &RunsBefore::advanced);
        isNew = true;
    }
    return isNew;
}

void RunsBefore::appendTo(std::vector<ChartRun>& runs) const {
    for (const auto& run : m_runs) {
        runs.push_back({run->mode(), &run->series(), &run->evaluations(), nullptr, true});
    }
}

}  // namespace mantissa::ui
