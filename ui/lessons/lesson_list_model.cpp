#include "ui/lessons/lesson_list_model.h"

namespace mantissa::ui {

LessonListModel::LessonListModel(const LessonWords& words, QObject* parent) : QAbstractListModel(parent), m_words(words) {}

void LessonListModel::setLessons(std::vector<Lesson> lessons) {
    beginResetModel();
    m_lessons = std::move(lessons);
    endResetModel();
}

void LessonListModel::setDone(const std::string& id) {
    if (m_done.insert(id).second && !m_lessons.empty()) {
        retranslate();
    }
}

void LessonListModel::retranslate() {
    if (!m_lessons.empty()) {
        Q_EMIT dataChanged(index(0), index(static_cast<int>(m_lessons.size()) - 1));
    }
}

int LessonListModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_lessons.size()); }

QVariant LessonListModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const Lesson& lesson = m_lessons[static_cast<std::size_t>(index.row())];
    const bool isDone = m_done.count(lesson.id) != 0;
    switch (role) {
        case Qt::DisplayRole: return QStringLiteral("%1  %2%3").arg(lesson.number).arg(m_words.of(lesson, "title"), isDone ? QStringLiteral("  ✓") : QString());
        case Qt::ToolTipRole: return m_words.of(lesson, "question");
        case IdRole: return QString::fromStdString(lesson.id);
        case NumberRole: return QVariant::fromValue<qint64>(lesson.number);
        case DoneRole: return isDone;
        default: return {};
    }
}

}  // namespace mantissa::ui
