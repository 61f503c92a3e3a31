// Every bad plan, from every source: exit 2 (6 for a file that isn't there), a sentence that names the
// source, nothing on standard output, and no folder left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace mantissa::system_test {
namespace {

void expect_refused(const Home& home, const std::vector<std::string>& arguments, int code,
                    const std::string& error) {
    const auto outcome = home.run(arguments);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, error);
    EXPECT_TRUE(home.run_folders().empty());
}

TEST(CliPlanErrors, Modes) {
    const Home home;
    expect_refused(home, {"train", "digits-mlp", "--mixed_precision", "half"}, 2,
                   "mantissa: --mixed_precision: mixed_precision is \"half\"\n          use one of: no, "
                   "fp16, bf16, fp8\n");
    expect_refused(home, {"compare", "digits-mlp", "--modes", "no,fp12", "--json"}, 2,
                   "mantissa: --modes: modes[1] is \"fp12\"\n          use one of: no, fp16, bf16, fp8\n");
    expect_refused(home, {"compare", "digits-mlp", "--modes", ""}, 2,
                   "mantissa: --modes names no mode\n          for example --modes no,fp16,bf16\n");
}

TEST(CliPlanErrors, GarbageInTheEnvironment) {
    Home home;
    home.variables["ACCELERATE_MIXED_PRECISION"] = "garbage";
    const char* sentence =
        "mantissa: ACCELERATE_MIXED_PRECISION: mixed_precision is \"garbage\"\n          use one of: no, "
        "fp16, bf16, fp8\n";
    expect_refused(home, {"train", "digits-mlp"}, 2, sentence);
    expect_refused(home, {"train", "digits-mlp", "--mixed_precision", "no"}, 2,
                   sentence);  // an error even when overruled
    expect_refused(home, {"compare", "digits-mlp"}, 2, sentence);
}

TEST(CliPlanErrors, AcceleratesFile) {
    Home home;
    home.write(".cache/huggingface/accelerate/default_config.yaml", "mixed_precision: fp12\n");
    const std::string file = (home.path() / ".cache/huggingface/accelerate/default_config.yaml").string();
    expect_refused(
        home, {"train", "digits-mlp"}, 2,
        "mantissa: " + file +
            ": mixed_precision: mixed_precision is \"fp12\"\n          use one of: no, fp16, bf16, fp8\n");
    const auto other = home.write("mine.yaml", "mixed_precision: no\nnum_process: 4\n").string();
    expect_refused(
        home, {"train", "digits-mlp", "--config_file", other}, 2,
        "mantissa: " + other + ": unknown key num_process\n          did you mean num_processes?\n");
    EXPECT_EQ(home.run({"train", "digits-mlp", "--config_file", (home.path() / "none.yaml").string()}).code,
              6);
}

TEST(CliPlanErrors, PlanFiles) {
    const Home home;
    const auto file = [&home](const std::string& text) { return home.write("p.json", text).string(); };
    expect_refused(home, {"train", file("")}, 2,
                   "mantissa: " + file("") +
                       ": it is empty (line 1, byte 0)\n          a plan is a JSON object; {} is one with "
                       "all defaults\n");
    expect_refused(home, {"train", file("{\n\"model\": \"ml")}, 2,
                   "mantissa: " + file("{\n\"model\": \"ml") +
                       ": the text ends too early, at line 2, byte 14\n          the file is not complete: "
                       "copy or write it again\n");
    expect_refused(
        home, {"compare", file(R"({"training": {"bach_size": 3}})")}, 2,
        "mantissa: " + file(R"({"training": {"bach_size": 3}})") +
            ": unknown field \"training.bach_size\"\n          did you mean training.batch_size?\n");
    expect_refused(
        home, {"train", file(R"({"training": {"batch_size": "3"}})")}, 2,
        "mantissa: " + file(R"({"training": {"batch_size": "3"}})") +
            ": training.batch_size is \"3\", a text\n          use a whole number from 1 to 1000000\n");
    expect_refused(home, {"train", "no-such-preset"}, 2,
                   "mantissa: \"no-such-preset\" is neither a plan file nor a preset\n          Presets: "
                   "digits-cnn, digits-mlp, "
                   "article-1, article-2, cancer-overflow, gated-overflow, digits-bright\n");
    EXPECT_EQ(home.run({"train", "no-such-file.json"}).code, 6);
}

TEST(CliPlanErrors, FieldsOfTheDesignThatAreNotBuiltAreRefused) {
    const Home home;
    expect_refused(
        home, {"train", "digits-mlp", "--scope", "join"}, 2,
        "mantissa: launch.scope is join, but no launcher started this process\n          start it by torchrun --no-python, srun or mpirun; for several processes on this machine use --num_processes N\n");
    expect_refused(home, {"train", "digits-mlp", "--num_processes", "2", "--scope", "process"}, 2,
                   "mantissa: --num_processes: launch.processes is 2, but launch.scope is process, which trains in one process\n"
                   "          use launch.scope ranks, or 1 process\n");
    expect_refused(home, {"train", "digits-mlp", "--set", "cpu_half=fast"}, 2,
                   "mantissa: --set: cpu_half is fast: not built yet\n          use torch\n");
}

TEST(CliPlanErrors, ContradictingFlags) {
    const Home home;
    expect_refused(
        home, {"train", "digits-mlp", "--cpu", "--device", "cuda"}, 2,
        "mantissa: --cpu and --device cuda contradict each other\n          give one of the two\n");
    expect_refused(
        home, {"train", "digits-mlp", "--seed", "1", "--set", "training.seed=2"}, 2,
        "mantissa: --seed and --set training.seed say the same thing twice\n          give one of the two\n");
}

}  // namespace
}  // namespace mantissa::system_test
