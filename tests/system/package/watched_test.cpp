// core/examples/watched.cpp: a program of one's own is a run like any other, and goes on where it stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace mantissa::package_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> losses(const Said& said) {
    std::vector<std::string> lines;
    for (const std::string& line : said.lines())
        if (line.starts_with("loss ")) lines.push_back(line);
    return lines;
}

TEST(Watched, GoesOnToTheSameBitsAndIsARunLikeAnyOther) {
    const fs::path folder = package / "watched";
    fs::remove_all(folder);
    const std::string variables = "MANTISSA_RUNS_DIR='" + (folder / "runs").string() + "'";
    const auto program = package / "examples" / "watched";
    const Said uncut = run(program, "'" + folder.string() + "'", variables, "2>/dev/null");
    ASSERT_EQ(uncut.code, 0) << uncut.text;
    EXPECT_THAT(uncut.text, testing::HasSubstr("saved " + (folder / "checkpoints" / "checkpoint_0").string() + "\n"));
    const auto all = losses(uncut);
    ASSERT_EQ(all.size(), 78U);  // six passes of thirteen batches
    const Said resumed = run(program, "'" + folder.string() + "' resume", variables, "2>/dev/null");
    ASSERT_EQ(resumed.code, 0) << resumed.text;
    EXPECT_EQ(losses(resumed), std::vector<std::string>(all.begin() + 23, all.end()));

    const Said listed = run(package / "prefix" / "bin" / "mantissa", "runs list --json", variables, "2>/dev/null");
    const auto runs = nlohmann::json::parse(listed.text, nullptr, false);
    ASSERT_TRUE(runs.is_object() || runs.is_array()) << listed.text;
    const auto& list = runs.is_array() ? runs : runs.at("runs");
    ASSERT_EQ(list.size(), 2U) << listed.text;
    EXPECT_EQ(list[0].at("mode"), "fp16");
    EXPECT_EQ(list[0].at("state"), "finished");
    EXPECT_EQ(list[1].at("steps"), 42);  // windows of two; the thirteenth batch of a pass ends one
    std::size_t event_files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        event_files += entry.path().filename().string().starts_with("events.out.tfevents.") ? 1 : 0;
    EXPECT_GE(event_files, 1U);
}

}  // namespace
}  // namespace mantissa::package_test
