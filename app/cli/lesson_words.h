#pragma once
// A lesson on a terminal: its question, the bit inspector's tables, and what was seen beside what was predicted.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "judge/texts.h"
#include "lessons/lesson_outcome.h"
#include "lessons/number_bits.h"

namespace mantissa::cli {

/// A text of course.json; both languages have the same keys (a test), so a missing one is its key.
[[nodiscard]] std::string course_word(const TextCatalogue& texts, const std::string& key, const TextValues& values = {});
[[nodiscard]] std::string lesson_word(const TextCatalogue& texts, const Lesson& lesson, const std::string& key);

void print_question(const Lesson& lesson, const TextCatalogue& texts);
void print_prediction(const Lesson& lesson, const std::string& prediction, const TextCatalogue& texts);
void print_outcome(const LessonOutcome& outcome, const TextCatalogue& texts);
void print_inspection(const NumberInspection& inspection, const std::string& typed, const TextCatalogue& texts);

nlohmann::json lesson_json(const Lesson& lesson, const TextCatalogue& texts);
nlohmann::json outcome_json(const LessonOutcome& outcome);
nlohmann::json inspection_json(const NumberInspection& inspection);

}  // namespace mantissa::cli
