#pragma once
// 1 What? Preset, model and data of the catalogue, with the number of samples beside them.
#include "plan/presets.h"
#include "ui/setup/question_row.h"

namespace mantissa::ui {

class PlanEditor;

class WhatRow : public QuestionRow {
    Q_OBJECT
  public:
    WhatRow(PlanEditor& editor, std::vector<Preset> presets, QWidget* parent = nullptr);

  Q_SIGNALS:
    void presetChosen(const QString& id);

  private:
    void fillMenus();
    void refresh();

    PlanEditor& m_editor;
    const std::vector<Preset> m_presets;
    QPushButton *m_preset, *m_model, *m_data;
};

}  // namespace mantissa::ui
