#include "record/comparison_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using mantissa::testing::content_of;
using mantissa::testing::TemporaryFolder;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string read_error(const std::string& text) {
    const TemporaryFolder folder;
    const auto file = folder.file("comparison.json", text);
    const auto record = read_comparison(folder.path());
    if (record) return "no error";
    EXPECT_THAT(record.error().message, ::testing::StartsWith(file.string()));
    return record.error().message.substr(file.string().size());
}

TEST(ComparisonRecordTest, DamagedFilesAreErrorsThatNameThePlace) {
    const TemporaryFolder folder;
    EXPECT_THAT(read_comparison(folder.path()).error().message, HasSubstr("comparison.json can't be read"));
    EXPECT_EQ(read_error(""), " is damaged: no valid JSON at byte 1");
    EXPECT_EQ(read_error(R"({"name": "x", )"), " is damaged: no valid JSON at byte 15");
    EXPECT_EQ(read_error(R"({"name": "x" "y": 1})"), " is damaged: no valid JSON at byte 16");
    EXPECT_EQ(read_error("[1]"), " must be a JSON object");
    EXPECT_EQ(read_error(R"({"name": 1})"), ".name must be a text");
    EXPECT_EQ(read_error(R"({"modes": ["fp17"]})"), ".modes must be a list of no fp16 bf16 fp8");
    EXPECT_EQ(read_error(R"({"verdicts": [{"code": "ok"}, {"evidence": "many"}]})"),
              ".verdicts[1].evidence must be a list of texts");
    EXPECT_EQ(read_error(R"({"decision": {"mode": "fp99"}})"),
              ".decision.mode must be one of no fp16 bf16 fp8");
    EXPECT_EQ(read_error(R"({"fairness": {"fair": "yes"}})"), ".fairness.fair must be true or false");
}

ComparisonRecord sample() {
    ComparisonRecord record;
    record.id = "20261130-134955-digits";
    record.name = "digits";
    record.started_ns = 1;
    record.ended_ns = 2;
    record.state = "finished";
    record.order = "one-by-one";
    record.order_reason = "memory";
    record.plan_json = R"({"name":"digits","training":{"seed":3}})";
    record.modes = {Precision::No, Precision::Fp16};
    record.trials.resize(2);
    record.trials[1].mode = Precision::Fp16;
    record.trials[1].headroom_bits = 3.5;
    record.run_dirs = {"/runs/a b", "/runs/数字"};
    record.fairness = {true, false, {"sample order differs between no and fp16"}};
    record.verdicts = {
        {"scale_probing", "ok", "fp16", {{"skips", "15"}}, {"fp16: 15 skips"}, "Loss scale settled."}};
    record.decision =
        Decision{std::nullopt, "decision_unknown", {{"a", "b"}}, "Not decidable.", {"no validation data"},
                 "low",        {"run it"}};
    return record;
}

TEST(ComparisonRecordTest, ARecordComesBack) {
    const TemporaryFolder folder;
    ASSERT_TRUE(write_comparison(folder.path(), sample()));
    const auto back = read_comparison(folder.path());
    ASSERT_TRUE(back) << back.error().message;
    const ComparisonRecord expected = sample();
    EXPECT_EQ(back->id, expected.id);
    EXPECT_EQ(back->started_ns, 1);
    EXPECT_EQ(back->ended_ns, 2);
    EXPECT_EQ(back->state, "finished");
    EXPECT_EQ(back->order_reason, "memory");
    EXPECT_EQ(nlohmann::json::parse(back->plan_json), nlohmann::json::parse(expected.plan_json));
    EXPECT_EQ(back->modes, expected.modes);
    ASSERT_EQ(back->trials.size(), 2u);
    EXPECT_EQ(back->trials[1].headroom_bits, 3.5);
    EXPECT_EQ(back->run_dirs, expected.run_dirs);
    EXPECT_TRUE(back->fairness.known);
    EXPECT_FALSE(back->fairness.fair);
    EXPECT_EQ(back->fairness.differences, expected.fairness.differences);
    ASSERT_EQ(back->verdicts.size(), 1u);
    EXPECT_EQ(to_json(back->verdicts[0]), to_json(expected.verdicts[0]));
    ASSERT_TRUE(back->decision);
    EXPECT_FALSE(back->decision->mode);
    EXPECT_EQ(to_json(*back->decision), to_json(*expected.decision));
}

TEST(ComparisonRecordTest, RepeatingIsAStateOfItsOwn) {
    const TemporaryFolder folder;
    ComparisonRecord record = sample();
    EXPECT_TRUE(has_ended(record));
    EXPECT_EQ(state_text(record), "finished");
    record.state = "repeating";
    record.repeating = {2, 3};
    ASSERT_TRUE(write_comparison(folder.path(), record));
    const auto back = read_comparison(folder.path());
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->repeating, (Repeating{2, 3}));
    EXPECT_FALSE(has_ended(*back));
    EXPECT_EQ(state_text(*back), "repeating 2 of 3");
    for (const char* state : {"trial", "running"}) {
        record.state = state;
        EXPECT_FALSE(has_ended(record));
        EXPECT_EQ(state_text(record), state);
    }
    record.repeating.reset();
    ASSERT_TRUE(write_comparison(folder.path(), record));
    EXPECT_FALSE(read_comparison(folder.path())->repeating);
}

TEST(ComparisonRecordTest, WhatANewerVersionAddedStays) {
    const TemporaryFolder folder;
    static_cast<void>(
        folder.file("comparison.json", R"({"name": "old", "repetitions": [1, 2], "version": 9})"));
    ASSERT_TRUE(read_comparison(folder.path()));
    ASSERT_TRUE(write_comparison(folder.path(), sample()));
    const auto json = nlohmann::json::parse(content_of(folder.path() / "comparison.json"));
    EXPECT_EQ(json["repetitions"], nlohmann::json::parse("[1, 2]"));
    EXPECT_EQ(json["name"], "digits");
}

TEST(ComparisonRecordTest, ADamagedFileIsReplacedAndBadBytesDontThrow) {
    const TemporaryFolder folder;
    static_cast<void>(folder.file("comparison.json", "{{{"));
    ComparisonRecord record = sample();
    record.name = "bad \xff byte";
    record.plan_json = "not JSON";
    ASSERT_TRUE(write_comparison(folder.path(), record));
    const auto back = read_comparison(folder.path());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->plan_json, "not JSON");
    EXPECT_THAT(back->name, EndsWith(" byte"));
}

TEST(ComparisonRecordTest, VerdictsAndDecisionsComeBackAlone) {
    const Verdict verdict{"slower", "note", "bf16", {{"ratio", "1.2"}}, {"bf16 1.2"}, "Slower."};
    EXPECT_EQ(to_json(*verdict_from_json(to_json(verdict))), to_json(verdict));
    Decision decision;
    decision.mode = Precision::Bf16;
    decision.confidence = "high";
    EXPECT_EQ(decision_from_json(to_json(decision))->mode, Precision::Bf16);
    EXPECT_EQ(decision_from_json(to_json(decision))->confidence, "high");
    EXPECT_EQ(verdict_from_json(nlohmann::json::parse(R"({"code": 1})")).error().message,
              "verdict.code must be a text");
}

}  // namespace
}  // namespace mantissa
