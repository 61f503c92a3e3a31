// Measures and claims on recordings made by hand, whose figures are known.
#include "lessons/lesson_outcome.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lessons/lesson_measures.h"

namespace mantissa {
namespace {

RunEvidence run_with(const std::vector<double>& losses, const std::vector<int>& skipped = {}) {
    RunEvidence run;
    std::int64_t step = 0, applied = 0;
    for (const double loss : losses) {
        StepRow row;
        row.step = step;
        row.loss = loss;
        row.nonfinite_loss = !std::isfinite(loss);
        row.learning_rate = 0.1;
        row.grad_norm = loss;
        row.loss_scale = 1024;
        for (const int bad : skipped)
            if (bad == step) row.skipped = true, row.skip_kind = SkipKind::Probing;
        row.applied_step = row.skipped ? applied : ++applied;
        run.rows.steps.push_back(row);
        ++step;
    }
    return run;
}

double read(const char* name, const RunEvidence& run, const RunEvidence* other = nullptr, std::optional<double> argument = {}) {
    const auto value = measure(name, {run, other, {}, argument});
    EXPECT_TRUE(value.has_value()) << name;
    return value.value_or(-1);
}

TEST(LessonMeasures, Losses) {
    const RunEvidence run = run_with({4, 3, 2, 1}), other = run_with({4, 3, 2.5, 0});
    EXPECT_EQ(read("loss_end", run), 1);
    EXPECT_EQ(read("loss_end", run, nullptr, 2), 1.5);
    EXPECT_EQ(read("loss_gap", run, &other, 2), 0.75);
    EXPECT_EQ(read("parted_step", run, &other, 0.1), 2);
    EXPECT_FALSE(measure("parted_step", {run, &other, {}, 5}).has_value());
    EXPECT_FALSE(measure("loss_gap", {run, nullptr, {}, 5}).has_value());
    EXPECT_TRUE(std::isnan(read("loss_end", run_with({1, NAN, 1}), nullptr, 2)));
    EXPECT_EQ(read("nonfinite_steps", run_with({1, NAN, INFINITY, 1})), 2);
    EXPECT_EQ(read("zero_gradient_steps", run_with({0, 0, 1})), 2);
}

TEST(LessonMeasures, SkipsAndTheSchedule) {
    RunEvidence run = run_with(std::vector<double>(30, 1.0), {0, 1, 2, 10, 20});
    EXPECT_EQ(read("skips_at_start", run), 3);
    EXPECT_EQ(read("later_skips", run), 2);
    EXPECT_EQ(read("longest_later_row", run), 1);
    // A schedule that falls every 10 applied steps: with 3 + 1 skips before it the first fall is at attempt 14.
    for (std::size_t i = 14; i < 30; ++i) run.rows.steps[i].learning_rate = 0.01;
    for (std::size_t i = 25; i < 30; ++i) run.rows.steps[i].learning_rate = 0.001;
    EXPECT_EQ(read("unexplained_falls", run, nullptr, 10), 0);
    EXPECT_EQ(read("first_fall", run), 14);
    for (std::size_t i = 22; i < 30; ++i) run.rows.steps[i].learning_rate = 0.001;  // three too early
    EXPECT_EQ(read("unexplained_falls", run, nullptr, 10), 3);
}

TEST(LessonMeasures, DerivedOnes) {
    EXPECT_EQ(derive("ratio", {3, 2}), 1.5);
    EXPECT_EQ(derive("difference", {2, 3}), 1);
    EXPECT_EQ(derive("largest", {1, 3, 2}), 3);
    EXPECT_TRUE(std::isnan(*derive("smallest", {1, NAN})));
    EXPECT_FALSE(derive("ratio", {1}).has_value());
}

Lesson lesson_with(const LessonClaim& claim) {
    Lesson lesson;
    lesson.id = "small-gradients";  // has texts
    lesson.runs = {{"run", {Precision::No}, ""}};
    lesson.figures = {{"loss", "loss_end", "run", Precision::No, "", {}, {}, {}, FigureForm::Number, std::pair{0.5, 1.5}}};
    // The explanation wants its own figures.
    for (const char* name : {"zero_share", "start", "loss_1", "loss_no", "loss_bf16", "loss_16", "ratio_16", "loss_256", "ratio_256", "loss_65536", "ratio_65536"})
        lesson.figures.push_back({name, "loss_start", "run", Precision::No, "", {}, {}, {}, FigureForm::Number, {}});
    lesson.claims = {claim};
    return lesson;
}

bool met(const LessonClaim& claim, double loss) {
    ComparisonEvidence evidence;
    evidence.runs.push_back(run_with({loss}));
    evidence.runs.back().summary.mode = Precision::No;
    const auto texts = text_catalogue("en");
    const auto outcome = evaluate_lesson(lesson_with(claim), {{"run", evidence}}, **texts);
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : describe(outcome.error()));
    return outcome.ok() && outcome->all_met();
}

TEST(LessonClaims, BothSidesOfEachBound) {
    LessonClaim claim{"all_vanish", "loss", 1.0, 2.0, false};
    EXPECT_TRUE(met(claim, 1));
    EXPECT_TRUE(met(claim, 2));
    EXPECT_FALSE(met(claim, 0.999));
    EXPECT_FALSE(met(claim, 2.001));
    EXPECT_FALSE(met(claim, NAN)) << "a bound asks for a finite value";
    claim = {"all_vanish", "loss", {}, {}, true};
    EXPECT_TRUE(met(claim, NAN));
    EXPECT_TRUE(met(claim, INFINITY));
    EXPECT_FALSE(met(claim, 1));
}

TEST(LessonClaims, TheUsualRangeOfAClassIsToldApart) {
    ComparisonEvidence evidence;
    evidence.runs.push_back(run_with({1.7}));
    const auto outcome = evaluate_lesson(lesson_with({"all_vanish", "loss", 0.0, {}, false}), {{"run", evidence}}, **text_catalogue("zh"));
    ASSERT_TRUE(outcome.ok());
    EXPECT_TRUE(outcome->all_met());
    EXPECT_FALSE(outcome->find("loss")->is_usual);
    EXPECT_EQ(outcome->find("loss")->usual_text, "0.500 … 1.50");
    EXPECT_EQ(outcome->find("start")->text, "–") << "not in the recording";
}

}  // namespace
}  // namespace mantissa
