// The verbs of the course, without training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace mantissa::system_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(CliLessons, AreListed) {
    const Home home;
    const auto listed = home.run({"lessons", "--json"});
    ASSERT_EQ(listed.code, 0) << listed.err;
    const json lessons = listed.json()["lessons"];
    ASSERT_GE(lessons.size(), 6u);
    EXPECT_EQ(lessons[0]["name"], "bits");
    for (const json& lesson : lessons) {
        EXPECT_FALSE(lesson["title"].get<std::string>().empty());
        EXPECT_LT(lesson["seconds"].get<int>(), 60);
    }
    EXPECT_THAT(home.run({"lessons", "--lang", "zh"}).out, HasSubstr("半精度能表示什么"));
}

TEST(CliLessons, TheBitInspectorNeedsNoTraining) {
    const Home home;
    const auto seen = home.run({"lesson", "1", "--answer", "3", "--number", "65520", "--number", "2e-8", "--scale", "2^16", "--json"});
    ASSERT_EQ(seen.code, 0) << seen.err;
    const json result = seen.json();
    EXPECT_EQ(result["prediction"], result["right"]);
    EXPECT_EQ(result["numbers"][0]["casts"][1]["value"], "+Inf");
    EXPECT_EQ(result["numbers"][0]["casts"][1]["exponent"], "11111");
    EXPECT_EQ(result["numbers"][1]["casts"][1]["value"], 0.0);
    EXPECT_NEAR(result["numbers"][1]["scaled"][0]["back"].get<double>(), 1.9994e-8, 0.5e-12);
    EXPECT_TRUE(home.run_folders().empty());
}

TEST(CliLessons, SlipsGetASentence) {
    const Home home;
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{"lesson", "99"}, "there is no lesson \"99\""},
        {{"lesson", "1", "--answer", "7"}, "--answer is 7, but lesson 1 has answers 1 to 3"},
        {{"lesson", "1", "--number", "many"}, "--number: \"many\" is no number"},
        {{"lesson", "1", "--scale", "x"}, "--scale: \"x\" is no number"},
        {{"lesson", "5", "--number", "1"}, "are for the bit inspector"}};
    for (const auto& [arguments, message] : cases) {
        const auto refused = home.run(arguments);
        EXPECT_EQ(refused.code, 2) << message;
        EXPECT_THAT(refused.err, HasSubstr(message));
    }
}

}  // namespace
}  // namespace mantissa::system_test
