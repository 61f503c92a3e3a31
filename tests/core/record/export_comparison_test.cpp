#include "record/export_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;

/// Two recorded runs, one of which overflows, and one that never began.
ComparisonRecord recorded(const TemporaryFolder& folder) {
    ComparisonRecord comparison;
    comparison.id = "a \"b\"";
    comparison.modes = {Precision::No, Precision::Fp16, Precision::Bf16};
    for (const char* name : {"no", "fp16", "bf16"}) comparison.run_dirs.push_back(folder.path() / name);
    for (int i = 0; i < 2; ++i) {
        std::filesystem::create_directory(comparison.run_dirs[static_cast<std::size_t>(i)]);
        auto recorder = recorder_in(comparison.run_dirs[static_cast<std::size_t>(i)]);
        recorder->step(step_row(0, 0.25));
        recorder->step(step_row(1, i == 0 ? 0.125 : std::numeric_limits<double>::infinity()));
    }
    return comparison;
}

TEST(ExportComparisonTest, CsvHasTheModeFirst) {
    const TemporaryFolder folder;
    std::ostringstream out;
    const auto missing = export_comparison(recorded(folder), ExportFormat::Csv, out);
    ASSERT_TRUE(missing);
    EXPECT_THAT(*missing, ::testing::ElementsAre("bf16"));
    EXPECT_EQ(out.str(), "mode," + step_csv_header() +
                             "\n"
                             "no,0,1,0,1000000000,0.25,0.001,0.5,,,0,,0,0,0,0,0,32,0,1000000\n"
                             "no,1,2,0,1000000001,0.125,0.001,0.5,,,0,,0,0,0,0,0,32,0,1000000\n"
                             "fp16,0,1,0,1000000000,0.25,0.001,0.5,,,0,,0,0,0,0,0,32,0,1000000\n"
                             "fp16,1,2,0,1000000001,inf,0.001,0.5,,,0,,0,0,0,0,0,32,0,1000000\n");
}

TEST(ExportComparisonTest, JsonHasAnObjectPerRun) {
    const TemporaryFolder folder;
    std::ostringstream out;
    const auto comparison = recorded(folder);
    ASSERT_TRUE(export_comparison(comparison, ExportFormat::Json, out));
    const auto json = nlohmann::json::parse(out.str());
    EXPECT_EQ(json["comparison"], "a \"b\"");
    ASSERT_EQ(json["runs"].size(), 3u);
    EXPECT_EQ(json["runs"][0]["steps"].size(), 2u);
    EXPECT_EQ(json["runs"][1]["mode"], "fp16");
    EXPECT_EQ(json["runs"][1]["run_dir"], comparison.run_dirs[1].string());
    EXPECT_EQ(json["runs"][1]["steps"][1]["loss"], "+Inf");
    EXPECT_TRUE(json["runs"][2]["steps"].is_null());
}

TEST(ExportComparisonTest, NoRecordingAndNoSpaceAreErrors) {
    const TemporaryFolder folder;
    std::ostringstream out;
    ComparisonRecord nothing;
    nothing.modes = {Precision::No};
    nothing.run_dirs = {folder.path() / "none"};
    EXPECT_FALSE(export_comparison(nothing, ExportFormat::Csv, out));
    EXPECT_EQ(out.str(), "");
    std::ofstream full("/dev/full");
    EXPECT_FALSE(export_comparison(recorded(folder), ExportFormat::Json, full));
}

}  // namespace
}  // namespace mantissa
