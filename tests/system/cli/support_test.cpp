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
        EXPECT_THAT(refused.err, HasSubstr("--allow-emulated"));
        EXPECT_TRUE(home.run_folders().empty());
    }
    // Wherever the wish comes from.
    Home other;
    const std::string file = other.write("fp8.yaml", "mixed_precision: fp8\n").string();
    EXPECT_EQ(other.run({"train", "digits-mlp", "--cpu", "--config_file", file}).code, 3);
    other.variables["ACCELERATE_MIXED_PRECISION"] = "fp8";
    EXPECT_EQ(other.run({"train", "digits-mlp", "--cpu"}).code, 3);
    EXPECT_TRUE(other.run_folders().empty());
}

TEST(CliSupport, EmulatedFp8IsComparedLikeAnyMode) {
    const Home home;
    const auto outcome = home.run({"compare", "digits-bright", "--cpu", "--modes", "no,bf16,fp8", "--allow-emulated", "--max-steps", "60", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto comparison = outcome.json();
    ASSERT_TRUE(comparison.is_object()) << outcome.out;
    EXPECT_EQ(comparison["fair"], true);
    EXPECT_TRUE(comparison["decision"]["mode"].is_string()) << comparison["decision"];
    EXPECT_THAT(comparison["decision"]["reasons"].dump(), HasSubstr("fp8"));
    const auto& fp8 = comparison["runs"][2];
    EXPECT_EQ(fp8["requested"], "fp8");
    EXPECT_EQ(fp8["effective"], "fp8");
    EXPECT_EQ(fp8["support"], "emulated");
    EXPECT_EQ(fp8["steps"], 60);
    EXPECT_EQ(fp8["state"], "finished");
    EXPECT_EQ(fp8["skipped_steps"], 0);
    ASSERT_EQ(fp8["linear_layers"].size(), 3u);
    EXPECT_EQ(fp8["linear_layers"][1], nlohmann::json({{"module", "hidden2"}, {"in", 128}, {"out", 128}, {"computes_in", "fp8"}}));
    EXPECT_GT(fp8["metric"].get<double>(), comparison["runs"][0]["metric"].get<double>() - 0.06);
    for (const auto& verdict : comparison["verdicts"]) EXPECT_NE(verdict["severity"], "error") << verdict;
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
