// core/examples/ranks.cpp: a program of one's own that `mantissa launch` starts as several processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace mantissa::package_test {
namespace {

std::vector<double> losses(const Said& said) {
    std::vector<double> all;
    for (const std::string& line : said.lines())
        if (line.starts_with("loss ")) all.push_back(std::stod(line.substr(5)));
    return all;
}

Said launched(const std::string& flags) {
    return run(package / "prefix" / "bin" / "mantissa", "launch --cpu " + flags + " '" + (package / "examples" / "ranks").string() + "'");
}

TEST(Ranks, AProgramOfOnesOwnTrainsAsTwoProcesses) {
    for (const std::string mode : {"no", "fp16"}) {
        const Said one = launched("--mixed_precision " + mode), two = launched("--num_processes 2 --mixed_precision " + mode);
        ASSERT_EQ(one.code, 0) << one.text;
        ASSERT_EQ(two.code, 0) << two.text;
        EXPECT_THAT(two.text, testing::AllOf(testing::HasSubstr("process 0 of 2\n"), testing::HasSubstr("process 1 of 2\n")));
        const auto expected = losses(one), ours = losses(two);
        ASSERT_EQ(expected.size(), 12U) << one.text;
        ASSERT_EQ(ours.size(), 12U) << two.text;
        for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], expected[i], mode == "no" ? 1e-6 : 1e-3) << mode << " " << i;
        EXPECT_LT(ours.back(), ours.front());
    }
}

}  // namespace
}  // namespace mantissa::package_test
