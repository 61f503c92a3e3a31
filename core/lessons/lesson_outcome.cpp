#include "lessons/lesson_outcome.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "lessons/lesson_measures.h"

namespace mantissa {
namespace {

const RunEvidence* find_mode(const ComparisonEvidence& evidence, Precision mode) {
    for (const RunEvidence& run : evidence.runs)
        if (run.summary.mode == mode) return &run;
    return nullptr;
}

const RunEvidence* find_evidence(const LessonEvidence& evidence, const std::string& run, Precision mode) {
    const auto found = evidence.find(run);
    return found == evidence.end() ? nullptr : find_mode(found->second, mode);
}

std::optional<double> figure_value(const LessonFigure& figure, const LessonEvidence& evidence, const LessonOutcome& so_far) {
    if (is_derived(figure.measure)) {
        std::vector<double> values;
        for (const std::string& name : figure.of) {
            const FigureValue* value = so_far.find(name);
            if (value == nullptr || !value->value) return {};
            values.push_back(*value->value);
        }
        return derive(figure.measure, values);
    }
    const RunEvidence* run = find_evidence(evidence, figure.run, figure.mode);
    if (run == nullptr) return {};
    MeasureSubject subject{*run, nullptr, {}, figure.argument};
    if (figure.other_mode) subject.other = find_evidence(evidence, figure.other_run, *figure.other_mode);
    for (const RunEvidence& replica : evidence.at(figure.run).rounding) subject.replicas.push_back(&replica);
    return measure(figure.measure, subject);
}

bool is_met(const LessonClaim& claim, const std::optional<double>& value) {
    if (!value) return false;
    if (claim.is_nonfinite) return !std::isfinite(*value);
    return std::isfinite(*value) && (!claim.at_least || *value >= *claim.at_least) && (!claim.at_most || *value <= *claim.at_most);
}

/// "accuracy, fp16, scale 1": the run only where there are several.
Result<std::string> figure_label(const Lesson& lesson, const LessonFigure& figure, const TextCatalogue& texts) {
    if (is_derived(figure.measure)) return std::string();
    auto label = texts.fill("course.measures." + figure.measure);
    if (!label) return label;
    std::string text = *label + " · " + to_string(figure.mode);
    if (lesson.runs.size() < 2) return text;
    auto run = lesson_text(lesson, "runs." + figure.run, texts);
    if (!run) return run;
    return text + " · " + *run;
}

FigureValue read_figure(const LessonFigure& figure, const LessonEvidence& evidence, const LessonOutcome& so_far) {
    FigureValue value;
    value.name = figure.name;
    value.value = figure_value(figure, evidence, so_far);
    value.text = figure_text(figure.form, value.value);
    value.usual = figure.usual;
    if (figure.usual) {
        const auto [low, high] = *figure.usual;
        value.usual_text = figure_text(figure.form, low) + (low == high ? "" : " … " + figure_text(figure.form, high));
        value.is_usual = value.value && *value.value >= low && *value.value <= high;
    }
    return value;
}

}  // namespace

bool LessonOutcome::all_met() const {
    return std::all_of(claims.begin(), claims.end(), [](const ClaimOutcome& claim) { return claim.is_met; });
}

const FigureValue* LessonOutcome::find(std::string_view name) const {
    for (const FigureValue& figure : figures)
        if (figure.name == name) return &figure;
    return nullptr;
}

std::string figure_text(FigureForm form, const std::optional<double>& value) {
    if (!value) return "–";
    if (!std::isfinite(*value)) return readable_number(*value);
    switch (form) {
        case FigureForm::Number: return readable_number(*value);
        case FigureForm::Count: return readable_count(std::llround(*value));
        case FigureForm::Percent: return readable_percent(*value);
        case FigureForm::Scale: return readable_scale(*value);
        case FigureForm::Bytes: return readable_bytes(static_cast<std::uint64_t>(std::max(0.0, *value)));
        case FigureForm::Factor: return "×" + readable_number(*value);
    }
    return {};
}

Result<std::string> lesson_text(const Lesson& lesson, const std::string& key, const TextCatalogue& texts) {
    return texts.fill("lessons." + lesson.id + "." + key);
}

Result<LessonOutcome> evaluate_lesson(const Lesson& lesson, const LessonEvidence& evidence, const TextCatalogue& texts) {
    LessonOutcome outcome;
    TextValues values;
    for (const LessonFigure& figure : lesson.figures) {
        outcome.figures.push_back(read_figure(figure, evidence, outcome));
        auto label = figure_label(lesson, figure, texts);
        if (!label) return label.error();
        outcome.figures.back().label = std::move(*label);
        values[figure.name] = outcome.figures.back().text;
    }
    for (const LessonClaim& claim : lesson.claims) {
        const FigureValue* figure = outcome.find(claim.figure);
        auto text = texts.fill("lessons." + lesson.id + ".claims." + claim.id, values);
        if (!text) return text.error();
        outcome.claims.push_back({claim.id, std::move(*text), is_met(claim, figure->value), figure->text});
    }
    auto explanation = texts.fill("lessons." + lesson.id + ".explanation", values);
    if (!explanation) return explanation.error();
    outcome.explanation = std::move(*explanation);
    return outcome;
}

}  // namespace mantissa
