#pragma once
// Where incidents go: a row in the recording, each kind and place once, and for the first few of them a file with all that was seen,
// RUN/incidents/step_<n>/incident.json, on the disk before the run goes on or stops. Thread: the one that trains.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "record/replay_report.h"
#include "record/run_recorder.h"
#include "run/loop_watch.h"
#include "run/ranks.h"

namespace mantissa {

class IncidentLog {
  public:
    IncidentLog(const RunPlan& plan, RunSession& session, const IncidentSources& sources)
        : m_mode(plan.mixed_precision), m_recorder(session.recorder), m_folder(session.folder), m_sources(sources) {
        if (session.ranks != nullptr) m_rank = session.ranks->rank;
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

    /// Of several processes, after every step: until then rows and files wait. `is_bad`: all know that something was wrong in the step;
    /// then the call is collective. The main process takes the others' rows into the run's record, and of those that met an incident
    /// the first one writes its file. Returns where that was, "gate.mul of rank 1"; else nothing.
    std::string settle(const Ranks& ranks, bool is_bad);

  private:
    [[nodiscard]] std::vector<IncidentReport::Watched> watched() const;
    [[nodiscard]] IncidentReport report_of(const Incident& incident) const;
    void put(IncidentReport report);
    /// A warning of what is coming doesn't stand in for the fault itself.
    [[nodiscard]] static std::string key_of(const IncidentRow& row);
    void take_rows_of(std::int64_t rank, const std::vector<IncidentRow>& rows);

    Precision m_mode;
    RunRecorder& m_recorder;
    RunFolder m_folder;
    const IncidentSources& m_sources;
    std::set<std::string> m_rows;    // kind (a scale's with its severity) and place
    std::set<std::string> m_places;  // of files
    int m_files_left = 4;
    std::optional<std::int64_t> m_rank;  // of several processes
    std::vector<IncidentRow> m_waiting_rows;
    std::vector<IncidentReport> m_waiting_files;
};

/// The same steps at most `most` times, each the largest of its stretch.
[[nodiscard]] std::vector<StepValue> thinned(const std::vector<StepValue>& values, std::size_t most = 400);

}  // namespace mantissa
