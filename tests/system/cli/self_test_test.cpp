// `mantissa test` on this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace mantissa::system_test {
namespace {

TEST(CliSelfTest, ThisInstallationPasses) {
    Home home;
    const auto temporary = home.path() / "tmp";
    std::filesystem::create_directory(temporary);
    home.variables["TMPDIR"] = temporary.string();
    // What the surroundings ask for is no part of the test.
    home.variables["ACCELERATE_MIXED_PRECISION"] = "bf16";
    const auto outcome = home.run({"test", "--device", "cpu", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    const auto json = outcome.json();
    ASSERT_TRUE(json.is_object()) << outcome.out;
    EXPECT_EQ(json["passed"], true);
    ASSERT_EQ(json["modes"].size(), 4u);
    const char* modes[] = {"no", "fp16", "bf16", "fp8"};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(json["modes"][i]["mode"], modes[i]);
        EXPECT_EQ(json["modes"][i]["result"], "ok") << json["modes"][i];
    }
    EXPECT_TRUE(std::filesystem::is_empty(temporary)) << "nothing is left behind";
    EXPECT_TRUE(home.run_folders().empty());
    const auto refused = home.run({"test", "--device", "cuda:99"});
    EXPECT_EQ(refused.code, 3);
    EXPECT_THAT(refused.err, testing::HasSubstr("cuda:99"));
}

}  // namespace
}  // namespace mantissa::system_test
