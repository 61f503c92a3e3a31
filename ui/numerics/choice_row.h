#pragma once
// A few choices side by side, one of them taken: modes, roles, levels. Tab goes to it, the arrow keys move inside it.
#include <QWidget>
#include <vector>

class QButtonGroup;
class QHBoxLayout;
class QLabel;

namespace mantissa::ui {

class ChoiceRow : public QWidget {
    Q_OBJECT
  public:
    explicit ChoiceRow(const char* name, QWidget* parent = nullptr);

    void setLabel(const QString& text);
    /// Keeps what is chosen where the number of choices stays the same; signals nothing.
    void setChoices(const std::vector<QString>& texts, const std::vector<QString>& toolTips = {});
    void setCurrent(int index);
    [[nodiscard]] int current() const;
    [[nodiscard]] int count() const;

  Q_SIGNALS:
    void chosen(int index);

  private:
    QLabel* m_label;
    QHBoxLayout* m_row;
    QButtonGroup* m_group;
};

}  // namespace mantissa::ui
