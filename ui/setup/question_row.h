#pragma once
// One question of Set up: its name, the controls that answer it, and what this machine or the catalogue says
// beside them.
#include <QLabel>
#include <QWidget>
#include <functional>
#include <vector>

class QHBoxLayout;
class QMenu;
class QPushButton;

namespace mantissa::ui {

class Retranslation;

class QuestionRow : public QWidget {
    Q_OBJECT
  public:
    QuestionRow(int number, const char* objectName, QWidget* parent = nullptr);

  protected:
    /// A button that opens a menu; "Model: cnn ▾".
    QPushButton* addMenuButton(const char* objectName);
    void addControl(QWidget* control);
    void setQuestion(const QString& question);
    /// A problem is shown in place of the answer, in the colour of errors.
    void setAnswer(const QString& answer, const QString& problem = {});
    [[nodiscard]] Retranslation& texts() { return *m_texts; }
    static void setButtonText(QPushButton* button, const QString& label, const QString& value);

  private:
    const int m_number;
    QLabel *m_question, *m_answer;
    QHBoxLayout* m_controls;
    Retranslation* m_texts;
};

}  // namespace mantissa::ui
