// Files of lessons: those that come with the program, and what is said of bad ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "judge/texts.h"
#include "lessons/lesson.h"
#include "lessons/lesson_outcome.h"

namespace mantissa {
namespace {

using testing::HasSubstr;

constexpr const char* good = R"({"mantissa_lesson": 1, "id": "x", "number": 99, "order": 99, "answers": ["a", "b"], "right": "a",
  "runs": [{"id": "run", "modes": ["no", "fp16"], "plan": {"training": {"max_steps": 20}}}],
  "figures": [{"name": "loss", "measure": "loss_end", "mode": "fp16", "argument": 5}],
  "claims": [{"id": "c", "figure": "loss", "at_most": 1}]})";

std::string changed(const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(LessonFile, OfTheProgramAreGoodAndHaveTheirTextsInBothLanguages) {
    const auto lessons = list_lessons();
    ASSERT_TRUE(lessons.ok()) << describe(lessons.error());
    ASSERT_GE(lessons->size(), 6u);
    std::set<std::int64_t> numbers, orders;
    for (const Lesson& lesson : *lessons) {
        EXPECT_TRUE(numbers.insert(lesson.number).second) << lesson.id;
        EXPECT_TRUE(orders.insert(lesson.order).second) << lesson.id;
        EXPECT_EQ(lesson.runs.empty(), lesson.claims.empty()) << lesson.id;
        for (const std::string& language : text_languages()) {
            const auto texts = text_catalogue(language);
            ASSERT_TRUE(texts.ok());
            for (const char* key : {"title", "question", "look"}) EXPECT_TRUE(lesson_text(lesson, key, **texts).ok()) << lesson.id << " " << key;
            for (const std::string& answer : lesson.answers) EXPECT_TRUE(lesson_text(lesson, "answers." + answer, **texts).ok()) << lesson.id << " " << answer;
            // Fills explanation and claims, here without a recording.
            const auto outcome = evaluate_lesson(lesson, {}, **texts);
            ASSERT_TRUE(outcome.ok()) << lesson.id << ": " << describe(outcome.error());
            EXPECT_EQ(outcome->all_met(), lesson.claims.empty()) << "nothing was seen, so nothing is met";
        }
    }
}

TEST(LessonFile, AreFoundByNumberAndId) {
    EXPECT_EQ(find_lesson("5")->id, "forward-overflow");
    EXPECT_EQ(find_lesson("nan-hunt")->number, 13);
    const auto slip = find_lesson("nan-hnut");
    ASSERT_FALSE(slip.ok());
    EXPECT_THAT(slip.error().hint, HasSubstr("did you mean nan-hunt?"));
    EXPECT_FALSE(find_lesson("77").ok());
}

TEST(LessonFile, PlansAreNamedAfterTheLesson) {
    const auto lesson = find_lesson("5");
    const auto both = lesson_plan(*lesson, lesson->runs[0]);
    ASSERT_TRUE(both.ok()) << describe(both.error());
    EXPECT_EQ(both->plan.name, "lesson-forward-overflow-scale_65536");
    EXPECT_EQ(both->plan.modes.size(), 3u);
    EXPECT_EQ(both->plan.training.max_steps, 400);
    const auto single = lesson_plan(*lesson, lesson->runs[1]);
    EXPECT_EQ(single->plan.mixed_precision, Precision::Fp16);
    EXPECT_EQ(single->plan.loss_scale.initial, 1);
}

TEST(LessonFile, BadOnesNameFileAndField) {
    ASSERT_TRUE(read_lesson_text(good, "x.json").ok()) << describe(read_lesson_text(good, "x.json").error());
    const std::pair<std::string, const char*> cases[] = {
        {changed(R"("number": 99)", R"("number": "99")"), "lesson.number must be a whole number"},
        {changed(R"("right": "a")", R"("right": "c")"), "lesson.right is \"c\", which is none of the answers"},
        {changed(R"("answers": ["a", "b"])", R"("answers": ["a"])"), "lesson.answers must be two to four"},
        {changed(R"("modes": ["no", "fp16"])", R"("modes": ["no", "fp17"])"), "lesson.runs[0].modes has \"fp17\""},
        {changed("loss_end", "loss_ned"), "lesson.figures[0].measure is \"loss_ned\", which is no measure"},
        {changed(R"("mode": "fp16")", R"("mode": "bf16")"), "lesson.figures[0].run is \"run\", which doesn't run in bf16"},
        {changed(R"("figure": "loss")", R"("figure": "lost")"), "lesson.claims[0].figure is \"lost\""},
        {changed(R"(, "at_most": 1)", ""), "lesson.claims[0] needs a bound"},
        {changed(R"("order": 99)", R"("ordre": 99)"), "lesson.order is missing"},
        {changed(R"("order": 99,)", R"("order": 99, "anser": 1,)"), "lesson.anser is no field of it (did you mean answers?)"},
        {changed(R"("max_steps": 20)", R"("max_steps": 0)"), "max_steps"},
        {changed(R"("right": "a",)", R"("right": "a")"), "line 2"},
        {"[]", "lesson is no object"},
        {"", "x.json"}};
    for (const auto& [text, message] : cases) {
        const auto lesson = read_lesson_text(text, "x.json");
        ASSERT_FALSE(lesson.ok()) << message;
        EXPECT_THAT(lesson.error().message, HasSubstr("x.json: "));
        EXPECT_THAT(lesson.error().message, HasSubstr(message));
    }
}

}  // namespace
}  // namespace mantissa
