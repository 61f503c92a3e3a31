#pragma once
// Where? = join a launcher: the lines for torchrun, Slurm and MPI with the plan of this page, saved; a Copy button each; and the wait for
// the run folder that rank 0 will make. A saved plan is never changed again, since a job may wait for hours before it reads it.
#include <QFrame>
#include <QTimer>
#include <filesystem>
#include <set>
#include <vector>

#include "launch/job_script.h"

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
class QTabWidget;

namespace mantissa::ui {

class PlanEditor;

class JoinCard : public QFrame {
    Q_OBJECT
  public:
    JoinCard(PlanEditor& editor, std::filesystem::path runs, QWidget* parent = nullptr);

    /// Where the plan of the lines is; empty when it can't be saved.
    [[nodiscard]] const std::filesystem::path& planFile() const { return m_planFile; }
    [[nodiscard]] QString lines(RankLauncher launcher) const;

  Q_SIGNALS:
    /// A launcher has started what this card shows.
    void runAppeared(const std::filesystem::path& folder);
    void message(const QString& text);

  private:
    struct Tab {
        RankLauncher launcher;
        QPlainTextEdit* text;
        QPushButton* copy;
    };

    QWidget* buildChoices();
    QWidget* buildTab(RankLauncher launcher);
    void retranslate();
    void refresh();
    void fitTab();
    [[nodiscard]] Result<std::filesystem::path> savePlan() const;
    [[nodiscard]] std::set<std::filesystem::path> foldersNow() const;
    void look();

    PlanEditor& m_editor;
    const std::filesystem::path m_runs;
    QLabel *m_title, *m_subtitle, *m_modeLabel, *m_machinesLabel, *m_processesLabel, *m_state;
    QComboBox* m_mode;
    QSpinBox *m_machines, *m_processes;
    QTabWidget* m_tabs;
    std::vector<Tab> m_launchers;
    std::filesystem::path m_planFile;
    std::set<std::filesystem::path> m_known;  // run folders that were there before
    QTimer m_save, m_look;
};

}  // namespace mantissa::ui
