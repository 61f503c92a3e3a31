#include "record/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "record/meta_keys.h"
#include "record/reports.h"
#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;
using ::testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

void write_meta(RunRecorder& recorder) {
    recorder.meta(meta::mode, "fp16");
    recorder.meta(meta::requested, "fp16");
    recorder.meta(meta::effective, "fp16");
    recorder.meta(meta::support, "emulated");
    recorder.meta(meta::support_reason, "this CPU computes fp16 in fp32");
    recorder.meta(meta::device, "cpu");
    recorder.meta(meta::device_name, "a CPU");
    recorder.meta(meta::name, "digits");
    recorder.meta(meta::model, "cnn");
    recorder.meta(meta::dataset, "digits");
    recorder.meta(meta::comparison_id, "c1");
    recorder.meta(meta::started_ns, "1000");
    recorder.meta(meta::planned_steps, "300");
    recorder.meta(meta::validation_samples, "360");
    recorder.meta(meta::metric, "accuracy");
}

StepRow scaled(std::int64_t step, std::int64_t applied, double loss, double scale, SkipKind kind) {
    StepRow row = step_row(step, loss);
    row.applied_step = applied;
    row.loss_scale = scale;
    row.growth_tracker = 0;
    row.skip_kind = kind;
    row.skipped = kind != SkipKind::None;
    row.nonfinite_grads = row.skipped ? 12 : 0;
    row.nonfinite_loss = !(loss - loss == 0);
    row.step_ns = (step + 1) * 1'000'000;
    row.memory_peak_bytes = step == 2 ? 9'000 : 1'000;
    return row;
}

TEST(RunSummaryTest, WhatIsNoRunFolderIsSaid) {
    EXPECT_THAT(summarize_run("/nowhere/at-all").error().message,
                HasSubstr("there is no run folder at /nowhere/at-all"));
}

TEST(RunSummaryTest, AWaitingRunIsKnownByItsFolderName) {
    const TemporaryFolder folder;
    const auto run = folder.path() / "20261130-134955-digits-mlp-bf16-2";
    std::filesystem::create_directory(run);
    const auto summary = summarize_run(run);
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->state, RunState::Queued);
    EXPECT_EQ(summary->name, "digits-mlp");
    EXPECT_EQ(summary->mode, Precision::Bf16);
    EXPECT_EQ(summary->steps, 0);
    EXPECT_FALSE(summary->final_loss);
    EXPECT_EQ(summarize_run(run / "")->name, "digits-mlp");
}

TEST(RunSummaryTest, CountsAnFp16RunWithProbingAndAFault) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    write_meta(*recorder);
    recorder->state(RunState::Running);
    recorder->step(scaled(0, 0, 2.5, 65536, SkipKind::Probing));
    recorder->step(scaled(1, 1, 2.25, 32768, SkipKind::None));
    recorder->step(scaled(2, 2, 1.5, 32768, SkipKind::None));
    recorder->step(scaled(3, 2, nan, 32768, SkipKind::Fault));
    recorder->step(scaled(4, 2, inf, 16384, SkipKind::Fault));
    recorder->step(scaled(5, 3, 1.25, 8192, SkipKind::None));
    recorder->evaluation({3, "validation", "accuracy", 0.9, "fp32", 360});
    recorder->evaluation({3, "validation", "loss", 0.1, "fp32", 360});
    recorder->evaluation({3, "validation", "accuracy", 0.99, "fp16", 360});
    recorder->evaluation({3, "training", "accuracy", 1.0, "fp32", 1437});
    recorder->evaluation({6, "validation", "accuracy", 0.875, "fp32", 360});
    recorder->state(RunState::Finished, "done");
    recorder.reset();

    const auto summary = summarize_run(folder.path());
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(summary->steps, 6);
    EXPECT_EQ(summary->applied_steps, 3);
    EXPECT_EQ(summary->skipped_probing, 1);
    EXPECT_EQ(summary->skipped_fault, 2);
    EXPECT_EQ(summary->nonfinite_loss_steps, 2);
    EXPECT_EQ(summary->first_nonfinite_step, 3);  // not step 0: its gradients overflowed under the scaler
    EXPECT_EQ(summary->first_loss, 2.5);
    EXPECT_EQ(summary->final_loss, 1.25);
    EXPECT_EQ(summary->final_scale, 8192);
    EXPECT_EQ(summary->metric_name, "accuracy");
    EXPECT_EQ(summary->metric, 0.875);
    EXPECT_EQ(summary->best_metric, 0.9);
    EXPECT_EQ(summary->step_ms_median, 3.5);
    EXPECT_EQ(summary->memory_peak_bytes, 9'000);
    EXPECT_EQ(summary->state, RunState::Finished);
    EXPECT_EQ(summary->state_reason, "done");
    EXPECT_GT(summary->ended_ns, 1'000'000'000'000'000'000);  // the time of the end state
    EXPECT_FALSE(summary->poisoned);
}

