#include "lessons/lesson.h"

#include <algorithm>

#include "base/files.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "lessons/lesson_json.h"
#include "lessons/lesson_measures.h"
#include "lessons/number_bits.h"
#include "plan/nearest.h"
#include "plan/plan_json.h"

namespace mantissa {
namespace {

constexpr std::pair<const char*, FigureForm> forms[] = {{"number", FigureForm::Number}, {"count", FigureForm::Count},
                                                        {"percent", FigureForm::Percent}, {"scale", FigureForm::Scale},
                                                        {"bytes", FigureForm::Bytes}, {"factor", FigureForm::Factor}};

template <typename Entry, typename Name>
bool is_known(const std::vector<Entry>& entries, const std::string& name, Name name_of) {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return name_of(entry) == name; });
}

LessonRun read_run(LessonFields fields) {
    LessonRun run;
    run.id = fields.text("id");
    for (const std::string& written : fields.texts("modes")) {
        if (const auto mode = parse_precision(written)) run.modes.push_back(*mode);
        else fields.fail("modes", "has \"" + written.substr(0, 40) + "\", not one of no, fp16, bf16, fp8");
    }
    if (run.modes.empty()) fields.fail("modes", "names no mode");
    if (const auto* plan = fields.object("plan")) run.plan_json = plan->dump();
    else fields.fail("plan", "is missing");
    fields.refuse_others();
    return run;
}

void read_usual(LessonFields& fields, LessonFigure& figure) {
    const auto low = fields.number("usual_from"), high = fields.number("usual_to");
    if (low.has_value() != high.has_value()) fields.fail("usual_from", "and usual_to belong together");
    else if (low && *low > *high) fields.fail("usual_from", "is above usual_to");
    else if (low) figure.usual = {*low, *high};
}

void check_subject(LessonFields& fields, const Lesson& lesson, const LessonFigure& figure) {
    if (is_derived(figure.measure)) {
        for (const std::string& name : figure.of)
            if (!is_known(lesson.figures, name, [](const LessonFigure& one) { return one.name; }))
                fields.fail("of", "names \"" + name.substr(0, 40) + "\", which is no figure before it");
        if (figure.of.empty()) fields.fail("of", "names no figure");
        const bool is_pair = figure.measure == "ratio" || figure.measure == "difference";
        if (is_pair && figure.of.size() != 2) fields.fail("of", "must name two figures for " + figure.measure);
        return;
    }
    const auto has = [&](const std::string& run_id, Precision mode, const char* key) {
        const LessonRun* run = lesson.find_run(run_id);
        if (run == nullptr) return fields.fail(key, "is \"" + run_id.substr(0, 40) + "\", which is no run of the lesson");
        if (std::find(run->modes.begin(), run->modes.end(), mode) == run->modes.end())
            fields.fail(key, "is \"" + run_id + "\", which doesn't run in " + to_string(mode));
    };
    has(figure.run, figure.mode, "run");
    if (figure.other_mode) has(figure.other_run, *figure.other_mode, "other_run");
    if (needs_other(figure.measure) && !figure.other_mode) fields.fail("other_mode", "is missing: " + figure.measure + " sets two runs side by side");
}

LessonFigure read_figure(LessonFields fields, const Lesson& lesson) {
    LessonFigure figure;
    figure.name = fields.text("name");
    figure.measure = fields.text("measure");
    const auto& known = measure_names();
    if (std::find(known.begin(), known.end(), figure.measure) == known.end())
        fields.fail("measure", "is \"" + figure.measure.substr(0, 40) + "\", which is no measure: one of " + join_names(known));
    figure.run = fields.text("run", false);
    if (figure.run.empty() && lesson.runs.size() == 1) figure.run = lesson.runs.front().id;
    figure.mode = fields.mode("mode").value_or(Precision::No);
    figure.other_mode = fields.mode("other_mode");
    figure.other_run = fields.text("other_run", false);
    if (figure.other_run.empty()) figure.other_run = figure.run;
    figure.of = fields.texts("of");
    figure.argument = fields.number("argument");
    const std::string form = fields.text("form", false);
    const auto* entry = std::find_if(std::begin(forms), std::end(forms), [&](const auto& one) { return form == one.first; });
    if (entry != std::end(forms)) figure.form = entry->second;
    else if (!form.empty()) fields.fail("form", "is \"" + form.substr(0, 40) + "\": one of number, count, percent, scale, bytes, factor");
    read_usual(fields, figure);
    check_subject(fields, lesson, figure);
    fields.refuse_others();
    return figure;
}

LessonClaim read_claim(LessonFields fields, const Lesson& lesson) {
    LessonClaim claim;
    claim.id = fields.text("id");
    claim.figure = fields.text("figure");
    claim.at_least = fields.number("at_least");
    claim.at_most = fields.number("at_most");
    claim.is_nonfinite = fields.flag("nonfinite");
    if (!is_known(lesson.figures, claim.figure, [](const LessonFigure& one) { return one.name; }))
        fields.fail("figure", "is \"" + claim.figure.substr(0, 40) + "\", which is no figure of the lesson");
    if (claim.is_nonfinite == (claim.at_least || claim.at_most))
        fields.fail({}, "needs a bound (at_least, at_most) or nonfinite, and not both");
    fields.refuse_others();
    return claim;
}

