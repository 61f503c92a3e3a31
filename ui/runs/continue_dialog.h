#pragma once
// Continue from checkpoint…: which checkpoint of a run, in which mode, how many steps further, and what that does to the loss scale.
// Doesn't block; `chosen` carries the plan to start.
#include <QDialog>
#include <functional>
#include <optional>

#include "plan/plan_sources.h"
#include "record/checkpoint_info.h"
#include "record/reports.h"

class QButtonGroup;
class QLabel;
class QPushButton;
class QSpinBox;
class QTableView;

namespace mantissa::ui {

class CheckpointModel;

class ContinueDialog : public QDialog {
    Q_OBJECT
  public:
    /// `device`: what this machine said of the device that the run will use; null while it isn't known.
    ContinueDialog(const CheckpointList& list, const QString& runName, const DeviceReport* device, const std::string& language,
                   QWidget* parent = nullptr);

    [[nodiscard]] const CheckpointInfo& checkpoint() const;
    [[nodiscard]] bool hasCheckpointIn(Precision mode) const;
    [[nodiscard]] Precision mode() const;
    void choose(int row, Precision mode, int furtherSteps);
    [[nodiscard]] QString scaleSentence() const;
    [[nodiscard]] QString problem() const;

  Q_SIGNALS:
    void chosen(const mantissa::SourcedPlan& plan);

  private:
    QWidget* buildTable();
    QWidget* buildModes(const DeviceReport* device);
    QWidget* buildSteps();
    void takeCheckpoint();
    void refresh();
    void accept() override;

    const std::string m_language;
    CheckpointModel* m_model;
    QTableView* m_table;
    QButtonGroup* m_modes;
    QSpinBox* m_steps;
    QLabel *m_end, *m_scale, *m_problem;
    QPushButton* m_go;
    std::optional<SourcedPlan> m_plan;
};

}  // namespace mantissa::ui
