#include "plan/plan_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "plan/plan_fields.h"
#include "plan/plan_file.h"
#include "plan_testing.h"

namespace mantissa {
namespace {

struct BadText {
    const char* text;
    const char* sentence;
};

class BadPlanText : public testing::TestWithParam<BadText> {};

TEST_P(BadPlanText, NamesFieldValueAndWhatIsAllowed) {
    const auto read = read_plan_json(GetParam().text);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, ErrorCode::BadPlan);
    EXPECT_EQ(sentence(read), GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadPlanText,
    testing::Values(
        BadText{"", "it is empty (line 1, byte 0) — a plan is a JSON object; {} is one with all defaults"},
        BadText{" \n\t ", "it holds white space only — a plan is a JSON object; {} is one with all defaults"},
        BadText{
            "{\n  \"model\": \"mlp\",\n  \"train",
            "the text ends too early, at line 3, byte 28 — the file is not complete: copy or write it again"},
        BadText{"[1]",
                "the plan is [1], not an object — a plan is a JSON object such as {\"model\": \"mlp\"}"},
        BadText{R"({"batch_size": 8})", "unknown field \"batch_size\" — did you mean training.batch_size?"},
        BadText{R"({"training": {"bach_size": 8}})",
                "unknown field \"training.bach_size\" — did you mean training.batch_size?"},
        BadText{R"({"zzzzzzzzzz": 8})",
                "unknown field \"zzzzzzzzzz\" — `mantissa models --fields` lists all fields"},
        BadText{R"({"training": {"batch_size": 0}})",
                "training.batch_size is 0 — use a whole number from 1 to 1000000"},
        BadText{R"({"training": {"batch_size": "many"}})",
                "training.batch_size is \"many\", a text — use a whole number from 1 to 1000000"},
        BadText{R"({"training": {"batch_size": 2.5}})",
                "training.batch_size is 2.5 — use a whole number from 1 to 1000000"},
        BadText{R"({"training": {"batch_size": 18446744073709551615}})",
                "training.batch_size is 18446744073709551615 — use a whole number from 1 to 1000000"},
        BadText{R"({"training": {"batch_size": null}})",
                "training.batch_size is null — use a whole number from 1 to 1000000"},
        BadText{R"({"training": {"epochs": 0}})",
                "training.epochs is 0 — use a whole number from 1 to 1000000, or null"},
        BadText{R"({"training": {"clip_grad_norm": 0}})",
                "training.clip_grad_norm is 0 — use a number above 0, or null"},
        BadText{R"({"training": {"optimizer": {"beta1": 1}}})",
                "training.optimizer.beta1 is 1 — use a number from 0 to below 1"},
        BadText{R"({"training": {"optimizer": {"name": "lion"}}})",
                "training.optimizer.name is \"lion\" — use one of: sgd, adam, adamw"},
        BadText{R"({"training": {"optimizer": 3}})",
                "training.optimizer is 3, not an object — use a catalogue id, or an object of its fields"},
        BadText{R"({"training": 3})", "training is 3, not an object — use an object of its fields"},
        BadText{R"({"training": {"deterministic": "yes"}})",
                "training.deterministic is \"yes\", a text — use true or false"},
        BadText{R"({"model": "transformer"})",
                "model.name is \"transformer\" — use one of: mlp, cnn, linear, squares, bright, gated"},
        BadText{R"({"model": ["mlp"]})",
                "model is [\"mlp\"], not an object — use a catalogue id, or an object of its fields"},
        BadText{R"({"name": 7})", "name is 7, a number — use a text"},
        BadText{R"({"mixed_precision": "fp12"})",
                "mixed_precision is \"fp12\" — use one of: no, fp16, bf16, fp8"},
        BadText{R"({"mixed_precision": true})",
                "mixed_precision is true, true or false — use one of: no, fp16, bf16, fp8"},
        BadText{R"({"modes": "no"})",
                "modes is \"no\", a text — use a list of modes out of: no, fp16, bf16, fp8"},
        BadText{R"({"modes": ["no", "half"]})", "modes[1] is \"half\" — use one of: no, fp16, bf16, fp8"},
        BadText{R"({"modes": ["bf16", "BF16"]})",
                "modes[1] is \"BF16\", which is in the list already — name each mode once"},
        BadText{R"({"fp32_islands": [1]})", "fp32_islands[0] is 1, a number — use a text"},
        BadText{R"({"on_nonfinite": "explode"})",
                "on_nonfinite is \"explode\" — use one of: stop, pause, skip, mark"},
        BadText{R"({"device": "gpu"})", "device is \"gpu\" — use auto, cpu, cuda or cuda:N"},
        BadText{R"({"device": "cuda:-1"})", "device is \"cuda:-1\" — use auto, cpu, cuda or cuda:N"},
        BadText{R"({"loss_scale": {"initial": 0}})", "loss_scale.initial is 0 — use a number above 0"},
        BadText{R"({"loss_scale": {"backoff_factor": 1.5}})",
                "loss_scale.backoff_factor is 1.5 — use a number above 0 and up to 1"},
        BadText{
            R"({"mantissa_plan": 2})",
            "mantissa_plan is 2: a version that this program doesn't know — this program reads version 1"},
        BadText{R"({"mantissa_plan": "1"})", "mantissa_plan is \"1\", not a version number — use 1"},
        BadText{R"({"name": "a", "name": "b"})", "\"name\" appears twice in one object — keep one of them"},
        BadText{R"({"compat": "accelerate", "on_nonfinite": "stop"})",
                "on_nonfinite is stop, but compat = accelerate needs mark — drop one of the two"}));

TEST(PlanJson, NotJsonNamesLineAndByte) {
    const auto read = read_plan_json("{\n\"name\": nope}");
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().message.substr(0, 33), "not JSON at line 2, byte 11: synt");
    EXPECT_EQ(sentence(read_plan_json("{\"name\": 1e999}")),
              "the number 1e999 is too large — numbers go up to 1.8e308");
    EXPECT_FALSE(read_plan_json("{\"name\": \"\xff\"}").ok());
}

TEST(PlanJson, OtherBackendsAreUnsupportedDevicesNotSlips) {
    const auto read = read_plan_json(R"({"device": "mps"})");
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, ErrorCode::UnsupportedDevice);
}

