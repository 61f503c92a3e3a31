#pragma once
// 2 Where? Device and launch scope; what isn't possible here is in the menus with its reason.
#include "plan/run_plan.h"
#include "ui/setup/question_row.h"

namespace mantissa::ui {

class MachineProbe;
class PlanEditor;

class WhereRow : public QuestionRow {
    Q_OBJECT
  public:
    WhereRow(PlanEditor& editor, const MachineProbe& probe, QWidget* parent = nullptr);

  private:
    void fillDevices();
    void fillScopes();
    void chooseScope(LaunchScope scope, int processes);
    void refresh();
    [[nodiscard]] QString deviceText() const;
    [[nodiscard]] QString scopeAnswer() const;

    PlanEditor& m_editor;
    const MachineProbe& m_probe;
    QPushButton *m_device, *m_scope;
};

}  // namespace mantissa::ui
