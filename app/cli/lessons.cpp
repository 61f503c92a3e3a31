#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "base/paths.h"
#include "job_follower.h"
#include "lesson_words.h"
#include "lessons/lesson_session.h"
#include "output.h"
#include "preflight.h"
#include "run_argument.h"
#include "signals.h"
#include "table.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

struct LessonOptions {
    std::string lesson, runs_dir, language;
    std::optional<std::int64_t> answer;
    std::vector<std::string> numbers, scales;
    double pace = 0;
    bool json = false, quiet = false;
};

Result<const TextCatalogue*> texts_of(const std::string& language) { return text_catalogue(text_language(language)); }

int print_lessons(bool json, const std::string& language) {
    const auto lessons = list_lessons();
    if (!lessons) return fail(lessons.error());
    const auto texts = texts_of(language);
    if (!texts) return fail(texts.error());
    Json list = Json::array();
    for (const Lesson& lesson : *lessons) list.push_back(lesson_json(lesson, **texts));
    if (json) return print_json({{"lessons", list}}), 0;
    Table table;
    table.add_column("", Table::Align::Right);
    for (int column = 0; column < 3; ++column) table.add_column("");
    for (const Lesson& lesson : *lessons)
        table.add_row({std::to_string(lesson.number), lesson.id, lesson_word(**texts, lesson, "title"),
                       lesson.runs.empty() ? course_word(**texts, "no_training")
                                           : course_word(**texts, "comparisons", {{"count", std::to_string(lesson.runs.size())}})});
    std::string rows = table.text();
    rows.erase(0, rows.find('\n') + 1);
    rows.pop_back();
    print(rows);
    return 0;
}

/// The key of --answer; empty without it.
Result<std::string> chosen_answer(const Lesson& lesson, const std::optional<std::int64_t>& answer) {
    if (!answer) return std::string();
    if (*answer >= 1 && *answer <= std::ssize(lesson.answers)) return lesson.answers[static_cast<std::size_t>(*answer - 1)];
    return Error{ErrorCode::Usage, "--answer is " + std::to_string(*answer) + ", but lesson " + std::to_string(lesson.number) + " has answers 1 to " + std::to_string(lesson.answers.size()),
                 "mantissa lesson " + std::to_string(lesson.number) + " --help"};
}

/// One run of the lesson, as `compare` and `train` do it: real processes, a recording, a judgement.
Result<int> take_run(const Lesson& lesson, const LessonRun& run, const LessonOptions& options, const TextCatalogue& texts, LessonSession& session) {
    const auto plan = lesson_plan(lesson, run);
    if (!plan) return plan.error();
    const auto support = check_support(plan->plan, run.modes);
    if (!support) return support.error();
    catch_signals();
    auto job = prepare_job(run.modes.size() > 1 ? JobKind::Comparison : JobKind::SingleRun, *plan, runs_folder(options.runs_dir));
    if (!job) return job.error();
    if (auto kept = add_lesson_job(session, run.id, job->folder); !kept) return kept.error();
    using Style = ProgressView::Style;
    ProgressView view(options.quiet ? Style::Silent : is_terminal_error() ? Style::Bars : Style::Lines);
    std::string modes;
    for (const Precision mode : run.modes) modes += (modes.empty() ? "" : ", ") + std::string(to_string(mode));
    view.line(course_word(texts, "training", {{"run", plan->plan.name}, {"modes", modes}}));
    for (const std::string& line : first_lines(*support)) view.line(line);
    return run_supervised(std::move(*job), view, options.pace);
}

/// A lesson whose claim was not met is a result that somebody must look at.
constexpr int claim_not_met = 1;

int take_runs(const Lesson& lesson, const std::string& prediction, const LessonOptions& options, const TextCatalogue& texts) {
    // The prediction is on disk before anything runs.
    auto session = create_lesson_session(runs_folder(options.runs_dir), lesson, prediction);
    if (!session) return fail(session.error());
    for (const LessonRun& run : lesson.runs) {
        const auto ended = take_run(lesson, run, options, texts, *session);
        if (!ended) return fail(ended.error());
        if (*ended != 0) return *ended;
    }
    const auto evidence = load_lesson_evidence(*session);
    if (!evidence) return fail(evidence.error());
    const auto outcome = evaluate_lesson(lesson, *evidence, texts);
    if (!outcome) return fail(outcome.error());
    if (options.json) {
        Json json = outcome_json(*outcome);
        json.update({{"lesson", lesson.id}, {"prediction", prediction}, {"right", lesson.right}, {"folder", session->folder.string()}});
        print_json(json);
    } else {
        print_prediction(lesson, prediction, texts);
        print_outcome(*outcome, texts);
        print("");
        print(course_word(texts, "session", {{"folder", session->folder.string()}}));
    }
    return outcome->all_met() ? 0 : claim_not_met;
}