TEST(PlanJson, EveryFieldSurvivesTheRoundTrip) {
    // Each field is moved away from its default, through the table itself, so that a field that isn't written
    // shows.
    RunPlan changed;
    int moved = 0;
    for (const PlanField& field : plan_fields()) {
        nlohmann::json value;
        switch (field.kind) {
            case FieldKind::Text:
                value = field.path == "device" ? "cuda:1" : "x " + field.path;
                break;
            case FieldKind::Choice:
                for (const std::string& choice : field.choices)
                    if (choice != field.get(changed)) value = choice;
                break;
            case FieldKind::Integer:
                value = field.path == "observe.level" ? 2 : 7;
                break;
            case FieldKind::Number:
                value = field.limits.maximum <= 1 ? 0.4321 : 1.2345678901234567;
                break;
            case FieldKind::Switch:
                value = !field.get(changed).get<bool>();
                break;
            case FieldKind::Modes:
                value = {"bf16", "no"};
                break;
            case FieldKind::TextList:
                value = {"gate", "head"};
                break;
        }
        if (field.path == "compat") continue;  // switches other fields; tested apart
        ASSERT_NE(value, field.get(changed)) << field.path;
        ASSERT_EQ(sentence(field.set(field, changed, value)), "no error") << field.path;
        ++moved;
    }
    EXPECT_EQ(moved + 1, static_cast<int>(plan_fields().size()));
    const auto read = read_plan_json(to_json(changed).dump());
    ASSERT_EQ(sentence(read), "no error");
    EXPECT_TRUE(read->plan == changed);
    EXPECT_EQ(read->set_paths.size(), plan_fields().size());
    EXPECT_FALSE(changed == RunPlan{});
}

TEST(PlanJson, DefaultsSurviveToo) {
    const auto read = read_plan_json(to_json(RunPlan{}).dump());
    ASSERT_EQ(sentence(read), "no error");
    EXPECT_TRUE(read->plan == RunPlan{});
    const auto nothing = read_plan_json("{}");
    ASSERT_EQ(sentence(nothing), "no error");
    EXPECT_TRUE(nothing->plan == RunPlan{});
    EXPECT_TRUE(nothing->set_paths.empty());
}

TEST(PlanJson, ReadsOnTopOfABase) {
    RunPlan base;
    base.training.batch_size = 5;
    const auto read = read_plan_json(R"({"training": {"seed": 1e3}, "model": "cnn", "dataset": "article-2",
                                         "launch": {"order": "one_by_one"}, "short_window": "right-sized"})",
                                     base);
    ASSERT_EQ(sentence(read), "no error");
    EXPECT_EQ(read->plan.training.batch_size, 5);
    EXPECT_EQ(read->plan.training.seed, 1000u);
    EXPECT_EQ(read->plan.model.name, "cnn");
    EXPECT_EQ(read->plan.dataset.name, "article-2");
    EXPECT_EQ(read->plan.launch.order, ComparisonOrder::OneByOne);
    EXPECT_EQ(read->set_paths, (std::set<std::string>{"training.seed", "model.name", "dataset.name",
                                                      "launch.order", "short_window"}));
}

