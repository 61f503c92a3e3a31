// Every lesson, really trained: what it claims must happen here too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sqlite3.h>

#include <fstream>

#include "program.h"

namespace mantissa::system_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Runs the lesson with that answer and prints its figures, so that a test's log is the measurement.
json take(const char* lesson, const char* answer) {
    const Home home;
    const auto outcome = home.run({"lesson", lesson, "--answer", answer, "--json", "-q"});
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    const json result = outcome.json();
    EXPECT_TRUE(result.is_object()) << outcome.out;
    if (!result.is_object()) return json::object();
    for (const auto& [name, figure] : result["figures"].items()) std::printf("  %s %s\n", name.c_str(), figure["text"].get<std::string>().c_str());
    for (const json& claim : result["claims"]) EXPECT_TRUE(claim["met"].get<bool>()) << claim.dump();
    EXPECT_FALSE(result["claims"].empty());
    std::ifstream kept(result["folder"].get<std::string>() + "/lesson.json");
    EXPECT_EQ(json::parse(kept)["prediction"], result["prediction"]);
    return result;
}

double value(const json& result, const char* figure) { return result["figures"][figure]["value"].get<double>(); }

TEST(CliLesson, TwoSameNetwork) {
    const json result = take("2", "4");
    EXPECT_EQ(result["prediction"], result["right"]);
    EXPECT_LE(value(result, "accuracy_gap"), 0.01);
    EXPECT_LT(value(result, "gap_fp16"), 1e-2);
    EXPECT_LT(value(result, "gap_bf16"), 1e-2);
}

TEST(CliLesson, ThreeSmallGradients) {
    const json result = take("3", "1");
    EXPECT_NE(result["prediction"], result["right"]);
    EXPECT_EQ(value(result, "zero_steps"), 400);
    EXPECT_NEAR(value(result, "ratio_65536"), 1, 0.02);
}

TEST(CliLesson, FourScaleFindsItsPlace) {
    const json result = take("4", "3");
    EXPECT_GE(value(result, "at_start"), 12);
    EXPECT_LE(value(result, "at_start"), 18);
    EXPECT_GE(value(result, "later"), 3);
    EXPECT_LE(value(result, "unexplained"), 1);
}

TEST(CliLesson, FiveForwardOverflow) {
    const json result = take("5", "2");
    EXPECT_EQ(value(result, "bad_65536"), 400);
    EXPECT_EQ(value(result, "bad_1"), 400);
    EXPECT_LT(value(result, "share_no"), 0.01);
}

TEST(CliLesson, SevenNotPrecision) {
    const json result = take("7", "4");
    EXPECT_LE(value(result, "first_no"), 10);
    EXPECT_LE(value(result, "first_bf16"), 10);
    EXPECT_EQ(value(result, "fused_bad"), 0);
}

TEST(CliLesson, EightRateTooHigh) {
    const json result = take("8", "2");
    EXPECT_LE(value(result, "last_of_all"), 200);
    EXPECT_LT(value(result, "first_fp16"), value(result, "first_no"));
    EXPECT_LT(value(result, "first_fp16"), value(result, "first_bf16"));
}

TEST(CliLesson, TenMemory) {
    const json result = take("10", "3");
    EXPECT_GT(value(result, "ratio_1"), 1);
    EXPECT_GT(value(result, "ratio_1437"), 0.6);
    EXPECT_LT(value(result, "ratio_1437"), 0.95);
    EXPECT_EQ(value(result, "states_no"), value(result, "states_bf16"));
}

TEST(CliLesson, ElevenTwoFp32Runs) {
    const json result = take("11", "3");
    EXPECT_LE(value(result, "parted"), 300);
    EXPECT_LT(value(result, "parted_fp16"), value(result, "parted"));
    EXPECT_LT(value(result, "parted_bf16"), value(result, "parted"));
    EXPECT_LT(value(result, "stable_gap"), 1e-3);
}

TEST(CliLesson, TwelveFp8) {
    const json result = take("12", "3");
    EXPECT_EQ(value(result, "bad_fp8"), 0);
    EXPECT_LE(value(result, "gap"), 0.04);
}

/// Seconds between the first and the last step of each run of the home.
std::vector<double> seconds_of_runs(const Home& home) {
    std::vector<double> seconds;
    for (const auto& folder : home.run_folders()) {
        if (!std::filesystem::exists(folder / "run.db")) continue;  // the folder of lessons
        sqlite3* database = nullptr;
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_open_v2((folder / "run.db").c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
        EXPECT_EQ(sqlite3_prepare_v2(database, "SELECT max(time_ns) - min(time_ns) FROM steps", -1, &statement, nullptr), SQLITE_OK);
        EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
        seconds.push_back(sqlite3_column_double(statement, 0) / 1e9);
        sqlite3_finalize(statement);
        sqlite3_close(database);
    }
    return seconds;
}

TEST(CliLesson, GoesAtThePaceThatIsAskedFor) {
    const Home home;
    const auto outcome = home.run({"lesson", "7", "--pace", "25", "--json", "-q"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto seconds = seconds_of_runs(home);
    ASSERT_EQ(seconds.size(), 6u);
    // 100 steps at 25 a second; those that a busy machine was late with are made up, at most 10 at once.
    for (const double one : seconds) EXPECT_GT(one, 3.2);
}

TEST(CliLesson, ThirteenNanHunt) {
    const json result = take("13", "2");
    EXPECT_GE(value(result, "step"), 30);
    EXPECT_LE(value(result, "step"), 280);
}

}  // namespace
}  // namespace mantissa::system_test
