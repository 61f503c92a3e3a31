#pragma once
// Reads fields of a lesson's JSON and remembers the first thing that is wrong, with its place: "lesson.figures[2].measure".
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"

namespace mantissa {

class LessonFields {
  public:
    LessonFields(const nlohmann::json& object, std::string where, std::optional<Error>& error);

    [[nodiscard]] std::string text(const char* key, bool needed = true);
    [[nodiscard]] std::vector<std::string> texts(const char* key);
    [[nodiscard]] std::optional<std::int64_t> whole(const char* key, bool needed = false);
    [[nodiscard]] std::optional<double> number(const char* key);
    [[nodiscard]] std::optional<Precision> mode(const char* key);
    [[nodiscard]] bool flag(const char* key);
    [[nodiscard]] const nlohmann::json* object(const char* key);
    [[nodiscard]] std::vector<LessonFields> objects(const char* key);
    /// What was never asked for is a slip of the keyboard.
    void refuse_others();
    void fail(const std::string& key, const std::string& problem);
    [[nodiscard]] const std::string& where() const { return m_where; }

  private:
    const nlohmann::json* find(const char* key, bool needed);
    const nlohmann::json& m_object;
    std::string m_where;
    std::optional<Error>& m_error;
    std::set<std::string> m_asked;
};

}  // namespace mantissa