TEST(RunSummaryTest, TheJsonHasTheShapeOfTheDesign) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    write_meta(*recorder);
    StepRow row = scaled(0, 0, nan, 65536, SkipKind::Fault);
    recorder->step(row);
    recorder->state(RunState::StoppedNonfinite, "loss at step 0");
    recorder->meta(meta::final_scale, "32768");
    recorder.reset();
    const auto json = to_json(*summarize_run(folder.path()));
    const nlohmann::json expected = {{"name", "digits"},
                                     {"model", "cnn"},
                                     {"dataset", "digits"},
                                     {"comparison_id", "c1"},
                                     {"started_ns", 1000},
                                     {"ended_ns", json["ended_ns"]},
                                     {"mode", "fp16"},
                                     {"requested", "fp16"},
                                     {"effective", "fp16"},
                                     {"support", "emulated"},
                                     {"support_reason", "this CPU computes fp16 in fp32"},
                                     {"device", "cpu"},
                                     {"device_name", "a CPU"},
                                     {"state", "stopped_nonfinite"},
                                     {"state_reason", "loss at step 0"},
                                     {"run_dir", folder.path().string()},
                                     {"resumed", nullptr},
                                     {"checkpoint", nullptr},
                                     {"checkpoint_error", nullptr},
                                     {"planned_steps", 300},
                                     {"steps", 1},
                                     {"applied_steps", 0},
                                     {"skipped_probing", 0},
                                     {"skipped_fault", 1},
                                     {"skipped_steps", 1},
                                     {"nonfinite_loss_steps", 1},
                                     {"first_nonfinite_step", 0},
                                     {"first_loss", "NaN"},
                                     {"final_loss", "NaN"},
                                     {"final_scale", 32768.0},
                                     {"metric_name", nullptr},
                                     {"metric", nullptr},
                                     {"best_metric", nullptr},
                                     {"validation_samples", 360},
                                     {"step_ms_median", 1.0},
                                     {"memory_peak_bytes", 1000},
                                     {"poisoned", false}};
    EXPECT_EQ(json, expected) << json.dump(2);
}

TEST(RunSummaryTest, OutsideTheScalerABadGradientIsTheFirstBadStep) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    StepRow bad = step_row(1);
    bad.nonfinite_grads = 3;
    recorder->step(step_row(0));
    recorder->step(bad);
    StepRow worse = step_row(2, nan);
    worse.nonfinite_loss = true;
    recorder->step(worse);
    recorder->incident({0, 2, "update", "weights_poisoned", "error", "", "", "", "{}"});
    recorder.reset();
    const auto summary = summarize_run(folder.path());
    EXPECT_EQ(summary->first_nonfinite_step, 1);
    EXPECT_EQ(summary->nonfinite_loss_steps, 1);
    EXPECT_TRUE(summary->poisoned);
    EXPECT_FALSE(summary->final_scale);
    EXPECT_EQ(summary->applied_steps, 3);
    EXPECT_EQ(summary->step_ms_median, 1.0);
}

TEST(RunSummaryTest, TheTrialTellsTheSupportOfARunThatFailedBeforeItsFirstStep) {
    const TemporaryFolder folder;
    recorder_in(folder.path()).reset();
    EXPECT_EQ(summarize_run(folder.path())->support, Support::Native);
    TrialReport trial;
    trial.mode = trial.choice.requested = trial.choice.effective = Precision::Fp16;
    trial.choice.support = Support::Emulated;
    trial.choice.reason = "no half unit";
    static_cast<void>(folder.file("trial.json", to_json(trial).dump()));
    const auto summary = summarize_run(folder.path());
    EXPECT_EQ(summary->support, Support::Emulated);
    EXPECT_EQ(summary->support_reason, "no half unit");
}

TEST(RunSummaryTest, TheBestOfALossIsTheSmallestAndNeverNaN) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    recorder->meta(meta::metric, "loss");
    for (const double value : {nan, 0.5, 0.25, 0.75, nan})
        recorder->evaluation({1, "validation", "loss", value, "bf16", 10});
    recorder.reset();
    const auto summary = summarize_run(folder.path());
    EXPECT_EQ(summary->best_metric, 0.25);  // no fp32 evaluations: those of the mode count
    ASSERT_TRUE(summary->metric);
    EXPECT_NE(*summary->metric, *summary->metric);
    EXPECT_EQ(summary->validation_samples, 10);
}

}  // namespace
}  // namespace mantissa