void read_all(LessonFields& fields, Lesson& lesson) {
    if (fields.whole("mantissa_lesson", true).value_or(1) != 1) fields.fail("mantissa_lesson", "must be 1, the only version there is");
    lesson.id = fields.text("id");
    lesson.number = fields.whole("number", true).value_or(0);
    lesson.order = fields.whole("order", true).value_or(0);
    lesson.seconds = fields.whole("seconds").value_or(0);
    lesson.answers = fields.texts("answers");
    lesson.right = fields.text("right");
    if (lesson.answers.size() < 2 || lesson.answers.size() > 4) fields.fail("answers", "must be two to four");
    if (std::find(lesson.answers.begin(), lesson.answers.end(), lesson.right) == lesson.answers.end())
        fields.fail("right", "is \"" + lesson.right.substr(0, 40) + "\", which is none of the answers");
    for (const LessonFields& run : fields.objects("runs")) lesson.runs.push_back(read_run(run));
    for (const LessonFields& figure : fields.objects("figures")) lesson.figures.push_back(read_figure(figure, lesson));
    for (const LessonFields& claim : fields.objects("claims")) lesson.claims.push_back(read_claim(claim, lesson));
    lesson.numbers = fields.texts("numbers");
    for (const std::string& number : lesson.numbers)
        if (!parse_typed_number(number)) fields.fail("numbers", "has \"" + number.substr(0, 40) + "\", which is no number");
    fields.refuse_others();
}

}  // namespace

const LessonRun* Lesson::find_run(std::string_view run_id) const {
    for (const LessonRun& run : runs)
        if (run.id == run_id) return &run;
    return nullptr;
}

Result<Lesson> read_lesson_text(std::string_view text, const std::string& source) {
    auto json = parse_json_text(text);
    if (!json) return Error{json.error().code, source + ": " + json.error().message, json.error().hint};
    std::optional<Error> error;
    Lesson lesson;
    LessonFields fields(*json, "lesson", error);
    read_all(fields, lesson);
    if (error) return Error{error->code, source + ": " + error->message, error->hint};
    for (const LessonRun& run : lesson.runs)
        if (const auto plan = lesson_plan(lesson, run); !plan)
            return Error{plan.error().code, source + ": run \"" + run.id + "\": " + plan.error().message, plan.error().hint};
    return lesson;
}

Result<Lesson> read_lesson(const std::filesystem::path& file) {
    auto text = read_file(file, lesson_file_limit_bytes);
    if (!text) return text.error();
    return read_lesson_text(*text, file.string());
}

Result<std::vector<Lesson>> list_lessons(const std::filesystem::path& folder) {
    const auto where = folder.empty() ? resources_folder() / "lessons" : folder;
    std::vector<Lesson> lessons;
    std::error_code problem;
    for (std::filesystem::directory_iterator entry(where, problem), end; !problem && entry != end; entry.increment(problem)) {
        if (entry->path().extension() != ".json") continue;
        auto lesson = read_lesson(entry->path());
        if (!lesson) return lesson.error();
        lessons.push_back(std::move(*lesson));
    }
    if (problem)
        return Error{ErrorCode::InputOutput, "the lessons' folder " + where.string() + " can't be read: " + problem.message(),
                     "MANTISSA_RESOURCES names the folder with the program's resources"};
    std::sort(lessons.begin(), lessons.end(), [](const Lesson& a, const Lesson& b) { return a.order != b.order ? a.order < b.order : a.id < b.id; });
    return lessons;
}

Result<Lesson> find_lesson(const std::string& name, const std::filesystem::path& folder) {
    auto lessons = list_lessons(folder);
    if (!lessons) return lessons.error();
    std::vector<std::string> ids;
    std::string numbers;
    for (Lesson& lesson : *lessons) {
        if (lesson.id == name || std::to_string(lesson.number) == name) return std::move(lesson);
        ids.push_back(lesson.id);
        numbers += (numbers.empty() ? "" : ", ") + std::to_string(lesson.number);
    }
    const auto near = nearest_names(name, ids);
    return Error{ErrorCode::Usage, "there is no lesson \"" + name.substr(0, 60) + "\"",
                 (near.empty() ? "" : "did you mean " + join_names(near) + "? ") + "Lessons: " + numbers + " (mantissa lessons)"};
}

Result<SourcedPlan> lesson_plan(const Lesson& lesson, const LessonRun& run) {
    auto layer = plan_text_layer(run.plan_json, ValueSource::Plan, "lesson " + lesson.id);
    if (!layer) return layer.error();
    const std::string name = "lesson-" + lesson.id + (lesson.runs.size() > 1 ? "-" + run.id : "");
    if (auto named = layer->set_text("name", name, "lesson"); !named) return named.error();
    const bool is_comparison = run.modes.size() > 1;
    std::string modes;
    for (const Precision mode : run.modes) modes += (modes.empty() ? "" : ",") + std::string(to_string(mode));
    if (auto set = layer->set_text(is_comparison ? "modes" : "mixed_precision", modes, "lesson"); !set) return set.error();
    return resolve_plan({*layer}, is_comparison ? PlanUse::Compare : PlanUse::Train);
}

}  // namespace mantissa
