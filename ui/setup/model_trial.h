#pragma once
// The trial of Set up: one batch of this model, forward and backward, in each chosen mode, each in a
// throw-away process and one after the other. Starts again half a second after the last edit that matters to
// it; answers are remembered by plan and mode.
#include <QObject>
#include <QTemporaryDir>
#include <QTimer>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/trial_process.h"
#include "plan/plan_sources.h"
#include "record/reports.h"

namespace mantissa::ui {

class PlanEditor;

/// One trial that is polled; the real one is TrialProcess, tests give their own.
class TrialTask {
  public:
    virtual ~TrialTask() = default;
    virtual std::optional<TrialReport> poll() = 0;
};
using TrialStarter = std::function<Result<std::unique_ptr<TrialTask>>(const SourcedPlan& plan, Precision mode,
                                                                      const std::filesystem::path& folder)>;
/// Starts real processes.
[[nodiscard]] TrialStarter processTrials();

class ModelTrial : public QObject {
    Q_OBJECT
  public:
    enum class State { Waiting, Trying, Done };
    struct Row {
        Precision mode = Precision::No;
        State state = State::Waiting;
        TrialReport report;  // when done
    };

    ModelTrial(PlanEditor& editor, TrialStarter starter, QObject* parent = nullptr);
    /// Off until an engine is there.
    void setEnabled(bool enabled);
    [[nodiscard]] bool isEnabled() const { return m_enabled; }
    [[nodiscard]] std::vector<Row> rows() const;
    /// Forgets the answers for the plan as it is, and tries again.
    void again();
    /// Time of one step in all modes together; empty until all have been tried.
    [[nodiscard]] std::optional<double> stepMsOfAllModes() const;

  Q_SIGNALS:
    void changed();

  private:
    void planChanged();
    void startNext();
    void poll();
    [[nodiscard]] static std::string keyOf(const RunPlan& plan);

    PlanEditor& m_editor;
    TrialStarter m_starter;
    QTemporaryDir m_folder;
    QTimer m_debounce, m_poll;
    bool m_enabled = false;
    std::string m_key;
    std::map<std::pair<std::string, Precision>, TrialReport> m_answers;
    std::unique_ptr<TrialTask> m_task;
    std::pair<std::string, Precision> m_taskKey;
};

}  // namespace mantissa::ui
