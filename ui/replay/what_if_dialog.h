#pragma once
// What if…: a change of one's own for the step that is looked at. Only what differs from the run's plan is handed on, as settings of
// `mantissa replay --what-if`. Doesn't block.
#include <QDialog>
#include <string>
#include <vector>

#include "plan/run_plan.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace mantissa::ui {

class WhatIfDialog : public QDialog {
    Q_OBJECT
  public:
    /// `plan`: the run's own; `suggestion`: a place that is offered for fp32 ("gate.mul"), may be empty.
    WhatIfDialog(const RunPlan& plan, std::int64_t step, const QString& suggestion, QWidget* parent = nullptr);

    /// "training.optimizer.learning_rate=0.0015" for everything that differs.
    [[nodiscard]] std::vector<std::string> settings() const;
    /// Why it can't be tried; empty when it can.
    [[nodiscard]] QString problem() const;

  Q_SIGNALS:
    void chosen(const std::vector<std::string>& settings);

  private:
    QLineEdit* addField(QFormLayout* form, const QString& label, const char* path);
    void refresh();
    void accept() override;

    const RunPlan m_plan;
    QComboBox* m_mode;
    std::vector<QLineEdit*> m_fields;
    QLabel* m_problem;
    QPushButton* m_go = nullptr;
};

}  // namespace mantissa::ui
