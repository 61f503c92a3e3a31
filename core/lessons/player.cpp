#include "lessons/player.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/numbers.h"
#include "base/paths.h"
#include "base/version.h"
#include "judge/html_text.h"
#include "judge/report_style.h"
#include "lessons/lesson_session.h"

namespace mantissa {
namespace {

using Json = nlohmann::json;

std::string word(const TextCatalogue& texts, const std::string& key, const TextValues& values = {}) {
    auto text = texts.fill("course." + key, values);
    return text ? *text : key;
}

/// 0 applied, 1 skipped while probing, 2 skipped by a fault, 3 the loss isn't finite.
int fate_of(const StepRow& row) {
    if (row.nonfinite_loss || !std::isfinite(row.loss)) return 3;
    if (!row.skipped) return 0;
    return row.skip_kind == SkipKind::Fault ? 2 : 1;
}

Json run_json(const RunEvidence& run) {
    Json steps = Json::array(), loss = Json::array(), fates = Json::array(), scale = Json::array();
    for (const StepRow& row : run.rows.steps) {
        steps.push_back(row.step);
        // What a recording holds came from single precision: its digits are enough.
        loss.push_back(number_to_json(row.loss));
        fates.push_back(fate_of(row));
        scale.push_back(number_to_json(row.loss_scale));
    }
    return {{"mode", to_string(run.summary.mode)}, {"steps", steps}, {"loss", loss}, {"fates", fates}, {"scale", scale}};
}

Json words_json(const TextCatalogue& texts) {
    Json words;
    for (const char* key : {"play", "pause", "step", "scale", "prediction", "right", "wrong"}) words[key] = word(texts, std::string("player.") + key);
    words["fates"] = {"", word(texts, "player.probing"), word(texts, "player.fault"), word(texts, "player.nonfinite")};
    return words;
}

Json recording_json(const PlayerSubject& subject, const TextCatalogue& texts) {
    Json groups = Json::array();
    for (const PlayerGroup& group : subject.groups) {
        Json runs = Json::array();
        for (const RunEvidence* run : group.runs) runs.push_back(run_json(*run));
        groups.push_back({{"name", group.name}, {"runs", runs}});
    }
    Json lesson = nullptr;
    if (subject.lesson != nullptr) {
        Json answers;
        for (const std::string& answer : subject.lesson->answers) answers[answer] = lesson_text(*subject.lesson, "answers." + answer, texts).value();
        lesson = {{"right", subject.lesson->right}, {"answers", answers}};
    }
    return {{"groups", groups}, {"lesson", lesson}, {"words", words_json(texts)}};
}

/// JSON inside of a script element: nothing in it may end that element.
std::string embedded(const Json& json) {
    std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace), safe;
    for (const char letter : text) {
        if (letter == '<') safe += "\\u003c";
        else safe += letter;
    }
    return safe;
}

Result<std::string> question_html(const Lesson& lesson, const TextCatalogue& texts) {
    auto question = lesson_text(lesson, "question", texts);
    if (!question) return question.error();
    std::string html = html::text_element("p", *question, "decision");
    html += "<fieldset><legend class=\"quiet\">" + html::escaped(word(texts, "page.choose")) + "</legend>";
    for (const std::string& answer : lesson.answers) {
        auto text = lesson_text(lesson, "answers." + answer, texts);
        if (!text) return text.error();
        html += "<label><input type=\"radio\" name=\"answer\" value=\"" + html::escaped(answer) + "\"> " + html::escaped(*text) + "</label>\n";
    }
    return html + "</fieldset>\n<p id=\"prediction\" hidden></p>\n";
}

std::string outcome_html(const PlayerSubject& subject, const TextCatalogue& texts) {
    const auto right = lesson_text(*subject.lesson, "answers." + subject.lesson->right, texts);
    std::string html = "<p><b id=\"verdict\"></b> " + html::escaped(right ? *right : "") + "</p>\n" + html::text_element("p", subject.outcome->explanation);
    std::vector<std::vector<html::Cell>> claims;
    for (const ClaimOutcome& claim : subject.outcome->claims)
        claims.push_back({{claim.is_met ? "✓" : "✗", claim.is_met ? "badge ok" : "badge error"}, {claim.text, ""}, {claim.seen, "n"}});
    html += html::table({"", word(texts, "claims"), word(texts, "seen")}, claims);
    std::vector<std::vector<html::Cell>> figures;
    for (const FigureValue& figure : subject.outcome->figures)
        if (figure.usual) figures.push_back({{figure.label, ""}, {figure.text, "n"}, {word(texts, figure.is_usual ? "usual" : "unusual", {{"range", figure.usual_text}}), "quiet"}});
    if (!figures.empty()) html += html::table({word(texts, "seen"), "", ""}, figures);
    return "<section id=\"outcome\" hidden><h2>" + html::escaped(word(texts, "explanation")) + "</h2>\n" + html + "</section>\n";
}

std::string controls_html(const PlayerSubject& subject, const TextCatalogue& texts) {
    std::string html = "<div class=\"controls\"><button id=\"play\" type=\"button\"></button><button id=\"step\" type=\"button\">" + html::escaped(word(texts, "page.one_step")) +
                       "</button><label>" + html::escaped(word(texts, "page.pace")) + " <select id=\"pace\">";
    for (const int pace : {2, 10, 50, 200})
        html += "<option value=\"" + std::to_string(pace) + "\"" + (pace == 50 ? " selected" : "") + ">" + html::escaped(word(texts, "page.pace_steps", {{"count", std::to_string(pace)}})) + "</option>";
    html += "</select></label>";
    if (subject.groups.size() > 1) {
        html += "<select id=\"group\" aria-label=\"" + html::escaped(word(texts, "player.runs")) + "\">";
        for (std::size_t i = 0; i < subject.groups.size(); ++i) html += "<option value=\"" + std::to_string(i) + "\">" + html::escaped(subject.groups[i].name) + "</option>";
        html += "</select>";
    }
    return html + "<input id=\"position\" type=\"range\" min=\"0\" aria-label=\"" + html::escaped(word(texts, "player.position")) + "\"></div>\n";
}

constexpr const char* player_style = R"(canvas { width: 100%; height: 360px; display: block; touch-action: pan-y; } canvas:focus { outline: 2px solid var(--note); }
fieldset { border: none; padding: 0; margin: 8px 0; } fieldset label { display: block; padding: 3px 0; }
.controls { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 8px 0; } .controls input[type=range] { flex: 1; min-width: 140px; }
button, select { font: inherit; padding: 5px 12px; } #readout { min-height: 1.5em; }
)";

