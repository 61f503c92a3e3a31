#pragma once
// The layers of the chosen layer list, read again whenever its file is saved; hidden for other models. The layer that doesn't fit is
// marked in the table and told below it.
#include <QFileSystemWatcher>
#include <QFrame>
#include <optional>

#include "layers/layer_file.h"

class QLabel;
class QTableView;

namespace mantissa::ui {

class LayerTableModel;
class PlanEditor;

class LayerCard : public QFrame {
    Q_OBJECT
  public:
    explicit LayerCard(PlanEditor& editor, QWidget* parent = nullptr);
    /// What the plan's data file holds: until it is told, a list has no sizes with it.
    void setFacts(const SampleFacts& facts);

  private:
    void planChanged();
    void readAgain();
    void showList();
    [[nodiscard]] QString fitted(layers::LayerList list);
    void retranslate();

    PlanEditor& m_editor;
    QFileSystemWatcher m_watcher;
    LayerTableModel* m_model;
    QTableView* m_table;
    QLabel *m_title, *m_sum, *m_problem;
    std::string m_file;                        // of the list that is shown
    DatasetPlan m_data;                        // that it is fitted to
    std::optional<layers::SampleForm> m_form;  // of its samples, when known
};

}  // namespace mantissa::ui
