#pragma once
// The course as a list: facts by role, words from LessonWords.
#include <QAbstractListModel>
#include <set>
#include <vector>

#include "ui/lessons/lesson_words.h"

namespace mantissa::ui {

class LessonListModel : public QAbstractListModel {
    Q_OBJECT
  public:
    enum Role { IdRole = Qt::UserRole, NumberRole, DoneRole };
    LessonListModel(const LessonWords& words, QObject* parent = nullptr);

    void setLessons(std::vector<Lesson> lessons);
    [[nodiscard]] const std::vector<Lesson>& lessons() const { return m_lessons; }
    void setDone(const std::string& id);
    void retranslate();

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

  private:
    const LessonWords& m_words;
    std::vector<Lesson> m_lessons;
    std::set<std::string> m_done;
};

}  // namespace mantissa::ui
