// The time machine for runs of several processes: as many do the step again. Which rank of gated-overflow meets the first bad value is the
// CPU's: the run's record says it.
#include "ranks_support.h"

namespace mantissa::system_test {
namespace {

/// One run of two ranks for all tests of this file: it stopped by its first non-finite value.
class CliRanksReplay : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        s_home = new Home;
        const auto trained = s_home->run(overflow("2"));
        ASSERT_EQ(trained.code, 4) << trained.err;
        s_run = s_home->run_folders().front();
    }
    static void TearDownTestSuite() {
        delete s_home;
        s_home = nullptr;
    }
    static std::vector<std::string> overflow(const char* processes) {
        return {"train", "gated-overflow", "--cpu", "--mixed_precision", "fp16", "--num_processes", processes, "--batch-size", "16"};
    }
    static Json replayed(const Home& home, const fs::path& run, std::vector<std::string> more) {
        more.insert(more.begin(), {"replay", run.string(), "--json"});
        const auto outcome = home.run(more);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.json();
    }
    static Json variant(const Json& report, const std::string& id) {
        for (const Json& one : report["variants"])
            if (one["id"] == id) return one;
        ADD_FAILURE() << "no variant " << id << " in " << report.dump(1);
        return {};
    }
    /// Processes that do a step of this home's run again.
    static std::vector<pid_t> members(const Home& home) {
        std::vector<pid_t> found = test::processes_with(std::string("replay-step") + '\0');
        std::erase_if(found, [&home](pid_t pid) {
            const Result<std::string> variables = read_file("/proc/" + std::to_string(pid) + "/environ");
            return !variables || variables->find(home.path().string()) == std::string::npos;
        });
        return found;
    }
    static Home* s_home;
    static fs::path s_run;
};

Home* CliRanksReplay::s_home = nullptr;
fs::path CliRanksReplay::s_run;

TEST_F(CliRanksReplay, as_many_processes_give_the_same_bits_and_name_the_rank_of_the_birth) {
    const Json report = replayed(*s_home, s_run, {});
    EXPECT_EQ(report["reproduced"], "bits") << report["reproduced_reason"];
    ASSERT_TRUE(report["birth"].is_object()) << report.dump(1);
    const std::string rank = query(s_run / "run.db", "SELECT json_extract(detail, '$.rank') FROM incidents ORDER BY rowid LIMIT 1").front();
    EXPECT_EQ(report["birth"]["rank"], std::stoi(rank));
    EXPECT_EQ(report["producer"]["module"], "gate");
    EXPECT_EQ(report["producer"]["op"], "mul");
    EXPECT_EQ(variant(report, "as_was")["this_step"], "NaN");
    EXPECT_EQ(variant(report, "scale_1")["this_step"], "NaN");
    for (const char* cure : {"no", "bf16"}) EXPECT_EQ(variant(report, cure)["later"], "holds") << cure;
    for (const char* tried : {"island", "previous_batch", "half_rate"}) EXPECT_EQ(variant(report, tried)["state"], "done") << tried;
    EXPECT_EQ(report["verdict"]["code"], "activation_overflow") << report["verdict"].dump(1);
    EXPECT_THAT(report["verdict"]["text"].get<std::string>(), HasSubstr("gate.mul (rank " + rank + ")"));
}

TEST_F(CliRanksReplay, what_held_is_applied_by_as_many_and_ends_healthy) {
    Home home;
    const auto trained = home.run(overflow("2"));
    ASSERT_EQ(trained.code, 4) << trained.err;
    const fs::path run = home.run_folders().front();
    const auto applied = home.run({"replay", run.string(), "--apply", "--change", "bf16", "--json"});
    ASSERT_EQ(applied.code, 0) << applied.err;
    const auto folders = home.run_folders();
    ASSERT_EQ(folders.size(), 2U);
    const fs::path child = folders.front() == run ? folders.back() : folders.front();
    EXPECT_EQ(query(child / "run.db", "SELECT value FROM meta WHERE key = 'ranks'").front(), "2");
    EXPECT_THAT(query(child / "run.db", "SELECT state FROM states ORDER BY rowid DESC LIMIT 1").front(), StartsWith("finished"));
}

TEST_F(CliRanksReplay, three_processes_too) {
    Home home;
    const auto trained = home.run(overflow("3"));
    ASSERT_EQ(trained.code, 4) << trained.err;
    const Json report = replayed(home, home.run_folders().front(), {"--variants", "bf16"});
    EXPECT_EQ(report["reproduced"], "bits") << report["reproduced_reason"];
    EXPECT_EQ(report["producer"]["op"], "mul");
    EXPECT_EQ(variant(report, "bf16")["later"], "holds");
}

TEST_F(CliRanksReplay, one_that_is_killed_ends_all_and_is_named) {
    Home home;
    const auto trained = home.run({"train", "digits-cnn", "--cpu", "--num_processes", "2", "--max-steps", "500"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    Started replay(home, {"replay", home.run_folders().front().string(), "--step", "499", "--what-if", "training.clip_grad_norm=1"});
    ASSERT_TRUE(eventually(patience, [&] { return members(home).size() == 2; }));
    ::kill(members(home).back(), SIGKILL);
    const auto outcome = replay.wait(patience);
    EXPECT_NE(outcome.code, 0);
    EXPECT_THAT(outcome.out + outcome.err, HasSubstr("of the replay of as_was gave no answer: its process was killed by"));
    EXPECT_TRUE(eventually(patience, [&] { return members(home).empty(); }));
}

}  // namespace
}  // namespace mantissa::system_test
