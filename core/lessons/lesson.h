#pragma once
// A lesson is a file of resources/lessons: a question with answers, the runs that answer it, figures that are read from their recordings,
// and claims on those figures with margins. Its words are texts of the catalogue: lessons.<id>.title, .question, .answers.<key>, .look,
// .explanation (its placeholders are figures), .claims.<id>.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/precision.h"
#include "base/result.h"
#include "plan/plan_sources.h"

namespace mantissa {

/// A comparison; of one mode a single run.
struct LessonRun {
    std::string id;
    std::vector<Precision> modes;
    std::string plan_json;  // as a plan file has it
};

enum class FigureForm { Number, Count, Percent, Scale, Bytes, Factor };

/// A number that is read from a run, or made of two such numbers.
struct LessonFigure {
    std::string name;     // placeholder of the explanation
    std::string measure;  // lessons/lesson_measures.h
    std::string run;
    Precision mode = Precision::No;
    std::string other_run;  // for measures that set two runs side by side
    std::optional<Precision> other_mode;
    std::vector<std::string> of;    // names of earlier figures, for "ratio", "difference", "largest", "smallest"
    std::optional<double> argument;  // what the measure needs: last steps, a threshold
    FigureForm form = FigureForm::Number;
    std::optional<std::pair<double, double>> usual;  // what a class usually sees, with other seeds
};

struct LessonClaim {
    std::string id, figure;
    std::optional<double> at_least, at_most;
    bool is_nonfinite = false;  // the figure is NaN or Inf; a bound alone asks for a finite value
};

struct Lesson {
    std::string id;
    std::int64_t number = 0;  // as a teacher calls it
    std::int64_t order = 0;   // place in the course
    std::int64_t seconds = 0;  // its runs took so long on two cores
    std::vector<std::string> answers;
    std::string right;
    std::vector<LessonRun> runs;  // none: the bit inspector
    std::vector<LessonFigure> figures;
    std::vector<LessonClaim> claims;
    std::vector<std::string> numbers;  // that a lesson without runs begins with

    [[nodiscard]] const LessonRun* find_run(std::string_view run_id) const;
};

inline constexpr std::uint64_t lesson_file_limit_bytes = 1ull << 20;

/// Errors name the file, and the field or the line and byte.
Result<Lesson> read_lesson(const std::filesystem::path& file);
Result<Lesson> read_lesson_text(std::string_view text, const std::string& source);
/// In the order of the course. `folder` empty = resources_folder()/lessons.
Result<std::vector<Lesson>> list_lessons(const std::filesystem::path& folder = {});
/// By its number or id; an error with the nearest ids.
Result<Lesson> find_lesson(const std::string& name, const std::filesystem::path& folder = {});
/// The plan of one of its runs, validated, named after the lesson.
Result<SourcedPlan> lesson_plan(const Lesson& lesson, const LessonRun& run);

}  // namespace mantissa
