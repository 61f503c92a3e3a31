#pragma once
// A data file of one's own before it is used: what is in it, which columns count, what is to be learned, what happens to gaps and to the
// range of the values. Reads beside the window's thread, again after every change; never changes the plan itself.
#include <QDialog>

#include "ui/setup/data_columns_model.h"
#include "ui/setup/sample_strip.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QTableView;

namespace mantissa::ui {

class DataDialog : public QDialog {
    Q_OBJECT
  public:
    /// `plan` names the file, and may hold choices of before.
    explicit DataDialog(const DatasetPlan& plan, QWidget* parent = nullptr);

    [[nodiscard]] const DatasetPlan& chosen() const { return m_plan; }
    [[nodiscard]] const std::shared_ptr<const DataLook>& look() const { return m_look; }

  Q_SIGNALS:
    /// "Use" was pressed.
    void used(const mantissa::DatasetPlan& plan, qint64 samples);

  private:
    void build();
    void readAgain();
    void take(std::shared_ptr<const DataLook> look);
    void fail(const QString& sentence);
    void fillLabels();

    DatasetPlan m_plan;
    std::shared_ptr<const DataLook> m_look;
    DataReader m_reader;
    DataColumnsModel m_columns;
    QLabel *m_summary = nullptr, *m_problem = nullptr, *m_classes = nullptr;
    QComboBox *m_labels = nullptr, *m_target = nullptr, *m_missing = nullptr, *m_normalise = nullptr, *m_header = nullptr;
    QSpinBox* m_context = nullptr;
    QFormLayout* m_form = nullptr;
    QTableView* m_table = nullptr;
    SampleStrip* m_strip = nullptr;
    QProgressBar* m_busy = nullptr;
    QPushButton* m_use = nullptr;
};

}  // namespace mantissa::ui
