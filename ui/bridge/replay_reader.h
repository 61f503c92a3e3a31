#pragma once
// What a run's folder says of one step that is looked at: incident.json and replay.json whenever they are rewritten, the recorded control
// at that step, the states that are kept for it. No Qt, no thread of its own: ReplayFollower calls it from its worker.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file_stamp.h"
#include "record/replay_report.h"
#include "record/run_summary.h"

namespace mantissa::ui {

/// A folder that a replay, or a run that goes on, can start from.
struct KeptState {
    std::filesystem::path folder;
    std::int64_t step = 0;  // attempts done = number of the next step
    std::int64_t bytes = 0;
    bool operator==(const KeptState&) const = default;
};

struct ReplaySnapshot {
    std::string problem;  // the run's folder itself can't be read
    std::optional<RunSummary> run;
    std::string planJson;  // the run's plan.json
    std::optional<IncidentReport> incident;
    std::string incidentProblem;  // it is there but damaged
    std::optional<ReplayReport> replay;  // "running" only while some process works on it
    std::string replayProblem;
    std::vector<KeptState> states;  // on the disk now, oldest first
    std::filesystem::path control;  // the run in mode `no` of its comparison, or one that was run for it; empty: there is none
    std::optional<bool> isControlFinite;  // at that step; empty: not known (yet)
};

class ReplayReader {
  public:
    ReplayReader(std::filesystem::path run, std::int64_t step);

    /// Something new since the last call; empty when nothing is.
    std::optional<ReplaySnapshot> look();

  private:
    bool lookAtRun();
    bool lookAtIncident();
    bool lookAtReplay();
    bool lookAtStates();
    bool lookAtControl();

    const std::filesystem::path m_run;
    const std::int64_t m_step;
    const std::filesystem::path m_folder;
    std::optional<FileStamp> m_incidentSeen, m_replaySeen;
    int m_looksForControl = 0;
    bool m_isFirst = true, m_hasRun = false, m_isWorkedOn = false;
    ReplaySnapshot m_snapshot;
};

}  // namespace mantissa::ui
