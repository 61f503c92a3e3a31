// A TorchScript file from Python as the model. linear.pt was made there so, with torch 2.11:
//   class Net(torch.nn.Module):
//       def __init__(self): super().__init__(); self.l = torch.nn.Linear(64, 10)
//       def forward(self, x): return self.l(x)
//   torch.jit.script(Net()).save("linear.pt")
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace mantissa::system_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::vector<std::string> with_file(const Home& home, std::vector<std::string> more) {
    const fs::path file = home.path() / "linear.pt";
    if (!fs::exists(file)) fs::copy_file(MANTISSA_TEST_MODELS "/linear.pt", file);
    std::vector<std::string> command{more.front(), "digits-mlp", "--model", file.string(), "--cpu", "--max-steps", "20"};
    command.insert(command.end(), more.begin() + 1, more.end());
    return command;
}

TEST(CliModelFile, IsAskedForTrustOnceAndThenTrainsComparesAndIsDoneAgain) {
    const Home home;
    const auto refused = home.run(with_file(home, {"train"}));
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("nobody has said that this one is trusted"));
    EXPECT_THAT(refused.err, HasSubstr("--trust"));
    EXPECT_TRUE(home.run_folders().empty());
    // No process of ours loads it: neither a trial nor a measured step.
    const auto estimated = home.run({"estimate-memory", "digits-mlp", "--set", "model.file=" + (home.path() / "linear.pt").string()});
    EXPECT_EQ(estimated.code, 2);
    EXPECT_THAT(estimated.err, HasSubstr("isn't counted yet"));
    const fs::path plan = home.write("plan.json", R"({"mantissa_plan": 1, "plan": {"name": "x", "model": {"file": ")" + (home.path() / "linear.pt").string() + R"("}}})");
    const auto tried = home.run({"trial", plan.string(), "no", (home.path() / "answer.json").string()});
    EXPECT_EQ(tried.code, 2);
    EXPECT_THAT(tried.err, HasSubstr("nobody has said"));
    const auto trained = home.run(with_file(home, {"train", "--trust", "--json"}));
    ASSERT_EQ(trained.code, 0) << trained.err;
    const auto compared = home.run(with_file(home, {"compare"}));
    ASSERT_EQ(compared.code, 0) << compared.err;
    EXPECT_THAT(compared.out, HasSubstr("Decision: "));
    const std::string run = trained.json()["run_dir"];
    const auto again = home.run({"replay", run, "--step", "10", "--what-if", "training.optimizer.learning_rate=0.01", "--json"});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.json()["reproduced"], "bits");
    // Somebody who gets the run without having trusted the file is asked, too.
    fs::remove(home.path() / "trusted_models");
    const auto asked = home.run({"replay", run, "--step", "10", "--what-if", "training.optimizer.learning_rate=0.02"});
    EXPECT_EQ(asked.code, 2);
    EXPECT_THAT(asked.err, HasSubstr("nobody has said"));
}

TEST(CliModelFile, ThatIsNotThereIsNamed) {
    const Home home;
    for (const auto& [flags, file] : {std::pair<std::vector<std::string>, std::string>{{"--trust"}, "net.pt"},
                                      {{}, (fs::current_path() / "net.pt").string()}}) {
        std::vector<std::string> command{"train", "digits-mlp", "--model", "net.pt"};
        command.insert(command.end(), flags.begin(), flags.end());
        const auto refused = home.run(command);
        EXPECT_EQ(refused.code, 6);
        EXPECT_EQ(refused.out, "");
        EXPECT_EQ(refused.err, "mantissa: " + file + " can't be read: No such file or directory\n");
    }
    EXPECT_TRUE(home.run_folders().empty());
}

TEST(CliModelFile, TrainsInAProcessOfItsOwnAndInSeveral) {
    const Home home;
    const auto thread = home.run(with_file(home, {"train", "--trust", "--scope", "thread"}));
    EXPECT_EQ(thread.code, 2);
    EXPECT_THAT(thread.err, HasSubstr("gets a process of its own"));
    const auto ranks = home.run(with_file(home, {"train", "--num_processes", "2"}));
    EXPECT_EQ(ranks.code, 0) << ranks.err;
}

}  // namespace
}  // namespace mantissa::system_test
