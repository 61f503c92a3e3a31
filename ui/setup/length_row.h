#pragma once
// 4 How long? A short comparison or the full plan, each with the time that the trial's measured steps
// promise.
#include <optional>

#include "ui/setup/question_row.h"

class QRadioButton;

namespace mantissa::ui {

class ModelTrial;
class PlanEditor;

class LengthRow : public QuestionRow {
    Q_OBJECT
  public:
    LengthRow(PlanEditor& editor, const ModelTrial& trial, QWidget* parent = nullptr);
    /// "about 25 s", "about 2 min"; empty when nothing was measured.
    [[nodiscard]] static QString about(std::optional<double> milliseconds);

  private:
    void refresh();

    PlanEditor& m_editor;
    const ModelTrial& m_trial;
    QRadioButton *m_short, *m_full;
};

}  // namespace mantissa::ui
