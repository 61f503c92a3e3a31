#pragma once
// 1 What? Preset, model of the catalogue or a TorchScript file, and data, with the number of samples beside them.
#include "plan/presets.h"
#include "ui/setup/question_row.h"

namespace mantissa::ui {

class PlanEditor;

class WhatRow : public QuestionRow {
    Q_OBJECT
  public:
    WhatRow(PlanEditor& editor, std::vector<Preset> presets, QWidget* parent = nullptr);

    /// Asks once whether this content is trusted, then takes it as the model.
    void takeModelFile(const QString& file);

  Q_SIGNALS:
    void presetChosen(const QString& id);

  private:
    void fillMenus();
    void chooseModelFile();
    void useModelFile(const QString& file);
    void refresh();

    PlanEditor& m_editor;
    const std::vector<Preset> m_presets;
    QPushButton *m_preset, *m_model, *m_data;
};

}  // namespace mantissa::ui
