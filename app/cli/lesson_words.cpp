#include "lesson_words.h"

#include <nlohmann/json.hpp>

#include "base/numbers.h"
#include "output.h"
#include "table.h"

namespace mantissa::cli {
namespace {

using Json = nlohmann::json;

std::string neighbour(const std::optional<double>& value) { return value ? to_text(*value) : "–"; }
std::string digits(const NumberBits& bits) { return bits.sign_digits + " " + bits.exponent_digits + " " + bits.mantissa_digits; }

Json bits_json(const NumberBits& bits) {
    return {{"format", to_string(bits.format)},
            {"kind", to_string(bits.kind)},
            {"value", number_to_json(bits.value)},
            {"pattern", bits.pattern},
            {"sign", bits.sign_digits},
            {"exponent", bits.exponent_digits},
            {"mantissa", bits.mantissa_digits},
            {"below", number_to_json(bits.below)},
            {"above", number_to_json(bits.above)}};
}

}  // namespace

std::string course_word(const TextCatalogue& texts, const std::string& key, const TextValues& values) {
    auto text = texts.fill("course." + key, values);
    return text ? *text : key;
}

std::string lesson_word(const TextCatalogue& texts, const Lesson& lesson, const std::string& key) {
    auto text = lesson_text(lesson, key, texts);
    return text ? *text : key;
}

void print_question(const Lesson& lesson, const TextCatalogue& texts) {
    print(course_word(texts, "lesson", {{"number", std::to_string(lesson.number)}, {"title", lesson_word(texts, lesson, "title")}}));
    print("");
    print_wrapped(lesson_word(texts, lesson, "question"));
    for (std::size_t i = 0; i < lesson.answers.size(); ++i)
        print("  " + std::to_string(i + 1) + "  " + lesson_word(texts, lesson, "answers." + lesson.answers[i]));
    print("");
    print_wrapped(course_word(texts, "look") + ": " + lesson_word(texts, lesson, "look"));
}

void print_prediction(const Lesson& lesson, const std::string& prediction, const TextCatalogue& texts) {
    print("");
    if (prediction.empty())
        print_wrapped(course_word(texts, "no_prediction"));
    else
        print_wrapped(course_word(texts, "prediction", {{"answer", lesson_word(texts, lesson, "answers." + prediction)}}));
    const bool is_right = prediction == lesson.right;
    print_wrapped(course_word(texts, is_right ? "right" : "wrong", {{"answer", lesson_word(texts, lesson, "answers." + lesson.right)}}));
}

void print_outcome(const LessonOutcome& outcome, const TextCatalogue& texts) {
    print("");
    print(course_word(texts, "claims"));
    for (const ClaimOutcome& claim : outcome.claims)
        print_wrapped((claim.is_met ? "✓ " : "✗ ") + course_word(texts, "figure", {{"claim", claim.text}, {"seen", claim.seen}}) + " (" +
                       course_word(texts, claim.is_met ? "met" : "not_met") + ")",
                   2);
    print("");
    print(course_word(texts, "seen"));
    Table table;
    table.add_column("");
    table.add_column("", Table::Align::Right);
    table.add_column("");
    for (const FigureValue& figure : outcome.figures) {
        if (figure.label.empty()) continue;
        table.add_row({"  " + figure.label, figure.text,
                       figure.usual ? course_word(texts, figure.is_usual ? "usual" : "unusual", {{"range", figure.usual_text}}) : ""});
    }
    std::string rows = table.text();
    rows.erase(0, rows.find('\n') + 1);  // its columns have no titles
    if (!rows.empty()) rows.pop_back();
    print(rows);
    print("");
    print(course_word(texts, "explanation"));
    print_wrapped(outcome.explanation, 2);
}

void print_inspection(const NumberInspection& inspection, const std::string& typed, const TextCatalogue& texts) {
    const auto word = [&](const char* key) { return course_word(texts, std::string("bits.") + key); };
    print("");
    print(course_word(texts, "bits.typed", {{"number", typed}}));
    Table table;
    for (const char* title : {"format", "bits", "value", "below", "above", "kind"})
        table.add_column(word(title), std::string(title) == "format" || std::string(title) == "bits" || std::string(title) == "kind" ? Table::Align::Left : Table::Align::Right);
    for (const NumberBits& bits : inspection.casts)
        table.add_row({to_string(bits.format), digits(bits), to_text(bits.value), neighbour(bits.below), neighbour(bits.above),
                       course_word(texts, std::string("kinds.") + to_string(bits.kind))});
    print_table(table);
    if (inspection.scaled.empty()) return;
    Table scaled;
    for (const char* title : {"scale", "stored", "back"}) scaled.add_column(word(title), Table::Align::Right);
    for (const ScaledCast& cast : inspection.scaled)
        scaled.add_row({readable_scale(cast.scale), to_text(cast.stored.value), to_text(static_cast<float>(cast.back))});
    print_table(scaled);
}

Json lesson_json(const Lesson& lesson, const TextCatalogue& texts) {
    Json answers = Json::array(), runs = Json::array();
    for (const std::string& answer : lesson.answers) answers.push_back({{"id", answer}, {"text", lesson_word(texts, lesson, "answers." + answer)}});
    for (const LessonRun& run : lesson.runs) runs.push_back(run.id);
    return {{"name", lesson.id}, {"number", lesson.number}, {"title", lesson_word(texts, lesson, "title")}, {"seconds", lesson.seconds},
            {"question", lesson_word(texts, lesson, "question")}, {"answers", answers}, {"runs", runs}};
}

Json outcome_json(const LessonOutcome& outcome) {
    Json figures = Json::object(), claims = Json::array();
    for (const FigureValue& figure : outcome.figures) {
        Json entry{{"label", figure.label}, {"value", number_to_json(figure.value)}, {"text", figure.text}};
        if (figure.usual) entry["usual"] = {figure.usual->first, figure.usual->second};
        figures[figure.name] = std::move(entry);
    }
    for (const ClaimOutcome& claim : outcome.claims)
        claims.push_back({{"id", claim.id}, {"text", claim.text}, {"met", claim.is_met}, {"seen", claim.seen}});
    return {{"figures", figures}, {"claims", claims}, {"explanation", outcome.explanation}, {"all_met", outcome.all_met()}};
}

Json inspection_json(const NumberInspection& inspection) {
    Json casts = Json::array(), scaled = Json::array();
    for (const NumberBits& bits : inspection.casts) casts.push_back(bits_json(bits));
    for (const ScaledCast& cast : inspection.scaled)
        scaled.push_back({{"scale", cast.scale}, {"stored", bits_json(cast.stored)}, {"back", number_to_json(cast.back)}});
    return {{"typed", number_to_json(inspection.typed)}, {"casts", casts}, {"scaled", scaled}};
}

}  // namespace mantissa::cli
