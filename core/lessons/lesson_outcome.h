#pragma once
// What a lesson's runs showed: its figures, its claims, and the explanation with the numbers of these runs.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "judge/evidence.h"
#include "judge/texts.h"
#include "lessons/lesson.h"

namespace mantissa {

struct FigureValue {
    std::string name, label, text;  // label: "accuracy, fp16"; empty for what is made of other figures
    std::optional<double> value;  // none: not in the recording
    std::optional<std::pair<double, double>> usual;
    std::string usual_text;  // "0.92 to 0.96"
    bool is_usual = true;    // without a range too
};

struct ClaimOutcome {
    std::string id, text;
    bool is_met = false;
    std::string seen;  // the figure's text
};

struct LessonOutcome {
    std::vector<FigureValue> figures;
    std::vector<ClaimOutcome> claims;
    std::string explanation;
    [[nodiscard]] bool all_met() const;
    [[nodiscard]] const FigureValue* find(std::string_view name) const;
};

using LessonEvidence = std::map<std::string, ComparisonEvidence>;  // by the id of the run

[[nodiscard]] std::string figure_text(FigureForm form, const std::optional<double>& value);
/// An error when a text of the catalogue is missing or asks for a figure that the lesson hasn't.
Result<LessonOutcome> evaluate_lesson(const Lesson& lesson, const LessonEvidence& evidence, const TextCatalogue& texts);

/// A text of a lesson without figures: "title", "question", "answers.one", "look".
Result<std::string> lesson_text(const Lesson& lesson, const std::string& key, const TextCatalogue& texts);

}  // namespace mantissa
