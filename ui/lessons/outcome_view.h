#pragma once
// What was seen beside what was predicted: prediction, claims, figures with a class's usual range, explanation.
#include <QLabel>

#include "lessons/lesson_outcome.h"
#include "ui/lessons/lesson_words.h"

namespace mantissa::ui {

class Theme;

class OutcomeView : public QLabel {
    Q_OBJECT
  public:
    OutcomeView(const Theme& theme, const LessonWords& words, QWidget* parent = nullptr);

    void clear();
    /// Without `outcome` a lesson that needs no training: the answer and its explanation.
    void show(const Lesson& lesson, const std::string& prediction, const std::optional<LessonOutcome>& outcome);

  private:
    void write();
    [[nodiscard]] QString answerHtml() const;
    [[nodiscard]] QString claimsHtml() const;
    [[nodiscard]] QString figuresHtml() const;

    const Theme& m_theme;
    const LessonWords& m_words;
    std::optional<Lesson> m_lesson;
    std::string m_prediction;
    std::optional<LessonOutcome> m_outcome;
};

}  // namespace mantissa::ui
