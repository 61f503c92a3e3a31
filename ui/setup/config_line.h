#pragma once
// One quiet line when Accelerate's configuration file is a source of this plan: what it sets, what of that is overruled, and (unfolded)
// its keys that have no effect here. Not there without such a file.
#include <QFrame>
#include <QStringList>

class QLabel;
class QToolButton;

namespace mantissa::ui {

class PlanEditor;

class ConfigLine : public QFrame {
    Q_OBJECT
  public:
    explicit ConfigLine(const PlanEditor& editor, QWidget* parent = nullptr);
    /// "Device cpu", "Precision fp16 (overruled)": one for each value of the file.
    [[nodiscard]] QStringList values() const;

  private:
    void refresh();

    const PlanEditor& m_editor;
    QToolButton* m_fold;
    QLabel* m_text;
};

}  // namespace mantissa::ui
