#pragma once
// The plan that the window edits. It keeps where values come from as layers (plan/plan_sources.h); what a
// person changes is the layer Edit. Every change is one step of the undo stack. Values that a field refuses
// stay out of the plan and leave a sentence at the field. Window's thread only.
#include <QObject>
#include <QString>
#include <QUndoStack>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan_sources.h"
#include "plan/validate.h"

namespace mantissa::ui {

enum class RunLength { Short, Full };  // a short comparison (300 steps at most), or what the plan says

class PlanEditor : public QObject {
    Q_OBJECT
  public:
    /// Everything that undo brings back.
    struct State {
        std::vector<PlanLayer> sources;  // config, environment, plan or preset, flags
        PlanLayer edits{ValueSource::Edit, {}, {}};
        RunLength length = RunLength::Short;
        CompareDefaults shortRun;  // what "short" means for this preset
        std::int64_t fileSamples = 0;  // of the plan's data file, once it was looked into; a run of epochs is as long as it has samples
    };

    explicit PlanEditor(QObject* parent = nullptr);

    /// Starts from these sources, with an empty undo stack. An error leaves everything as it was.
    Result<void> start(std::vector<PlanLayer> sources, const CompareDefaults& shortRun = {},
                       RunLength length = RunLength::Short);
    /// A plan or preset takes the place of the one before, edits are dropped; can be undone.
    Result<void> replacePlan(PlanLayer plan, const CompareDefaults& shortRun, const QString& undoText);

    /// Accelerate's file takes the place of the one before; what was edited stays; can be undone.
    Result<void> replaceConfig(PlanLayer config, const QString& undoText);
    /// What Accelerate's file sets; null when there is none.
    [[nodiscard]] const PlanLayer* configLayer() const;

    [[nodiscard]] const RunPlan& plan() const { return m_sourced.plan; }
    [[nodiscard]] const SourcedPlan& sourced() const { return m_sourced; }
    /// The plan of a single run in this mode, with its sources.
    [[nodiscard]] Result<SourcedPlan> planOfOneMode(Precision mode) const;
    [[nodiscard]] QString text(const std::string& path) const;
    /// What its input shows: a refused value stays as it was typed, also while other fields change, until it
    /// is put right or undo, a preset or a plan takes its place.
    [[nodiscard]] QString typedText(const std::string& path) const;
    /// False: refused, with a sentence in `error(path)`.
    bool edit(const std::string& path, const QString& value);
    bool setModes(const std::vector<Precision>& modes);
    /// All fields of the data in one step. `fileSamples`: of its file.
    bool setData(const DatasetPlan& data, std::int64_t fileSamples);
    /// What somebody found in the plan's data file; no step of its own to undo.
    void setFileSamples(std::int64_t samples);
    /// 0 for data of the catalogue, and for a file that nobody has looked into.
    [[nodiscard]] std::int64_t fileSamples() const { return plan().dataset.file.empty() ? 0 : m_state.fileSamples; }
    void setLength(RunLength length);
    [[nodiscard]] RunLength length() const { return m_state.length; }
    /// Steps of a short comparison, of the full plan, and of what would run now.
    [[nodiscard]] std::int64_t shortSteps() const { return m_steps.shortRun; }
    [[nodiscard]] std::int64_t fullSteps() const { return m_steps.full; }
    [[nodiscard]] std::int64_t stepsNow() const;

    /// What is wrong with a field: the refused value, else an issue of the whole plan; empty when all is
    /// well.
    [[nodiscard]] QString error(const std::string& path) const;
    [[nodiscard]] const std::vector<PlanIssue>& issues() const { return m_issues; }
    [[nodiscard]] bool isRunnable() const { return m_issues.empty() && m_refused.empty(); }
    /// The first sentence that keeps the plan from running; empty when it can run.
    [[nodiscard]] QString firstProblem() const;
    /// "edit", "preset digits-cnn", …: for tool tips.
    [[nodiscard]] QString originText(const std::string& path) const;

    [[nodiscard]] QUndoStack& undoStack() { return m_undo; }

  Q_SIGNALS:
    void changed();
    void errorsChanged();

  private:
    friend class PlanEditCommand;
    struct Steps {
        std::int64_t shortRun = 0, full = 0;
    };
    struct Refused {
        QString typed, sentence;
    };
    [[nodiscard]] static Result<SourcedPlan> merged(const State& state, Steps* steps);
    Result<void> push(State next, const QString& text, const std::string& path);
    void take(const State& state);

    State m_state;
    SourcedPlan m_sourced;
    Steps m_steps;
    std::vector<PlanIssue> m_issues;
    std::map<std::string, Refused> m_refused;  // by path
    QUndoStack m_undo;
};

}  // namespace mantissa::ui
