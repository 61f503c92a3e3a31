#pragma once
// Type a number, see its bits in every format, its neighbours, and what a loss scale does to it.
#include <QWidget>

#include "ui/lessons/bit_table_model.h"

class QLabel;
class QLineEdit;
class QTableView;

namespace mantissa::ui {

class Theme;

class BitInspector : public QWidget {
    Q_OBJECT
  public:
    BitInspector(const Theme& theme, const LessonWords& words, QWidget* parent = nullptr);
    void setNumber(const QString& text);
    /// Buttons beside the field, for the numbers that a lesson begins with.
    void setSuggestions(const std::vector<std::string>& numbers);
    void retranslate();
    [[nodiscard]] BitTableModel& model() { return m_model; }

  private:
    void take();
    void fitTable();

    const LessonWords& m_words;
    BitTableModel m_model;
    QLineEdit* m_number;
    QLineEdit* m_scale;
    QLabel* m_numberLabel;
    QLabel* m_scaleLabel;
    QLabel* m_problem;
    QWidget* m_suggestions;
    QTableView* m_table;
};

}  // namespace mantissa::ui
