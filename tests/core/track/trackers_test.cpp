#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "record/meta_keys.h"
#include "record/run_reader.h"
#include "record/run_summary.h"
#include "tests/support/temporary_folder.h"
#include "track/json_lines_tracker.h"
#include "track/run_folder_tracker.h"
#include "track/tensorboard_tracker.h"

namespace mantissa {
namespace {

using testing::TemporaryFolder;

namespace fs = std::filesystem;
const double nan = std::numeric_limits<double>::quiet_NaN();

TrackerStart start_of(const fs::path& folder) {
    return {.project = "mnist", .config = {{"lr", 1e-3}, {"model", "m: 1"}, {"nesterov", true}, {"batch", 32}},
            .logging_dir = folder, .facts = {{meta::mode, "fp16"}, {meta::effective, "fp16"}, {meta::device, "cpu"}}};
}

TrackedAttempt attempt(std::int64_t step, double loss, SkipKind kind = SkipKind::None) {
    TrackedAttempt attempt;
    attempt.row.step = step;
    attempt.row.applied_step = step;
    attempt.row.loss = loss;
    attempt.row.nonfinite_loss = std::isnan(loss);
    attempt.row.skipped = kind != SkipKind::None;
    attempt.row.skip_kind = kind;
    attempt.micro_batch_losses = {loss, loss + 1};
    return attempt;
}

std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder));
    std::sort(files.begin(), files.end());
    return files;
}

TEST(Trackers, AnUnknownNameIsAnswersWithTheList) {
    const auto refused = make_tracker("wandb");
    ASSERT_FALSE(refused);
    EXPECT_EQ(describe(refused.error()),
              "no tracker is named \"wandb\" — use mantissa, tensorboard, json_lines, all, or an object of a class of your own");
    for (const std::string& name : tracker_names()) {
        const auto made = make_tracker(name);
        ASSERT_TRUE(made) << name;
        EXPECT_EQ((*made)->name(), name);
    }
}

TEST(Trackers, TensorBoardsFoldersAreThoseOfAccelerate) {
    const TemporaryFolder folder;
    TensorBoardTracker tracker;
    ASSERT_TRUE(tracker.start(start_of(folder.path())));
    ASSERT_TRUE(tracker.log({{"train/loss", 0.5}, {"note", "first"}, {"top", TrackedValue::Numbers{{"k1", 1}, {"k5", 2}}}}, 3));
    ASSERT_TRUE(tracker.log({{"train/loss", nan}}, std::nullopt));
    ASSERT_TRUE(tracker.finish());
    std::string main_file, top, config;
    for (const fs::path& file : files_below(folder.path())) {
        const std::string bytes = *read_file(folder.path() / file);
        const std::string parent = file.parent_path().string();
        if (parent == "mnist") main_file = bytes;
        if (parent == "mnist/top_k5") top = bytes;
        if (file.filename() == "hparams.yml") config = bytes;
    }
    EXPECT_EQ(files_below(folder.path()).size(), 5U);  // main, top_k1, top_k5, hyper-parameters and their YAML
    EXPECT_NE(main_file.find(event::scalar_summary("train/loss", 0.5)), std::string::npos);
    EXPECT_NE(main_file.find(event::scalar_summary("train/loss", nan)), std::string::npos);
    EXPECT_NE(main_file.find(event::text_summary("note", "first")), std::string::npos);
    EXPECT_NE(top.find(event::scalar_summary("top", 2)), std::string::npos);
    EXPECT_EQ(config, "\"batch\": 32\n\"lr\": 0.001\n\"model\": \"m: 1\"\n\"nesterov\": true\n");
}

TEST(Trackers, YamlReadsBackAsTheSameTypes) {
    EXPECT_EQ(config_to_yaml({{"a", 1e-5}, {"b", 1e30}, {"c", 2.0}, {"d", -nan}, {"e", "no"}, {"f", 3}}),
              "\"a\": 1.0e-05\n\"b\": 1.0e+30\n\"c\": 2.0\n\"d\": .nan\n\"e\": \"no\"\n\"f\": 3\n");
    EXPECT_EQ(config_to_yaml({}), "{}\n");
}

TEST(Trackers, AProjectStaysBelowTheLoggingFolder) {
    const TemporaryFolder folder;
    for (const char* name : {"", "../up", "/tmp/x", "a/../../b"}) {
        TrackerStart start = start_of(folder.path());
        start.project = name;
        TensorBoardTracker tracker;
        EXPECT_FALSE(tracker.start(start)) << name;
    }
    EXPECT_TRUE(files_below(folder.path()).empty());
}

