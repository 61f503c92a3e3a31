#include "record/export_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;
using ::testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

void record(const std::filesystem::path& folder) {
    auto recorder = recorder_in(folder);
    StepRow bad = step_row(0, nan);
    bad.grad_norm = inf;
    bad.learning_rate = -inf;
    bad.loss_scale = 65536;
    bad.growth_tracker = 0;
    bad.skipped = bad.nonfinite_loss = true;
    bad.skip_kind = SkipKind::Fault;
    recorder->step(bad);
    recorder->step(step_row(1, 0.1));
}

TEST(ExportStepsTest, WhatCantBeReadOrWrittenIsSaid) {
    const TemporaryFolder folder;
    std::ostringstream out;
    EXPECT_THAT(export_steps(folder.path(), ExportFormat::Csv, out).error().message,
                HasSubstr("there is no recording at"));
    record(folder.path());
    const auto nowhere = folder.path() / "none" / "steps.csv";
    EXPECT_THAT(export_steps(folder.path(), ExportFormat::Csv, nowhere).error().message,
                HasSubstr(nowhere.string() + " can't be written: No such file or directory"));
    EXPECT_FALSE(export_steps(folder.path(), ExportFormat::Csv, folder.path() / "run.db" / "steps.csv"));
    std::ofstream full("/dev/full");
    EXPECT_FALSE(export_steps(folder.path(), ExportFormat::Json, full));
}

TEST(ExportStepsTest, CsvIsRaw) {
    const TemporaryFolder folder;
    record(folder.path());
    const auto file = folder.path() / "steps.csv";
    ASSERT_TRUE(export_steps(folder.path(), ExportFormat::Csv, file));
    EXPECT_EQ(content_of(file),
              "step,applied_step,epoch,time_ns,loss,learning_rate,grad_norm,loss_scale,growth_tracker,"
              "skipped,skip_kind,nonfinite_loss,"
              "nonfinite_grads,memory_bytes,memory_peak_bytes,host_memory_bytes,samples,data_ns,step_ns\n"
              "0,1,0,1000000000,nan,-inf,inf,65536,0,1,fault,1,0,0,0,0,32,0,1000000\n"
              "1,2,0,1000000001,0.1,0.001,0.5,,,0,,0,0,0,0,0,32,0,1000000\n");
    EXPECT_FALSE(std::filesystem::exists(file.string() + ".part"));
}

TEST(ExportStepsTest, JsonIsJson) {
    const TemporaryFolder folder;
    record(folder.path());
    std::ostringstream out;
    ASSERT_TRUE(export_steps(folder.path(), ExportFormat::Json, out));
    const auto json = nlohmann::json::parse(out.str());
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json[0]["loss"], "NaN");
    EXPECT_EQ(json[0]["grad_norm"], "+Inf");
    EXPECT_EQ(json[0]["learning_rate"], "-Inf");
    EXPECT_EQ(json[0]["loss_scale"], 65536);
    EXPECT_EQ(json[0]["skip_kind"], "fault");
    EXPECT_EQ(json[1]["loss"], 0.1);
    EXPECT_TRUE(json[1]["loss_scale"].is_null());
    EXPECT_EQ(json[1].size(), step_column_names().size());
    EXPECT_EQ(json[1]["step_ns"], 1'000'000);
}

TEST(ExportStepsTest, EveryStepOfALongRunIsThere) {
    const TemporaryFolder folder;
    {
        auto recorder = recorder_in(folder.path());
        for (std::int64_t step = 0; step < 45'000; ++step) recorder->step(step_row(step));
    }
    std::ostringstream csv, json;
    ASSERT_TRUE(export_steps(folder.path(), ExportFormat::Csv, csv));
    ASSERT_TRUE(export_steps(folder.path(), ExportFormat::Json, json));
    const std::string text = csv.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 45'001);
    EXPECT_EQ(nlohmann::json::parse(json.str()).size(), 45'000u);
    const TemporaryFolder empty;
    recorder_in(empty.path());
    std::ostringstream none;
    ASSERT_TRUE(export_steps(empty.path(), ExportFormat::Json, none));
    EXPECT_EQ(nlohmann::json::parse(none.str()), nlohmann::json::array());
}

}  // namespace
}  // namespace mantissa
