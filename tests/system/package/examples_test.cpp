// The articles' programs, built against the installed package, give the losses that Accelerate itself gave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "program.h"

namespace mantissa::package_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

nlohmann::json trace_in(const std::filesystem::path& folder, const std::string& mode) {
    std::ifstream file(folder / ("trace-" + mode + ".json"));
    return nlohmann::json::parse(file).at("micro_batches");
}

float hex(const nlohmann::json& value) { return std::stof(value.get<std::string>()); }

std::filesystem::path example(const char* name) { return package / "examples" / name; }

struct Row {
    float loss = 0;
    float rate = 0;
};

std::vector<Row> rows_of(const Said& said, const std::regex& form) {
    std::vector<Row> rows;
    for (const std::string& line : said.lines()) {
        std::smatch found;
        if (std::regex_match(line, found, form)) rows.push_back({std::stof(found[1]), found.size() > 2 ? std::stof(found[2]) : 0.0F});
    }
    return rows;
}

/// Of the CPU whose last bits these are, where one is; else of the first.
nlohmann::json trace(const std::string& task, const std::string& mode, const std::vector<Row>& rows) {
    const std::filesystem::path golden = GOLDEN_FOLDER;
    const nlohmann::json first = trace_in(golden / task, mode), second = trace_in(golden / "intel" / task, mode);
    const auto is_it = [&](const nlohmann::json& one) {
        if (one.size() != rows.size()) return false;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (rows[i].loss != hex(one[i]["loss"])) return false;
        return true;
    };
    return !is_it(first) && is_it(second) ? second : first;
}

class Article1 : public testing::TestWithParam<const char*> {};

TEST_P(Article1, RepeatsAccelerate) {
    const std::string mode = GetParam();
    const auto folder = package / ("article_1-" + mode);
    std::filesystem::remove_all(folder);
    const Said said = run(example("article_1"), mode + " " + folder.string());
    ASSERT_EQ(said.code, 0) << said.text;
    EXPECT_THAT(said.text, StartsWith("device cpu, mixed precision " + mode + ", from "));
    const auto rows = rows_of(said, std::regex(R"(epoch \d loss (\S+) next learning rate (\S+))"));
    const auto expected = trace("article1", mode, rows);
    ASSERT_EQ(rows.size(), 24U) << said.text;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].loss, hex(expected[i]["loss"])) << i;
        EXPECT_EQ(rows[i].rate, hex(expected[i]["lr"])) << i;
    }
    EXPECT_THAT(said.text, HasSubstr("accuracy in fp32 0."));
    EXPECT_TRUE(std::filesystem::exists(folder / "model.safetensors"));
    EXPECT_THAT(said.text, HasSubstr("saved " + (folder / "model.safetensors").string()));
}
INSTANTIATE_TEST_SUITE_P(Modes, Article1, testing::Values("no", "fp16", "bf16"), [](const auto& mode) { return std::string(mode.param); });

TEST(Article1Mode, ComesFromTheEnvironmentWithoutAnArgument) {
    const Said said = run(example("article_1"), "", "ACCELERATE_MIXED_PRECISION=bf16 sh -c 'cd " + package.string() + " && exec \"$0\"'");
    ASSERT_EQ(said.code, 0) << said.text;
    EXPECT_THAT(said.lines().at(0), StartsWith("device cpu, mixed precision bf16, from"));
    EXPECT_THAT(said.lines().at(0), HasSubstr("ACCELERATE_MIXED_PRECISION"));
    const Said wrong = run(example("article_1"), "half");
    EXPECT_EQ(wrong.code, 1);
    EXPECT_EQ(wrong.text, "article_1: half is no precision: use no, fp16 or bf16\n");
}

TEST(Article2, RunsEachModeInAProcessOfItsOwnAndRefusesFp8) {
    const Said said = run(example("article_2"), "");
    ASSERT_EQ(said.code, 0) << said.text;
    for (const std::string mode : {"no", "fp16", "bf16"}) {
        const auto rows = rows_of(said, std::regex(mode + R"( step \d+ loss (\S+))"));
        const auto expected = trace("article2", mode, rows);
        ASSERT_EQ(rows.size(), 16U) << mode << said.text;
        for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].loss, hex(expected[i]["loss"])) << mode << i;
        EXPECT_TRUE(std::regex_search(said.text, std::regex(mode + ": 16 steps, 0 skipped, peak [1-9]\\d* MiB"))) << said.text;
        EXPECT_TRUE(std::regex_search(said.text, std::regex(mode + " on cpu: (native|emulated)"))) << said.text;
    }
    EXPECT_THAT(said.text, HasSubstr("no on cpu: native"));
    EXPECT_THAT(said.text, HasSubstr("fp8 refused: "));
    EXPECT_THAT(said.text, ::testing::Not(HasSubstr("fp8 step")));
}

}  // namespace
}  // namespace mantissa::package_test
