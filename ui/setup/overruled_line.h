#pragma once
// One amber line when a source of settings overrules another (flag over environment, …); unfolds to all of
// them, each in words. Not there when nothing is overruled. Edits over the preset they started from are no
// news and not counted.
#include <QFrame>
#include <QStringList>

class QLabel;
class QToolButton;

namespace mantissa::ui {

class PlanEditor;

class OverruledLine : public QFrame {
    Q_OBJECT
  public:
    explicit OverruledLine(const PlanEditor& editor, QWidget* parent = nullptr);
    [[nodiscard]] QStringList lines() const;

  private:
    void refresh();

    const PlanEditor& m_editor;
    QToolButton* m_fold;
    QLabel* m_text;
};

}  // namespace mantissa::ui
