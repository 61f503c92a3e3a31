#include "judge/alarms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "evidence_maker.h"

namespace mantissa {
namespace {

TensorStatRow record(std::int64_t step, TensorRole role, const std::string& tensor, const std::vector<float>& values,
                     const std::string& dtype = "float32") {
    TensorStatRow row;
    row.step = step;
    row.role = role;
    row.tensor = tensor;
    row.dtype = dtype;
    row.elements = static_cast<std::int64_t>(values.size());
    double squares = 0;
    for (const float value : values) {
        const float magnitude = std::abs(value);
        if (std::isinf(magnitude)) {
            ++row.pos_inf;
            continue;
        }
        squares += static_cast<double>(magnitude) * magnitude;
        row.largest = std::max<double>(row.largest, magnitude);
        if (magnitude == 0) {
            ++row.zero;
        }
    }
    row.rms = std::sqrt(squares / static_cast<double>(values.size()));
    row.exponents = histogram_of({values.begin(), values.end()}).to_blob();
    return row;
}

AlarmJudge judge_of(const std::vector<std::string>& entries = {}, Precision mode = Precision::Fp16) {
    const auto rules = parse_alarms(entries);
    EXPECT_TRUE(rules.ok());
    return {*rules, {mode, 65536, 0x1p-14}};
}

std::vector<std::string> names(const std::vector<AlarmRow>& rows) {
    std::vector<std::string> found;
    for (const AlarmRow& row : rows) found.push_back(row.rule + " " + row.tensor + " " + std::to_string(row.step));
    return found;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Alarms, HeadroomIsOfTheOutputsOwnFormat) {
    AlarmJudge judge = judge_of();
    const auto output = [](std::int64_t step, float largest, const char* dtype) {
        return record(step, TensorRole::Output, "gate.mul", {1, largest}, dtype);
    };
    EXPECT_THAT(judge.look_at_tensors({output(0, 32'000, "float16")}), IsEmpty());
    EXPECT_THAT(judge.look_at_tensors({output(1, 1e9F, "float32"), output(1, 1e9F, "bfloat16")}), IsEmpty());
    const auto rows = judge.look_at_tensors({output(2, 40'000, "float16")});
    ASSERT_THAT(names(rows), ElementsAre("headroom gate.mul 2"));
    EXPECT_NEAR(rows[0].value, std::log2(65504.0 / 40'000), 1e-12);
    EXPECT_EQ(rows[0].threshold, 1);
    EXPECT_EQ(rows[0].severity, "warning");
    // It stays true: said once. Gone and back: said again.
    EXPECT_THAT(judge.look_at_tensors({output(3, 41'000, "float16")}), IsEmpty());
    EXPECT_THAT(judge.look_at_tensors({output(4, 20'000, "float16")}), IsEmpty());
    const auto again = judge.look_at_tensors({output(5, INFINITY, "float16")});
    ASSERT_THAT(names(again), ElementsAre("headroom gate.mul 5"));
    EXPECT_TRUE(std::isinf(again[0].value));
}

TEST(Alarms, StepsIsHowManyLooksInARow) {
    AlarmJudge judge = judge_of({"headroom steps=3 action=pause"});
    for (const auto& [step, largest] : std::map<std::int64_t, float>{{0, 40'000.F}, {1, 40'000.F}, {2, 1.F}, {3, 40'000.F}, {4, 40'000.F}})
        EXPECT_THAT(judge.look_at_tensors({record(step, TensorRole::Output, "a", {largest}, "float16")}), IsEmpty()) << step;
    const auto rows = judge.look_at_tensors({record(5, TensorRole::Output, "a", {40'000.F}, "float16")});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].action, "pause");
}

TEST(Alarms, SkipsCountAfterTheFirstAppliedStep) {
    AlarmJudge judge = judge_of({"scale_floor off"});
    std::int64_t step = 0;
    for (; step < 15; ++step) EXPECT_THAT(judge.look_at_step({step, true, 65536.0, 65536.0}), IsEmpty());  // the start's search
    EXPECT_THAT(judge.look_at_step({step++, false, 2.0, 2.0}), IsEmpty());
    EXPECT_THAT(judge.look_at_step({step++, true, 2.0, 1.0}), IsEmpty());
    EXPECT_THAT(judge.look_at_step({step++, true, 1.0, 0.5}), IsEmpty());
    EXPECT_THAT(names(judge.look_at_step({step++, true, 0.5, 0.25})), ElementsAre("skip_streak  18"));
    EXPECT_THAT(judge.look_at_step({step++, true, 0.25, 0.125}), IsEmpty());
}

TEST(Alarms, TheScaleFloorIsToldBeforeItIsReached) {
    AlarmJudge judge = judge_of({"skip_streak off"});
    EXPECT_THAT(judge.look_at_step({0, true, 0x1p-8, 0x1p-9}), IsEmpty());
    const auto rows = judge.look_at_step({1, true, 0x1p-9, 0x1p-10});
    ASSERT_THAT(names(rows), ElementsAre("scale_floor  1"));
    EXPECT_EQ(rows[0].value, 4);
    // A scale that begins there hasn't fallen.
    AlarmJudge fixed({default_alarm(AlarmKind::ScaleFloor)}, {Precision::Fp16, 0x1p-12, 0x1p-14});
    EXPECT_THAT(fixed.look_at_step({0, false, 0x1p-12, 0x1p-12}), IsEmpty());
}

TEST(Alarms, FlushedGradientsAreToldByTheSurvivors) {
    // Gradients spread evenly over 0..8 smallest subnormals: a sixteenth is flushed, an eighth rounds to 1.
    std::vector<float> survivors;
    const double scale = 1024, unit = 0x1p-24 / scale;
    const auto add = [&](int units, int count) { survivors.insert(survivors.end(), count, static_cast<float>(units * unit)); };
    for (int units = 1; units < 8; ++units) add(units, 100);
    add(8, 50);
    const TensorStatRow row = record(0, TensorRole::Gradient, "a.weight", survivors);
    const auto share = survivors_flush_share(*lens_input(row), scale);
    ASSERT_TRUE(share.has_value());
    EXPECT_NEAR(*share, 1.0 / 16, 1e-12);
    // A smaller value was never in fp16, so nothing is said of this tensor.
    survivors.push_back(static_cast<float>(unit / 4));
    EXPECT_FALSE(survivors_flush_share(*lens_input(record(0, TensorRole::Gradient, "a.weight", survivors)), scale).has_value());

    AlarmJudge judge = judge_of({"flush_share threshold=0.05 steps=2", "dead_layer off", "vanishing_gradient off"});
    std::vector<AlarmRow> rows;
    for (std::int64_t step = 0; step < 2; ++step) {
        EXPECT_THAT(judge.look_at_step({step, false, scale, scale}), IsEmpty());
        TensorStatRow again = row;
        again.step = step;
        rows = judge.look_at_tensors({again});
        EXPECT_EQ(rows.size(), static_cast<std::size_t>(step));
    }
    EXPECT_THAT(names(rows), ElementsAre("flush_share a.weight 1"));
    AlarmJudge in_bf16 = judge_of({"flush_share threshold=0.05 steps=1"}, Precision::Bf16);
    EXPECT_THAT(in_bf16.look_at_tensors({row}), IsEmpty());
}

TEST(Alarms, AVanishingGradientIsComparedWithTheLargestOfItsStep) {
    AlarmJudge judge = judge_of({"vanishing_gradient steps=1", "dead_layer steps=1"}, Precision::No);
    const auto gradient = [](const char* name, float value) { return record(0, TensorRole::Gradient, name, {value, -value}); };
    EXPECT_THAT(judge.look_at_tensors({gradient("a.weight", 1e-3F), gradient("b.weight", 1e-6F)}), IsEmpty());
    const auto rows = judge.look_at_tensors({gradient("a.weight", 1.F), gradient("b.weight", 1e-8F), gradient("c.bias", 1e-9F), gradient("d.weight", 0)});
    EXPECT_THAT(names(rows), ElementsAre("vanishing_gradient b.weight 0", "dead_layer d.weight 0"));
}

TEST(Alarms, DeadLayersAndWeightsThatStayWhereTheyAre) {
    AlarmJudge judge = judge_of({"dead_layer steps=1", "update_share steps=1"});
    TensorStatRow update = record(0, TensorRole::Update, "a.weight", {0, 0, 1e-3F, 0});
    update.unmoved = 0.75;
    TensorStatRow moving = update;
    moving.tensor = "b.weight";
    moving.unmoved = 0.1;
    EXPECT_THAT(names(judge.look_at_tensors({record(0, TensorRole::Output, "relu", {0, 0, 0}), record(0, TensorRole::Output, "other", {0, 0, 1}),
                                             record(0, TensorRole::Weight, "w", {0, 0}), update, moving})),
                ElementsAre("dead_layer relu 0", "update_share a.weight 0"));
    // A skipped step moves nothing, and that is meant.
    AlarmJudge skipping = judge_of({"update_share steps=1"});
    EXPECT_THAT(skipping.look_at_step({0, true, 8.0, 4.0}), IsEmpty());
    EXPECT_THAT(skipping.look_at_tensors({update}), IsEmpty());
}

TEST(Alarms, EveryRuleHasItsTextsInBothLanguages) {
    for (const char* language : {"en", "zh"}) {
        const TextCatalogue& texts = test::texts(language);
        for (const AlarmKind kind : all_alarm_kinds) {
            EXPECT_TRUE(alarm_name(kind, texts).ok() && alarm_meaning(kind, texts).ok()) << to_string(kind);
            for (const AlarmAction action : {AlarmAction::Mark, AlarmAction::Pause, AlarmAction::Stop, AlarmAction::Checkpoint, AlarmAction::Watch}) {
                const auto text = alarm_text({12, to_string(kind), "warning", "gate.mul", 0.5, 1, to_string(action)}, texts);
                ASSERT_TRUE(text.ok()) << to_string(kind);
                EXPECT_THAT(*text, ::testing::HasSubstr("12"));
            }
        }
    }
    EXPECT_EQ(*alarm_text({38, "headroom", "warning", "gate.mul", 0.96, 1, "pause"}, test::texts()),
              "At step 38 the largest output of gate.mul was 0.96 bits below the end of its format (alarm below 1.0). Keep gate.mul in fp32 "
              "(fp32_islands) or train in bf16; the loss scale doesn't act on outputs. The run was paused.");
    EXPECT_FALSE(alarm_text({0, "unheard_of", "note", "", 0, 0, "mark"}, test::texts()).ok());
}

}  // namespace
}  // namespace mantissa
