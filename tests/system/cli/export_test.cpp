// `mantissa export`: what comes out is what was recorded, and nothing is overwritten.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "program.h"

namespace mantissa::system_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST(CliExport, ARunIsItsSteps) {
    const Home home;
    const auto run = home.run({"train", "digits-mlp", "--cpu", "--max-steps", "25", "--json"}).json();
    ASSERT_TRUE(run.is_object());
    const auto csv = home.run({"export", "last"});
    ASSERT_EQ(csv.code, 0) << csv.err;
    EXPECT_EQ(csv.err, "");
    EXPECT_THAT(csv.out, StartsWith("step,applied_step,epoch,time_ns,loss,"));
    EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 26);
    const auto steps = home.run({"export", "last", "--format", "json", "--output", "-"}).json();
    ASSERT_EQ(steps.size(), 25u);
    EXPECT_EQ(steps[0]["loss"], run["first_loss"]);
    EXPECT_EQ(steps[24]["loss"], run["final_loss"]);

    const auto file = home.path() / "steps.json";
    const auto written = home.run({"export", "last", "-o", file.string()});
    EXPECT_EQ(written.code, 0) << written.err;
    EXPECT_EQ(written.out, file.string() + "\n");
    EXPECT_EQ(nlohmann::json::parse(content(file)), steps);
    home.write("steps.json", "mine");
    const auto refused = home.run({"export", "last", "-o", file.string()});
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.err, "mantissa: " + file.string() +
                               " is there already\n          name another file, or overwrite it with "
                               "--force\n");
    EXPECT_EQ(content(file), "mine");
    EXPECT_EQ(home.run({"export", "last", "-o", file.string(), "--format", "csv", "--force"}).code, 0);
    EXPECT_EQ(content(file), csv.out);
    EXPECT_EQ(home.run({"export", "last", "-o", "/no/such/folder/x.csv"}).code, 6);
    EXPECT_EQ(home.run({"export", "last", "--format", "xml"}).code, 2);
}

TEST(CliExport, AComparisonIsOneFileWithTheModes) {
    const Home home;
    const auto job = home.run({"compare", "digits-mlp", "--cpu", "--max-steps", "20", "--set",
                               "loss_scale.initial=1099511627776", "--json"})
                         .json();
    ASSERT_TRUE(job.is_object());
    const std::string id = job["comparison_id"];
    const auto csv = home.run({"export", id, "--format", "csv"});
    ASSERT_EQ(csv.code, 0) << csv.err;
    EXPECT_THAT(csv.out, StartsWith("mode,step,"));
    EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 61);
    for (const char* mode : {"\nno,0,", "\nno,19,", "\nfp16,19,", "\nbf16,19,"})
        EXPECT_THAT(csv.out, HasSubstr(mode));
    const auto json = home.run({"export", id, "--format", "json"}).json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["comparison"], id);
    ASSERT_EQ(json["runs"].size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(json["runs"][i]["mode"], job["runs"][i]["mode"]);
        EXPECT_EQ(json["runs"][i]["run_dir"], job["runs"][i]["run_dir"]);
        EXPECT_EQ(json["runs"][i]["steps"].size(), 20u);
    }
    // A scale of 2^40 overflows in the first step of fp16.
    EXPECT_THAT(csv.out, HasSubstr(",1,probing,"));
    const auto& first = json["runs"][1]["steps"][0];
    EXPECT_EQ(first["skipped"], 1);
    EXPECT_EQ(first["loss_scale"], 1099511627776);
    EXPECT_TRUE(first["grad_norm"].is_string()) << first;
    const auto one = home.run({"export", job["runs"][1]["run_dir"].get<std::string>(), "--format", "json"});
    EXPECT_EQ(one.json(), json["runs"][1]["steps"]);
}

}  // namespace
}  // namespace mantissa::system_test
