// What the machine can't do is refused before training, with the reason and exit code 3, and leaves nothing
// behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "program.h"

namespace mantissa::system_test {
namespace {

using testing::HasSubstr;

TEST(CliSupport, Fp8IsRefusedWithTheReason) {
    const Home home;
    for (const auto& arguments :
         std::vector<std::vector<std::string>>{{"train", "digits-mlp", "--cpu", "--mixed_precision", "fp8"},
                                               {"compare", "digits-mlp", "--cpu", "--modes", "no,fp8"}}) {
        const auto refused = home.run(arguments);
        EXPECT_EQ(refused.code, 3);
        EXPECT_EQ(refused.out, "");
        EXPECT_THAT(refused.err, HasSubstr("fp8"));
        EXPECT_THAT(refused.err, HasSubstr("no fp8 instructions"));
        EXPECT_TRUE(home.run_folders().empty());
    }
}

TEST(CliSupport, ADeviceThatIsNotThere) {
    const Home home;
    const auto other = home.run({"train", "digits-mlp", "--device", "mps"});
    EXPECT_EQ(other.code, 3);
    EXPECT_THAT(other.err, HasSubstr("device is \"mps\""));
    const auto far = home.run({"train", "digits-mlp", "--device", "cuda:99"});
    EXPECT_EQ(far.code, 3);
    EXPECT_THAT(far.err, HasSubstr("cuda:99"));
    EXPECT_TRUE(home.run_folders().empty());
}

TEST(CliSupport, AnyCaseInTheEnvironmentIsTaken) {
    Home home;
    home.variables["ACCELERATE_MIXED_PRECISION"] = "BF16";
    const auto run = home.run({"train", "article-2", "--cpu", "--json"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.json()["requested"], "bf16");
    EXPECT_EQ(run.json()["effective"], "bf16");
    EXPECT_THAT(run.err, testing::StartsWith("device cpu, requested bf16, effective bf16 ("));
}

TEST(CliSupport, EnvTellsWhatANamedConfigurationMakesOfARun) {
    const Home home;
    const std::string file = home.write("mine.yaml", "mixed_precision: bf16\n").string();
    const auto env = home.run({"env", "--config_file", file, "--json"});
    ASSERT_EQ(env.code, 0) << env.err;
    EXPECT_EQ(env.json()["accelerate"]["config_file"], file);
    EXPECT_THAT(env.json()["accelerate"]["settings"].dump(), HasSubstr("bf16"));
    const auto bad = home.run({"env", "--config_file", home.write("bad.yaml", "foo: 1\n").string(), "--json"});
    EXPECT_THAT(bad.json()["accelerate"]["problem"].dump(), HasSubstr("unknown key foo"));
    EXPECT_EQ(home.run({"env", "--config_file", file + ".gone"}).code, 6);
}

TEST(CliSupport, ABrokenEngineIsASentence) {
    Home home;
    home.variables["MANTISSA_ENGINE"] = home.write("engine.so", "this is no module").string();
    for (const char* verb : {"train", "compare"}) {
        const auto run = home.run({verb, "digits-mlp"});
        EXPECT_NE(run.code, 0);
        EXPECT_THAT(run.err, HasSubstr("engine"));
        EXPECT_TRUE(home.run_folders().empty());
    }
    const auto env = home.run({"env", "--json"});
    EXPECT_EQ(env.code, 0);
    EXPECT_TRUE(env.json()["engine"].is_null());
    EXPECT_TRUE(env.json()["engine_error"].is_string());
}

TEST(CliSupport, ProbeAnswersForEveryMode) {
    const Home home;
    const auto probe = home.run({"probe", "--json"});
    ASSERT_EQ(probe.code, 0) << probe.err;
    const auto json = probe.json();
    ASSERT_TRUE(json.is_object()) << probe.out;
    const auto& cpu = json["devices"][0];
    EXPECT_EQ(cpu["id"], "cpu");
    ASSERT_EQ(cpu["modes"].size(), 4u);
    EXPECT_EQ(cpu["modes"][0]["support"], "native");
    EXPECT_EQ(cpu["modes"][3]["support"], "unsupported");
    for (const auto& mode : cpu["modes"]) EXPECT_FALSE(mode["reason"].get<std::string>().empty());
    EXPECT_THAT(home.run({"probe"}).out, HasSubstr("LibTorch 2.11"));
}

}  // namespace
}  // namespace mantissa::system_test