int inspect_numbers(const Lesson& lesson, const std::string& prediction, const LessonOptions& options, const TextCatalogue& texts) {
    std::vector<double> scales;
    for (const std::string& written : options.scales) {
        const auto scale = parse_typed_number(written);
        if (!scale) return fail({scale.error().code, "--scale: " + scale.error().message, scale.error().hint});
        scales.push_back(*scale);
    }
    Json list = Json::array();
    if (!options.json) print_prediction(lesson, prediction, texts);
    for (const std::string& written : options.numbers.empty() ? lesson.numbers : options.numbers) {
        const auto number = parse_typed_number(written);
        if (!number) return fail({number.error().code, "--number: " + number.error().message, number.error().hint});
        const NumberInspection inspection = inspect_number(*number, scales);
        list.push_back(inspection_json(inspection));
        if (!options.json) print_inspection(inspection, written, texts);
    }
    if (options.json) {
        print_json({{"lesson", lesson.id}, {"prediction", prediction}, {"right", lesson.right}, {"numbers", list}});
        return 0;
    }
    print("");
    std::string lines = wrapped(lesson_word(texts, lesson, "explanation"), 100, 0);
    lines.pop_back();
    print(lines);
    return 0;
}

int take_lesson(const LessonOptions& options) {
    const auto lesson = find_lesson(options.lesson);
    if (!lesson) return fail(lesson.error());
    const auto texts = texts_of(options.language);
    if (!texts) return fail(texts.error());
    const auto prediction = chosen_answer(*lesson, options.answer);
    if (!prediction) return fail(prediction.error());
    if (!lesson->runs.empty() && (!options.numbers.empty() || !options.scales.empty()))
        return fail({ErrorCode::Usage, "--number and --scale are for the bit inspector", "mantissa lesson 1 --number 65520"});
    if (!options.json) print_question(*lesson, **texts);
    return lesson->runs.empty() ? inspect_numbers(*lesson, *prediction, options, **texts)
                                : take_runs(*lesson, *prediction, options, **texts);
}

}  // namespace

void add_lessons(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand("lessons", "The lessons of the course, in the order to teach them");
    auto options = std::make_shared<LessonOptions>();
    verb->add_flag("--json", options->json, "as one JSON object");
    add_language(*verb, options->language);
    verb->callback([options, &result] { result = print_lessons(options->json, options->language); });
}

void add_lesson(CLI::App& program, int& result) {
    auto* verb = program.add_subcommand("lesson", "Take a lesson: predict, train for real, and see what happened");
    verb->footer("Exit code 0 when the runs showed what the lesson claims, 1 when they did not.");
    auto options = std::make_shared<LessonOptions>();
    verb->add_option("LESSON", options->lesson, "its number or name (mantissa lessons)")->required();
    verb->add_option("--answer", options->answer, "the prediction, by its number in the list; kept before the first run starts");
    verb->add_option("--pace", options->pace, "steps a second of each run; 0 = as fast as it goes")->check(CLI::Range(0.0, 1000.0));
    verb->add_option("--number", options->numbers, "bit inspector: a number to look at (65520, 2.9e-8, 2^16), may be given more than once");
    verb->add_option("--scale", options->scales, "bit inspector: a loss scale to multiply with before the cast to fp16");
    verb->add_option("--runs-dir,--runs_dir", options->runs_dir, "folder of the runs");
    verb->add_flag("--json", options->json, "the result as one JSON object");
    verb->add_flag("-q,--quiet", options->quiet, "no progress");
    add_language(*verb, options->language);
    verb->callback([options, &result] { result = take_lesson(*options); });
}

}  // namespace mantissa::cli
