#pragma once
// The page Set up: what, where, which modes, how long, with this machine's answers; the trial; folded
// settings; the button. Owns the edited plan, the probe, the trial and the starter.
#include <QWidget>
#include <filesystem>

#include "plan/presets.h"
#include "ui/setup/job_starter.h"
#include "ui/setup/machine_probe.h"
#include "ui/setup/model_trial.h"
#include "ui/setup/plan_editor.h"
#include "ui/setup/plan_files.h"

class QLabel;
class QPushButton;

namespace mantissa::ui {

class Sections;
class Theme;
class TrialCard;
class WhatRow;

struct SetupOptions {
    std::filesystem::path runs;
    std::filesystem::path presets;  // empty = those of the program
    MachineProbe::Places places = MachineProbe::Places::ofThisProgram();
    TrialStarter trials = processTrials();
};

class SetupPage : public QWidget {
    Q_OBJECT
  public:
    SetupPage(const Theme& theme, const SetupOptions& options, QWidget* parent = nullptr);
    ~SetupPage() override;

    [[nodiscard]] PlanEditor& editor() { return m_editor; }
    [[nodiscard]] MachineProbe& probe() { return m_probe; }
    [[nodiscard]] ModelTrial& trial() { return m_trial; }
    [[nodiscard]] const std::filesystem::path& runsFolder() const { return m_options.runs; }
    [[nodiscard]] JobStarter& starter() { return m_starter; }
    /// "digits · batch 32 · AdamW 0.003 · seed 7"
    [[nodiscard]] QString planLine() const;
    /// A preset's name, or the path of a plan file, as the first plan (no undo step). An error leaves the
    /// plan as it was.
    Result<void> startFrom(const std::string& presetOrFile, std::vector<PlanLayer> otherSources = {});
    /// A sentence beside the button until the next edit; empty = none.
    void showProblem(const QString& sentence);
    /// A TorchScript file as the model, once its content is trusted.
    void takeModelFile(const QString& file);
    void takeDataFile(const QString& file);
    /// Plans and Accelerate's configuration, opened and saved.
    [[nodiscard]] PlanFiles& files() { return m_files; }

  public Q_SLOTS:
    void choosePreset(const QString& id);
    void startComparison();
    void startOneMode(mantissa::Precision mode);

  Q_SIGNALS:
    void started(const std::filesystem::path& folder, bool isComparison);
    /// A launcher has begun the run that Join waited for.
    void joined(const std::filesystem::path& folder);
    void message(const QString& text);
    void planLineChanged();

  private:
    QWidget* buildQuestions();
    QWidget* buildPlanButtons();
    QWidget* buildBottom();
    void refreshBottom();
    void refreshMachine();
    void offerFreshProcess(Precision mode);
    [[nodiscard]] QString whyNot(JobKind kind) const;

    const Theme& m_theme;
    const SetupOptions m_options;
    std::vector<Preset> m_presets;
    PlanEditor m_editor;
    MachineProbe m_probe;
    PlanFiles m_files;
    ModelTrial m_trial;
    JobStarter m_starter;
    WhatRow* m_what = nullptr;
    TrialCard* m_trialCard = nullptr;
    Sections* m_sections = nullptr;
    QLabel* m_problem = nullptr;
    QPushButton *m_compare = nullptr, *m_oneMode = nullptr, *m_fresh = nullptr;
    Precision m_freshMode = Precision::No;
    QString m_failure;
};

}  // namespace mantissa::ui