TEST(PlanJson, NoInAllItsSpellings) {
    for (const char* spelling : {"\"no\"", "\"NO\"", "\"No\"", "false", "\"false\"", "\"'no'\""}) {
        RunPlan base;
        base.mixed_precision = Precision::Bf16;
        const auto read = read_plan_json(std::string(R"({"mixed_precision": )") + spelling + "}", base);
        ASSERT_EQ(sentence(read), "no error") << spelling;
        EXPECT_EQ(read->plan.mixed_precision, Precision::No) << spelling;
    }
    EXPECT_EQ(read_plan_json(R"({"mixed_precision": "Bf16"})")->plan.mixed_precision, Precision::Bf16);
}

TEST(PlanJson, CompatSwitchesWhatOursDoesOtherwise) {
    const auto read = read_plan_json(R"({"compat": "accelerate", "short_window": "upstream"})");
    ASSERT_EQ(sentence(read), "no error");
    EXPECT_EQ(read->plan.on_nonfinite, OnNonfinite::Mark);
    EXPECT_EQ(read->plan.batch_norm_on_skip, BatchNormOnSkip::Keep);
    EXPECT_EQ(read->plan.short_window, ShortWindow::Upstream);
    EXPECT_EQ(read->plan.training.optimizer.implementation, OptimizerImplementation::Exact);
    EXPECT_EQ(read->plan.cpu_half, CpuHalf::Torch);
}

TEST(PlanJson, AHostileTextIsAnErrorNotACrash) {
    EXPECT_FALSE(read_plan_json(std::string(100'000, '[')).ok());
    EXPECT_EQ(sentence(read_plan_json(std::string(50'000, '[') + std::string(50'000, ']'))).substr(0, 34),
              "it is nested deeper than 64 levels");
    std::string deep;
    for (int i = 0; i < 20'000; ++i) deep += "{\"model\":";
    EXPECT_FALSE(read_plan_json(deep).ok());
    EXPECT_EQ(sentence(read_plan_json("{\"a/b~c\": 1}")).substr(0, 21), "unknown field \"a/b~c\"");
    EXPECT_FALSE(read_plan_json("{\"" + std::string(300'000, 'x') + "\": 1}").ok());
}

TEST(PlanFile, SourcedFormKeepsPlanAndSources) {
    SourcedPlan sourced;
    sourced.plan.training.batch_size = 8;
    sourced.plan.modes = {Precision::No, Precision::Bf16};
    sourced.origins["training.batch_size"] = {
        ValueSource::Flag, "--set", "8", {{ValueSource::Plan, "a.json", "64"}}};
    sourced.notes = {"a note"};
    const auto file = std::filesystem::path(testing::TempDir()) / "mantissa_plan_file_test.json";
    ASSERT_EQ(sentence(write_plan_file(file, sourced)), "no error");
    const auto read = read_plan_file(file);
    ASSERT_EQ(sentence(read), "no error");
    EXPECT_TRUE(read->plan == sourced.plan);
    ASSERT_EQ(read->origins.size(), 1u);
    const ValueOrigin& origin = read->origins.at("training.batch_size");
    EXPECT_EQ(origin.source, ValueSource::Flag);
    EXPECT_EQ(origin.detail, "--set");
    ASSERT_EQ(origin.overruled.size(), 1u);
    EXPECT_EQ(origin.overruled[0].value, "64");
    EXPECT_EQ(origin.overruled[0].detail, "a.json");
    EXPECT_EQ(read->notes, sourced.notes);
    std::filesystem::remove(file);
}

TEST(PlanFile, BarePlanNamesItsFileAsTheSource) {
    const auto read = read_sourced_plan(R"({"training": {"batch_size": 8}})", "mine.json");
    ASSERT_EQ(sentence(read), "no error");
    EXPECT_EQ(read->origins.at("training.batch_size").detail, "mine.json");
    EXPECT_EQ(sentence(read_sourced_plan(R"({"training": {"batch_size": -1}})", "mine.json")),
              "mine.json: training.batch_size is -1 — use a whole number from 1 to 1000000");
    EXPECT_EQ(sentence(read_sourced_plan(R"({"plan": {}, "model": "mlp"})", "mine.json")),
              "mine.json: unknown field \"model\" beside \"plan\" — settings belong into \"plan\"");
    EXPECT_EQ(sentence(read_sourced_plan(R"({"plan": {}, "sources": {"name": 3}})", "mine.json")),
              "mine.json: sources.name isn't {source, detail, value, overruled[]} — the plan part of the "
              "file can be used alone");
}

}  // namespace
}  // namespace mantissa
