#pragma once
// Below the list: the marked entry in full sentences. The decision or the problem, then a line per run:
// state, reason, steps, loss.
#include <QFrame>

#include "ui/runs/run_entry.h"

class QGridLayout;
class QLabel;

namespace mantissa::ui {

class Theme;

class RunDetails : public QFrame {
    Q_OBJECT
  public:
    explicit RunDetails(const Theme& theme, QWidget* parent = nullptr);
    /// Null: nothing is marked, and nothing is shown.
    void show(const RunEntry* entry);

  private:
    QLabel* cell(int row, int column);

    const Theme& m_theme;
    QLabel *m_title, *m_decision;
    QGridLayout* m_grid;
};

}  // namespace mantissa::ui
