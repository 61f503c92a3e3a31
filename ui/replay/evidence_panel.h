#pragma once
// The right half of the page Replay: how the value grew until the step, with its table twin, and the ops of the step around the birth.
#include <QWidget>

#include "ui/replay/grown_values.h"

class QFrame;
class QLabel;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace mantissa::ui {

class ElidedLabel;
class GrownChart;
class StepOpsModel;
class Theme;

class EvidencePanel : public QWidget {
    Q_OBJECT
  public:
    EvidencePanel(const Theme& theme, QWidget* parent = nullptr);
    void setSnapshot(const ReplaySnapshot& snapshot, std::int64_t step);
    [[nodiscard]] GrownChart& chart() { return *m_chart; }
    [[nodiscard]] StepOpsModel& ops() { return *m_ops; }
    void showTable(bool show);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    QFrame* buildGrown();
    QFrame* buildStep();
    void retranslate();
    void refreshWords();
    void scrollToBirth();

    const Theme& m_theme;
    GrownValues m_values;
    QLabel *m_grownTitle, *m_stepTitle;
    ElidedLabel *m_grownSubject, *m_further;
    QToolButton* m_twin;
    QStackedWidget* m_stack;
    GrownChart* m_chart;
    QTableView *m_grownTable, *m_opsTable;
    GrownModel* m_grown;
    StepOpsModel* m_ops;
    QFrame* m_stepCard;
};

/// Rows chosen whole, no grid, quiet head: both tables of the page, and the twin.
void setUpReplayTable(QTableView& table, const char* name);

}  // namespace mantissa::ui
