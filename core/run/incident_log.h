#pragma once
// Where incidents go: a row in the recording, each kind and place once, and for the first few of them a file with all that was seen,
// RUN/incidents/step_<n>/incident.json, on the disk before the run goes on or stops. Thread: the one that trains.
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "record/replay_report.h"
#include "record/run_recorder.h"
#include "run/loop_watch.h"

namespace mantissa {

class IncidentLog {
  public:
    IncidentLog(const RunPlan& plan, RunSession& session, const IncidentSources& sources)
        : m_mode(plan.mixed_precision), m_recorder(session.recorder), m_folder(session.folder), m_sources(sources) {
        // A file is the main process's; what another one saw stands in its own recording.
        if (session.ranks != nullptr && session.ranks->rank > 0) m_files_left = 0;
    }

    /// False: this kind was told of this place before, and nothing is written.
    bool record(const IncidentRow& row);

    /// A run has few files: what comes after is like what came before.
    [[nodiscard]] bool takes_files() const { return m_files_left > 0; }
    struct Incident {
        IncidentRow row;
        double loss = 0;
        std::optional<double> loss_scale;
        std::optional<std::int64_t> micro_batch;  // where the window has several
        std::optional<BirthReport> birth;
    };
    /// One file a step and place. Returns when it and the rows before it are on the disk.
    void write(const Incident& incident);

  private:
    [[nodiscard]] std::vector<IncidentReport::Watched> watched() const;

    Precision m_mode;
    RunRecorder& m_recorder;
    RunFolder m_folder;
    const IncidentSources& m_sources;
    std::set<std::string> m_rows;    // kind (a scale's with its severity) and place
    std::set<std::string> m_places;  // of files
    int m_files_left = 4;
};

/// The same steps at most `most` times, each the largest of its stretch.
[[nodiscard]] std::vector<StepValue> thinned(const std::vector<StepValue>& values, std::size_t most = 400);

}  // namespace mantissa
