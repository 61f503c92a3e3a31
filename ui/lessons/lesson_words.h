#pragma once
// Words of the page: all of them are texts of the catalogue, the same as on the command line.
#include <QString>

#include "judge/texts.h"
#include "lessons/lesson.h"

namespace mantissa::ui {

class LessonWords {
  public:
    /// "en" or "zh".
    void setLanguage(const std::string& code);
    [[nodiscard]] const std::string& language() const { return m_language; }
    /// course.<key>
    [[nodiscard]] QString course(const char* key, const TextValues& values = {}) const;
    /// lessons.<id>.<key>
    [[nodiscard]] QString of(const Lesson& lesson, const std::string& key) const;
    [[nodiscard]] const TextCatalogue* catalogue() const { return m_texts; }

  private:
    std::string m_language = "en";
    const TextCatalogue* m_texts = nullptr;
};

}  // namespace mantissa::ui
