#include "record/reports.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "record/linear_layers.h"

namespace mantissa {
namespace {

using nlohmann::json;

std::string probe_error(const char* text) {
    return probe_report_from_json(json::parse(text)).error().message;
}

TEST(ReportsTest, WrongFieldsAreNamed) {
    EXPECT_EQ(probe_error("[]"), "the probe's answer must be a JSON object");
    EXPECT_EQ(probe_error(R"({"devices": {}})"), "the probe's answer.devices must be a list");
    EXPECT_EQ(probe_error(R"({"devices": [{"id": 1}]})"), "the probe's answer.devices[0].id must be a text");
    EXPECT_EQ(probe_error(R"({"devices": [{}, {"modes": [{"support": "maybe"}]}]})"),
              "the probe's answer.devices[1].modes[0].support must be one of native emulated unsupported");
    EXPECT_EQ(probe_error(R"({"devices": [7]})"), "the probe's answer.devices[0] must be a JSON object");
    EXPECT_EQ(trial_report_from_json(json::parse(R"({"step_ms": "fast"})")).error().message,
              "the trial's answer.step_ms must be a number, or one of \"NaN\" \"+Inf\" \"-Inf\"");
    EXPECT_EQ(trial_report_from_json(json::parse(R"({"op_kinds": 1.5})")).error().message,
              "the trial's answer.op_kinds must be a whole number");
}

TEST(ReportsTest, AProbeComesBack) {
    const ProbeReport report{
        {{"cpu",
          "a CPU, 2 cores",
          8ll << 30,
          "AVX2",
          {{Precision::No, Support::Native, "fp32", true, true, 0.25},
           {Precision::Fp8, Support::Unsupported, "needs a GPU", false, false, std::nullopt}}}},
        {"no NVIDIA driver"},
        "2.11.0"};
    const auto back = probe_report_from_json(to_json(report));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_json(*back), to_json(report));
    ASSERT_EQ(back->devices.size(), 1u);
    ASSERT_EQ(back->devices[0].modes.size(), 2u);
    EXPECT_EQ(back->devices[0].modes[0].trial_ms, 0.25);
    EXPECT_EQ(back->devices[0].modes[1].mode, Precision::Fp8);
    EXPECT_FALSE(back->devices[0].modes[1].trial_ms);
    EXPECT_EQ(back->devices[0].memory_bytes, 8ll << 30);
    EXPECT_EQ(back->notes.at(0), "no NVIDIA driver");
}

TEST(ReportsTest, ATrialComesBackAlsoWithInfiniteHeadroom) {
    TrialReport report;
    report.mode = Precision::Fp16;
    report.choice = {Precision::Fp16, Precision::Fp16, Support::Emulated, "no AVX512-FP16"};
    report.runs = true;
    report.refusal = "\xff not UTF-8";
    report.step_ms = 1.5;
    report.op_time = {0.75, 1.625};
    report.memory_peak_bytes = 123;
    report.op_kinds = 20;
    report.op_kinds_half = 9;
    report.multiply_adds = 1ll << 40;
    report.multiply_adds_half = 1ll << 39;
    report.headroom_bits = -std::numeric_limits<double>::infinity();
    report.headroom_module = "gate";
    report.loss_finite = false;
    report.outputs_finite = false;
    const auto back = trial_report_from_json(to_json(report));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->choice.support, Support::Emulated);
    ASSERT_TRUE(back->op_time.has_value());
    EXPECT_EQ(back->op_time->products_ms, 0.75);
    EXPECT_EQ(back->op_time->step_ms, 1.625);
    EXPECT_FALSE(trial_report_from_json(json::parse(R"({"runs": true})"))->op_time) << "of an older version";
    EXPECT_EQ(back->choice.reason, "no AVX512-FP16");
    EXPECT_EQ(back->headroom_bits, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(back->multiply_adds_half, 1ll << 39);
    EXPECT_FALSE(back->loss_finite);
    EXPECT_EQ(to_json(*back), to_json(report));
    EXPECT_EQ(to_json(report)["headroom_bits"], "-Inf");
}

TEST(LinearLayersTest, ComeBackAndADamagedTextIsNoLayers) {
    const std::vector<LinearLayer> layers{{"hidden", 64, 128, true}, {"", 128, 10, false}};
    EXPECT_EQ(linear_layers_of(to_text(layers)), layers);
    for (const char* text : {"", "[", "{}", "7", R"([7, {"module": "a"}])", R"([{"module": 1, "in": 2, "out": 3, "computes_in": "fp8"}])"}) {
        EXPECT_TRUE(linear_layers_of(text).empty()) << text;
    }
}

}  // namespace
}  // namespace mantissa
