#pragma once
// The layers of the chosen layer list, read again whenever its file is saved; hidden for other models. The layer that doesn't fit is
// marked in the table and told below it.
#include <QFileSystemWatcher>
#include <QFrame>

class QLabel;
class QTableView;

namespace mantissa::ui {

class LayerTableModel;
class PlanEditor;

class LayerCard : public QFrame {
    Q_OBJECT
  public:
    explicit LayerCard(PlanEditor& editor, QWidget* parent = nullptr);

  private:
    void planChanged();
    void readAgain();
    void showList();
    void retranslate();

    PlanEditor& m_editor;
    QFileSystemWatcher m_watcher;
    LayerTableModel* m_model;
    QTableView* m_table;
    QLabel *m_title, *m_sum, *m_problem;
    std::string m_file, m_dataset;  // of the list that is shown
};

}  // namespace mantissa::ui
