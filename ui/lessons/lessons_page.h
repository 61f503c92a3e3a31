#pragma once
// The course: lessons at the left, the chosen one at the right. A button makes the type large for a room, and leaves the list out.
#include <QWidget>
#include <filesystem>

#include "ui/lessons/lesson_list_model.h"
#include "ui/lessons/lesson_runner.h"
#include "ui/lessons/lesson_view.h"

class QLabel;
class QListView;
class QPushButton;

namespace mantissa::ui {

class Theme;

class LessonsPage : public QWidget {
    Q_OBJECT
  public:
    LessonsPage(Theme& theme, std::filesystem::path runs, QWidget* parent = nullptr);

    /// "en" or "zh".
    void setLanguage(const std::string& code);
    /// By number or id; unknown ones change nothing. An answer, from 1, is taken at once.
    void choose(const QString& lesson, int answer = 0);
    [[nodiscard]] LessonRunner& runner() { return m_runner; }
    [[nodiscard]] LessonView& view() { return *m_view; }
    [[nodiscard]] LessonListModel& model() { return m_model; }
    [[nodiscard]] QString title() const;
    void setPresenting(bool isLarge);

  Q_SIGNALS:
    void message(const QString& sentence);
    void titleChanged();

  private:
    void load();

    LessonWords m_words;
    LessonListModel m_model;
    LessonRunner m_runner;
    QListView* m_list;
    QPushButton* m_large;
    LessonView* m_view;
};

}  // namespace mantissa::ui
