// `mantissa config`: Accelerate's file shown, written once and updated without harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "program.h"

namespace mantissa::system_test {
namespace {

using testing::HasSubstr;

std::string content(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST(CliConfig, DefaultWritesOnceAndNeverAgain) {
    Home home;
    home.variables["HF_HOME"] = (home.path() / "hf").string();
    const auto file = home.path() / "hf" / "accelerate" / "default_config.yaml";
    const auto written = home.run({"config", "default", "--mixed_precision", "bf16"});
    ASSERT_EQ(written.code, 0) << written.err;
    EXPECT_EQ(written.out, file.string() + "\n");
    const std::string text = content(file);
    EXPECT_THAT(text, HasSubstr("\nmixed_precision: bf16\n"));
    EXPECT_THAT(text, HasSubstr("\ndistributed_type: 'NO'\n"));
    const auto again = home.run({"config", "default", "--mixed_precision", "no"});
    EXPECT_EQ(again.code, 2);
    EXPECT_THAT(again.err, HasSubstr("is there already; it is not overwritten"));
    EXPECT_EQ(content(file), text);
    const auto other = home.path() / "deep" / "c.yaml";
    EXPECT_EQ(home.run({"config", "default", "--config_file", other.string()}).code, 0);
    EXPECT_THAT(content(other), HasSubstr("\nmixed_precision: 'no'\n"));
    EXPECT_EQ(home.run({"config", "default", "--mixed_precision", "half"}).code, 2);
    EXPECT_EQ(home.run({"config"}).code, 2);
}

TEST(CliConfig, ShowSaysWhereValuesComeFromAndWhatLost) {
    Home home;
    home.variables["HF_HOME"] = (home.path() / "hf").string();
    const auto nothing = home.run({"config", "show"});
    EXPECT_EQ(nothing.code, 0) << nothing.err;
    EXPECT_THAT(nothing.out, HasSubstr("No configuration in "));
    const auto file = home.write("c.yaml", "mixed_precision: bf16\nuse_cpu: true\nmain_process_port: 1\n");
    home.variables["ACCELERATE_MIXED_PRECISION"] = "fp16";
    const auto json = home.run({"config", "show", "--config_file", file.string(), "--json"}).json();
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["file"], file.string());
    const auto& mode = json["values"]["mixed_precision"];
    EXPECT_EQ(mode["value"], "fp16");
    EXPECT_EQ(mode["source"], "environment");
    EXPECT_EQ(mode["overruled"][0]["value"], "bf16");
    EXPECT_EQ(json["values"]["device"]["value"], "cpu");
    EXPECT_EQ(json["values"]["device"]["source"], "config");
    EXPECT_THAT(json["notes"][0].get<std::string>(), HasSubstr("main_process_port has no effect"));
    const auto text = home.run({"config", "show", "--config_file", file.string()});
    EXPECT_THAT(text.out, HasSubstr("overrules bf16"));
    EXPECT_EQ(home.run({"config", "show", "--config_file", "/no/such/file"}).code, 6);
}

TEST(CliConfig, UpdateKeepsWhatIsNotItsOwn) {
    const Home home;
    const auto file = home.write("c.yaml", "# mine\nfp16: true\nfsdp_config:\n  fsdp_version: 2 # two\n");
    const auto link = home.path() / "link.yaml";
    std::filesystem::create_symlink(file, link);
    const auto updated = home.run({"config", "update", "--config_file", link.string()});
    ASSERT_EQ(updated.code, 0) << updated.err;
    EXPECT_THAT(updated.out, HasSubstr("fp16: true → mixed_precision: fp16\n"));
    EXPECT_THAT(content(file), testing::StartsWith("# mine\nmixed_precision: fp16\nfsdp_config:\n  "
                                                   "fsdp_version: 2 # two\ndistributed_type: 'NO'\n"));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    const std::string text = content(file);
    EXPECT_THAT(home.run({"config", "update", "--config_file", file.string()}).out,
                HasSubstr("nothing to change"));
    EXPECT_EQ(content(file), text);
    const auto bad = home.write("bad.yaml", "mixed_precision: no\nnope: 1\n");
    const auto refused = home.run({"config", "update", "--config_file", bad.string()});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("unknown key nope"));
    EXPECT_EQ(content(bad), "mixed_precision: no\nnope: 1\n");
    EXPECT_EQ(home.run({"config", "update"}).code, 6);
}

TEST(CliConfig, QuestionsWriteANewFileAndKeepWhatIsNotAsked) {
    Home home;
    home.variables["HF_HOME"] = (home.path() / "hf").string();
    const auto file = home.path() / "hf" / "accelerate" / "default_config.yaml";
    home.input = home.write("answers", "half\n BF16 \nyes\n");
    const auto asked = home.run({"config"});
    ASSERT_EQ(asked.code, 0) << asked.err;
    EXPECT_THAT(asked.err, HasSubstr("[no/fp16/bf16/fp8] (no): \"half\" is not one of them\n"));
    EXPECT_THAT(content(file), HasSubstr("\nmixed_precision: bf16\n"));
    EXPECT_THAT(content(file), HasSubstr("\nuse_cpu: true\n"));
    EXPECT_EQ(home.run({"config", "show", "--json"}).json()["values"]["device"]["value"], "cpu");

    const auto mine = home.write("mine.yaml", "# mine\nmixed_precision: bf16 # why\ngpu_ids: '0'\n");
    home.input = home.write("answers", "no\n\n");  // an empty line takes what is there
    const auto again = home.run({"config", "--config_file", mine.string()});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("(bf16): "));
    EXPECT_THAT(content(mine), testing::StartsWith("# mine\nmixed_precision: 'no' # why\ngpu_ids: '0'\n"));
}

TEST(CliConfig, AnswersThatEndEarlyWriteNothing) {
    Home home;
    home.variables["HF_HOME"] = (home.path() / "hf").string();
    home.input = home.write("answers", "bf16\n");
    const auto asked = home.run({"config"});
    EXPECT_EQ(asked.code, 2);
    EXPECT_THAT(asked.err, HasSubstr("the answers ended before the last question; nothing was written"));
    EXPECT_FALSE(std::filesystem::exists(home.path() / "hf"));
}

}  // namespace
}  // namespace mantissa::system_test
