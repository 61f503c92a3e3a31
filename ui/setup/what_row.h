#pragma once
// 1 What? Preset, model of the catalogue, layer list or TorchScript file, and data of the catalogue or of a file, with the number of samples beside them.
#include <optional>

#include "layers/layer_presets.h"
#include "plan/presets.h"
#include "ui/setup/data_reader.h"
#include "ui/setup/question_row.h"

namespace mantissa::ui {

class PlanEditor;

class WhatRow : public QuestionRow {
    Q_OBJECT
  public:
    WhatRow(PlanEditor& editor, std::vector<Preset> presets, QWidget* parent = nullptr);

    /// Asks once whether this content is trusted, then takes it as the model.
    void takeModelFile(const QString& file);
    /// Shows what is in it, then takes it as the data when that is wanted.
    void takeDataFile(const QString& file);

  Q_SIGNALS:
    void presetChosen(const QString& id);
    /// What the plan's data file holds, as soon as it was read.
    void dataRead(const mantissa::SampleFacts& facts);

  private:
    void fillMenus();
    void fillDataMenu();
    void addLayerLists();
    [[nodiscard]] bool isListOfOurs(const std::string& file) const;
    void chooseModelFile();
    void chooseDataFile();
    void openDataDialog(const DatasetPlan& plan);
    void lookAtFile();
    /// Other data under the split of before.
    [[nodiscard]] DatasetPlan otherData() const;
    [[nodiscard]] QString dataAnswer() const;
    void useModelFile(const QString& file);
    void refresh();

    PlanEditor& m_editor;
    const std::vector<Preset> m_presets;
    const std::vector<layers::LayerPreset> m_lists;
    QPushButton *m_preset, *m_model, *m_data;
    DataReader m_reader;
    DatasetPlan m_looked;                // what m_facts are of, or will be
    std::optional<SampleFacts> m_facts;  // of the plan's data file
    QString m_fileProblem;
};

}  // namespace mantissa::ui
