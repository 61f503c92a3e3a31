#pragma once
// Follows one run folder. A thread of its own polls the recording 20 times a second and hands over what is new as values; all
// members and signals belong to the window's thread, which is never made to wait. A folder whose run.db isn't there yet is
// waited for. Between two deliveries everything new is merged, so a slow window gets one large update instead of a queue.
#include <QObject>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "record/run_reader.h"
#include "record/run_summary.h"
#include "record/stall.h"
#include "ui/bridge/headroom_series.h"
#include "ui/bridge/run_series.h"

namespace mantissa::ui {

class RunFollower : public QObject {
    Q_OBJECT
  public:
    /// `expected` is the mode until the recording itself has said it.
    RunFollower(std::filesystem::path folder, Precision expected, QObject* parent = nullptr);
    ~RunFollower() override;

    [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
    [[nodiscard]] Precision mode() const { return m_summary ? m_summary->mode : m_expected; }
    [[nodiscard]] const RunSeries& series() const { return m_series; }
    [[nodiscard]] const std::vector<EvaluationRow>& evaluations() const { return m_evaluations; }
    [[nodiscard]] const std::vector<IncidentRow>& incidents() const { return m_incidents; }
    /// Ops of the watched step with the dtypes of their results: the proof that a mode is on.
    [[nodiscard]] const std::vector<OpDtypeRow>& opDtypes() const { return m_opDtypes; }
    /// At the steps whose tensors were recorded.
    [[nodiscard]] const HeadroomSeries& headroom() const { return m_headroom; }
    [[nodiscard]] const std::vector<AlarmRow>& alarms() const { return m_alarms; }
    /// The run's plan.json with its sources; empty until it was read.
    [[nodiscard]] const std::string& planJson() const { return m_planJson; }
    [[nodiscard]] const StateRow& state() const { return m_state; }
    /// As of the last look, at most a few seconds old; the series is always newer.
    [[nodiscard]] const std::optional<RunSummary>& summary() const { return m_summary; }
    /// Why nothing can be read; empty while all is well or the recording isn't there yet.
    [[nodiscard]] const QString& problem() const { return m_problem; }
    [[nodiscard]] bool hasEnded() const { return is_end_state(m_state.state); }
    /// It stands still, since so many seconds.
    [[nodiscard]] const std::optional<Stall>& stall() const { return m_stall; }

  Q_SIGNALS:
    /// Once per delivery, after all of the above is up to date.
    void advanced();

  private:
    struct Update {
        RunRows rows;
        std::optional<StateRow> state;
        std::optional<RunSummary> summary;
        std::string planJson;
        std::string problem;
        std::optional<Stall> stall;
    };

    void poll(std::stop_token stop);
    bool readOnce(RunReader& reader, Update& update);
    void summarizeWhenDue(Update& update, bool ended);
    void readPlanOnce(Update& update);
    void post(Update update);
    void deliver();

    // Worker thread.
    std::int64_t m_nextSummaryNs = 0;
    bool m_summarizedEnd = false;
    bool m_hasPlan = false;
    RunState m_lastState = RunState::Queued;
    std::string m_lastProblem;
    StallWatch m_stallWatch;
    std::optional<Stall> m_lastStall;

    std::mutex m_mutex;  // protects m_pending, m_isPosted
    std::condition_variable_any m_wake;
    Update m_pending;
    bool m_isPosted = false;

    // Window's thread.
    const std::filesystem::path m_folder;
    const Precision m_expected;
    RunSeries m_series;
    std::vector<EvaluationRow> m_evaluations;
    std::vector<IncidentRow> m_incidents;
    std::vector<OpDtypeRow> m_opDtypes;
    HeadroomSeries m_headroom;
    std::vector<AlarmRow> m_alarms;
    std::string m_planJson;
    StateRow m_state;
    std::optional<RunSummary> m_summary;
    std::optional<Stall> m_stall;
    QString m_problem;

    std::jthread m_thread;  // last: it is joined before anything it uses goes away
};

}  // namespace mantissa::ui
