// The installed programs find engine and resources below their own prefix, wherever that lies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"

namespace mantissa::package_test {
namespace {

namespace fs = std::filesystem;

TEST(InstalledPrograms, TrainFromAPrefixThatWasMoved) {
    const fs::path moved = package / "moved";
    fs::remove_all(moved);
    fs::copy(package / "prefix", moved, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    // A preset that the source tree doesn't have: only the moved resources can give it.
    const fs::path presets = moved / "share" / "mantissa" / "presets";
    fs::copy_file(presets / "digits-mlp.json", presets / "only-installed.json");
    const Said said = run(moved / "bin" / "mantissa", "train only-installed --max-steps 3 --json --runs-dir '" + (moved / "runs").string() + "'", "",
                          "2>/dev/null");
    ASSERT_EQ(said.code, 0) << said.text;
    const auto json = nlohmann::json::parse(said.text);
    EXPECT_EQ(json.at("steps"), 3);
    EXPECT_EQ(json.at("state"), "finished");
    // Without its module the program says where it looked first: beside itself.
    fs::remove(moved / "lib" / "libmantissa-engine.so");
    const Said without = run(moved / "bin" / "mantissa", "probe");
    EXPECT_NE(without.code, 0);
    EXPECT_THAT(without.text, ::testing::HasSubstr((moved / "lib" / "libmantissa-engine.so").string()));
}

TEST(InstalledPackage, HoldsOnlyTheHeadersOfTheLibrary) {
    const fs::path headers = package / "prefix" / "include" / "mantissa";
    for (const char* wanted : {"mantissa.h", "engine/accelerator.h", "base/version.h", "torch_pch.h"})
        EXPECT_TRUE(fs::exists(headers / wanted)) << wanted;
    for (const char* other : {"run", "launch", "judge", "host", "models", "data"}) EXPECT_FALSE(fs::exists(headers / other)) << other;
}

}  // namespace
}  // namespace mantissa::package_test
