#include "ui/lessons/lesson_words.h"

#include "lessons/lesson_outcome.h"

namespace mantissa::ui {

void LessonWords::setLanguage(const std::string& code) {
    m_language = code;
    const auto texts = text_catalogue(code);
    m_texts = texts ? *texts : nullptr;
}

QString LessonWords::course(const char* key, const TextValues& values) const {
    if (m_texts == nullptr) {
        return QString::fromLatin1(key);
    }
    const auto text = m_texts->fill(std::string("course.") + key, values);
    return text ? QString::fromStdString(*text) : QString::fromLatin1(key);
}

QString LessonWords::of(const Lesson& lesson, const std::string& key) const {
    if (m_texts == nullptr) {
        return QString::fromStdString(key);
    }
    const auto text = lesson_text(lesson, key, *m_texts);
    return QString::fromStdString(text ? *text : key);
}

}  // namespace mantissa::ui