TEST(Trackers, ARunFolderIsFollowedLikeAnyOther) {
    const TemporaryFolder folder;
    RunFolderTracker tracker(folder.path());
    ASSERT_TRUE(tracker.start(start_of({})));
    ASSERT_TRUE(tracker.attempt(attempt(0, 2.5)));
    ASSERT_TRUE(tracker.attempt(attempt(1, nan, SkipKind::Fault)));
    ASSERT_TRUE(tracker.log({{"val_accuracy", 0.25}, {"train/accuracy", 0.5}, {"temperature", 3}, {"note", "hot"},
                             {"top", TrackedValue::Numbers{{"k1", 0.1}}}}, std::nullopt));
    const auto running = RunReader::open(tracker.folder());
    ASSERT_TRUE(running);
    EXPECT_EQ((*running)->state()->state, RunState::Running);
    ASSERT_TRUE(tracker.finish());

    const auto summary = summarize_run(tracker.folder());
    ASSERT_TRUE(summary) << describe(summary.error());
    EXPECT_EQ(summary->name, "mnist");
    EXPECT_EQ(summary->mode, Precision::Fp16);
    EXPECT_EQ(summary->state, RunState::Finished);
    EXPECT_EQ(summary->steps, 2);
    EXPECT_EQ(summary->skipped_fault, 1);
    EXPECT_EQ(summary->nonfinite_loss_steps, 1);
    EXPECT_EQ(summary->metric_name, "accuracy");
    EXPECT_EQ(summary->metric, 0.25);
    auto reader = RunReader::open(tracker.folder());
    const auto rows = (*reader)->read_new();
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->micro_batches.size(), 4U);
    ASSERT_EQ(rows->evaluations.size(), 4U);
    for (const EvaluationRow& row : rows->evaluations) EXPECT_EQ(row.step, 2);
    EXPECT_EQ((*reader)->meta()->at("text.note"), "hot");
    const auto plan = nlohmann::json::parse(*read_file(RunFolder{tracker.folder()}.plan()));
    EXPECT_EQ(plan["plan"]["config"], (nlohmann::json{{"lr", 1e-3}, {"model", "m: 1"}, {"nesterov", true}, {"batch", 32}}));
}

TEST(Trackers, ARunThatNobodyEndedHasFailed) {
    const TemporaryFolder folder;
    fs::path run;
    {
        RunFolderTracker tracker(folder.path());
        ASSERT_TRUE(tracker.start(start_of({})));
        run = tracker.folder();
        EXPECT_FALSE(tracker.start(start_of({}))) << "one tracker writes one run";
    }
    const auto summary = summarize_run(run);
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->state, RunState::Failed);
    EXPECT_EQ(summary->state_reason, "the program left without end_training()");
}

TEST(Trackers, AProgramThatLeavesAfterARefusedStepWasStoppedByIt) {
    const TemporaryFolder folder;
    fs::path run;
    {
        RunFolderTracker tracker(folder.path());
        ASSERT_TRUE(tracker.start(start_of({})));
        run = tracker.folder();
        ASSERT_TRUE(tracker.attempt(attempt(0, 1)));
        TrackedAttempt refused = attempt(1, nan, SkipKind::Fault);
        refused.row.nonfinite_loss = true;
        ASSERT_TRUE(tracker.attempt(refused));
    }
    const auto summary = summarize_run(run);
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->state, RunState::StoppedNonfinite);
    EXPECT_EQ(summary->state_reason, "a non-finite value was kept away from the weights at step 1");
}

TEST(Trackers, JsonLinesHoldWhatWasLogged) {
    const TemporaryFolder folder;
    JsonLinesTracker tracker;
    ASSERT_TRUE(tracker.start(start_of(folder.path())));
    ASSERT_TRUE(tracker.attempt(attempt(0, nan)));
    ASSERT_TRUE(tracker.log({{"loss", 0.5}, {"note", "x"}, {"top", TrackedValue::Numbers{{"k", nan}}}}, 4));
    ASSERT_TRUE(tracker.finish());
    std::istringstream text(*read_file(folder.path() / "mnist.jsonl"));
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0]["config"]["batch"], 32);
    EXPECT_EQ(lines[1]["attempt"]["loss"], "NaN");
    EXPECT_EQ(lines[2]["step"], 4);
    EXPECT_EQ(lines[2]["values"], (nlohmann::json{{"loss", 0.5}, {"note", "x"}, {"top", {{"k", "NaN"}}}}));
}

}  // namespace
}  // namespace mantissa
