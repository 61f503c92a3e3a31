#include "record/export_rows.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using testing::TemporaryFolder;

void record(const std::filesystem::path& run, double loss) {
    std::filesystem::create_directories(run);
    const auto recorder = testing::recorder_in(run);
    ASSERT_NE(recorder, nullptr);
    recorder->step(testing::step_row(0, loss));
    recorder->micro_batch({0, 0, loss});
    recorder->micro_batch({0, 1, std::numeric_limits<double>::quiet_NaN()});
    recorder->evaluation({1, "validation", "accuracy", 0.25, "fp32", 360});
    recorder->evaluation({1, "logged", "a, \"b\"", -std::numeric_limits<double>::infinity(), "", 0});
    ASSERT_TRUE(recorder->flush());
}

std::string exported(const std::filesystem::path& run, ExportTable table, ExportFormat format) {
    std::ostringstream out;
    const auto written = export_table(run, table, format, out);
    EXPECT_TRUE(written) << describe(written.error());
    return out.str();
}

TEST(ExportRows, MicroBatchesAndEvaluationsAreWrittenRaw) {
    const TemporaryFolder folder;
    const auto run = folder.path() / "run";
    record(run, 0.1);
    EXPECT_EQ(exported(run, ExportTable::MicroBatches, ExportFormat::Csv), "step,index,loss\n0,0,0.1\n0,1,nan\n");
    EXPECT_EQ(exported(run, ExportTable::Evaluations, ExportFormat::Csv),
              "step,split,metric,value,precision,samples\n1,validation,accuracy,0.25,fp32,360\n"
              "1,logged,\"a, \"\"b\"\"\",-inf,,0\n");
    EXPECT_EQ(exported(run, ExportTable::MicroBatches, ExportFormat::Json),
              "[\n{\"step\":0,\"index\":0,\"loss\":0.1},\n{\"step\":0,\"index\":1,\"loss\":\"NaN\"}\n]\n");
    const auto evaluations = nlohmann::json::parse(exported(run, ExportTable::Evaluations, ExportFormat::Json));
    ASSERT_EQ(evaluations.size(), 2U);
    EXPECT_EQ(evaluations[0], (nlohmann::json{{"step", 1}, {"split", "validation"}, {"metric", "accuracy"}, {"value", 0.25},
                                              {"precision", "fp32"}, {"samples", 360}}));
    EXPECT_EQ(evaluations[1]["value"], "-Inf");
    EXPECT_EQ(exported(run, ExportTable::Steps, ExportFormat::Csv).substr(0, 13), "step,applied_");
}

TEST(ExportRows, RecordsOfTensorsWithoutTheirHistograms) {
    const TemporaryFolder folder;
    const auto run = folder.path() / "run";
    std::filesystem::create_directories(run);
    {
        const auto recorder = testing::recorder_in(run);
        recorder->step(testing::step_row(0));
        recorder->step(testing::step_row(1));
        TensorStatRow row{.step = 1, .tensor = "gate.mul", .role = TensorRole::Update, .dtype = "float32", .elements = 12, .nan = 1,
                          .pos_inf = 2, .neg_inf = 3, .zero = 4, .negative = 1, .subnormal = 1, .largest = 0.5,
                          .smallest_nonzero = 0.125, .mean = -0.25, .mean_abs = 0.25, .rms = 0.375, .unmoved = 0.75,
                          .exponents = std::string("\x01\x02\x03", 3)};
        recorder->tensor_stat(row);
        row.role = TensorRole::Output;
        row.unmoved.reset();
        row.largest = std::numeric_limits<double>::infinity();
        recorder->tensor_stat(row);
    }
    EXPECT_EQ(exported(run, ExportTable::Tensors, ExportFormat::Csv),
              "step,tensor,role,dtype,elements,nan,pos_inf,neg_inf,zero,negative,subnormal,largest,smallest_nonzero,mean,mean_abs,rms,"
              "unmoved\n1,gate.mul,update,float32,12,1,2,3,4,1,1,0.5,0.125,-0.25,0.25,0.375,0.75\n"
              "1,gate.mul,output,float32,12,1,2,3,4,1,1,inf,0.125,-0.25,0.25,0.375,\n");
    const auto json = nlohmann::json::parse(exported(run, ExportTable::Tensors, ExportFormat::Json));
    ASSERT_EQ(json.size(), 2U);
    EXPECT_EQ(json[0]["unmoved"], 0.75);
    EXPECT_EQ(json[0]["role"], "update");
    EXPECT_TRUE(json[1]["unmoved"].is_null());
    EXPECT_EQ(json[1]["largest"], "+Inf");
    EXPECT_FALSE(json[0].contains("exponents"));
}

TEST(ExportRows, AComparisonHasAColumnForTheMode) {
    const TemporaryFolder folder;
    record(folder.path() / "a", 0.5);
    ComparisonRecord comparison;
    comparison.id = "c";
    comparison.modes = {Precision::No, Precision::Fp16};
    comparison.run_dirs = {folder.path() / "a", folder.path() / "lost"};
    std::ostringstream csv, json;
    const auto missing = export_comparison_table(comparison, ExportTable::MicroBatches, ExportFormat::Csv, csv);
    ASSERT_TRUE(missing) << describe(missing.error());
    EXPECT_EQ(*missing, std::vector<std::string>{"fp16"});
    EXPECT_EQ(csv.str(), "mode,step,index,loss\nno,0,0,0.5\nno,0,1,nan\n");
    ASSERT_TRUE(export_comparison_table(comparison, ExportTable::Evaluations, ExportFormat::Json, json));
    const auto all = nlohmann::json::parse(json.str());
    EXPECT_EQ(all["runs"][0]["evaluations"].size(), 2U);
    EXPECT_TRUE(all["runs"][1]["evaluations"].is_null());
    comparison.run_dirs = {folder.path() / "x", folder.path() / "y"};
    EXPECT_FALSE(export_comparison_table(comparison, ExportTable::Evaluations, ExportFormat::Csv, csv));
}

}  // namespace
}  // namespace mantissa