PlayerSubject subject_of(const LessonEvidence& evidence, const Lesson* lesson, const TextCatalogue& texts) {
    PlayerSubject subject;
    std::vector<std::string> order;  // the lesson's own
    if (lesson == nullptr)
        for (const auto& [id, runs] : evidence) order.push_back(id);
    else
        for (const LessonRun& run : lesson->runs)
            if (evidence.count(run.id) != 0) order.push_back(run.id);
    for (const std::string& id : order) {
        PlayerGroup group;
        if (lesson != nullptr && lesson->runs.size() > 1) {
            const auto name = lesson_text(*lesson, "runs." + id, texts);
            group.name = name ? *name : id;
        }
        for (const RunEvidence& run : evidence.at(id).runs) group.runs.push_back(&run);
        subject.groups.push_back(std::move(group));
    }
    return subject;
}

Result<std::string> lesson_player(const LessonSession& session, const TextCatalogue& texts) {
    const auto lesson = find_lesson(session.lesson);
    if (!lesson) return lesson.error();
    const auto evidence = load_lesson_evidence(session);
    if (!evidence) return evidence.error();
    const auto outcome = evaluate_lesson(*lesson, *evidence, texts);
    if (!outcome) return outcome.error();
    PlayerSubject subject = subject_of(*evidence, &*lesson, texts);
    const auto title = lesson_text(*lesson, "title", texts);
    if (!title) return title.error();
    subject.title = word(texts, "lesson", {{"number", std::to_string(lesson->number)}, {"title", *title}});
    subject.lesson = &*lesson;
    subject.outcome = &*outcome;
    return player_html(subject, texts);
}

Result<std::string> recording_player(const std::filesystem::path& folder, const TextCatalogue& texts) {
    LessonSession one;
    one.jobs["run"] = folder;
    const auto evidence = load_lesson_evidence(one);
    if (!evidence) return evidence.error();
    PlayerSubject subject = subject_of(*evidence, nullptr, texts);
    if (!subject.groups.empty() && !subject.groups.front().runs.empty()) subject.title = subject.groups.front().runs.front()->summary.name;
    return player_html(subject, texts);
}

}  // namespace

Result<std::string> player_html(const PlayerSubject& subject, const TextCatalogue& texts) {
    const auto script = read_file(resources_folder() / "player" / "player.js");
    if (!script) return script.error();
    std::string question, outcome;
    if (subject.lesson != nullptr) {
        auto html = question_html(*subject.lesson, texts);
        if (!html) return html.error();
        question = std::move(*html);
        if (subject.outcome != nullptr) outcome = outcome_html(subject, texts);
    }
    const std::string chart = "<canvas id=\"chart\" tabindex=\"0\" role=\"img\" aria-label=\"" + html::escaped(word(texts, "player.chart")) + "\" aria-describedby=\"readout\"></canvas>\n" +
                              "<p id=\"readout\" class=\"quiet\" aria-live=\"polite\"></p>\n";
    const std::string language = texts.language() == "zh" ? "zh-Hans" : "en";
    return "<!DOCTYPE html>\n<html lang=\"" + language +
           "\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n" +
           html::text_element("title", subject.title + " – Mantissa") + "\n<style>\n" + report_style() + player_style + "</style>\n</head>\n<body>\n<main>\n" +
           html::text_element("h1", subject.title) + "<section>\n" + question + controls_html(subject, texts) + chart + "</section>\n" + outcome +
           html::element("footer", html::text_element("p", word(texts, "player.made_by", {{"version", version}}), "quiet")) +
           "</main>\n<script type=\"application/json\" id=\"recording\">" + embedded(recording_json(subject, texts)) + "</script>\n<script>\n" + *script +
           "</script>\n</body>\n</html>\n";
}

Result<std::filesystem::path> write_player(const std::filesystem::path& folder, std::string_view language, const std::filesystem::path& output) {
    const auto texts = text_catalogue(language);
    if (!texts) return texts.error();
    std::error_code problem;
    auto page = std::filesystem::exists(folder / "lesson.json", problem)
                    ? [&]() -> Result<std::string> {
                          const auto session = read_lesson_session(folder);
                          return session ? lesson_player(*session, **texts) : Result<std::string>(session.error());
                      }()
                    : recording_player(folder, **texts);
    if (!page) return page.error();
    const auto target = std::filesystem::absolute(output.empty() ? folder / "player.html" : output, problem);
    if (problem) return Error{ErrorCode::InputOutput, "no absolute path for " + output.string() + ": " + problem.message(), {}};
    if (auto written = write_file_atomically(target, *page); !written) return written.error();
    return target;
}

}  // namespace mantissa
