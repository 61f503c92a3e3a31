// The time machine through the command line, with the real engine: gated-overflow in fp16 breaks in gate.mul between steps 30 and 280.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <signal.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "program.h"
#include "tests/support/processes.h"

namespace mantissa::system_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::chrono::seconds patience{120};

/// One run for all tests of this file that only read it: it stopped by its first non-finite value.
class CliReplay : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        s_home = new Home;
        const auto trained = s_home->run({"train", "gated-overflow", "--cpu", "--mixed_precision", "fp16"});
        ASSERT_EQ(trained.code, 4) << trained.err;
        s_words = trained.out;
        s_run = s_home->run_folders().front();
    }
    static void TearDownTestSuite() {
        delete s_home;
        s_home = nullptr;
    }
    static const Json& variant(const Json& report, const std::string& id) {
        static const Json none;
        for (const Json& one : report["variants"])
            if (one["id"] == id) return one;
        ADD_FAILURE() << "no variant " << id << " in " << report.dump(1);
        return none;
    }
    static Home* s_home;
    static fs::path s_run;
    static std::string s_words;
};

Home* CliReplay::s_home = nullptr;
fs::path CliReplay::s_run;
std::string CliReplay::s_words;

TEST_F(CliReplay, ABadStepIsReproducedNamedAndItsCureHoldsToTheEnd) {
    EXPECT_THAT(s_words, HasSubstr("mantissa replay " + s_run.filename().string()));
    const auto outcome = s_home->run({"replay", s_run.filename().string(), "--runs-dir", s_home->runs().string(), "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json report = outcome.json();
    ASSERT_TRUE(report.is_object()) << outcome.out;
    // The object of design §5.
    for (const char* key : {"run_dir", "step", "reproduced", "producer", "variants", "verdict"}) EXPECT_TRUE(report.contains(key)) << key;
    EXPECT_EQ(report["run_dir"], s_run.string());
    EXPECT_EQ(report["state"], "done");
    EXPECT_EQ(report["reproduced"], "bits");
    EXPECT_GE(report["step"], 30);
    EXPECT_LE(report["step"], 280);
    const Json& producer = report["producer"];
    EXPECT_EQ(producer["module"], "gate");
    EXPECT_EQ(producer["op"], "mul");
    EXPECT_EQ(producer["phase"], "forward");
    EXPECT_EQ(producer["operands"].size(), 2u);
    EXPECT_GT(producer["result"]["pos_inf"].get<int>() + producer["result"]["neg_inf"].get<int>(), 0);
    for (const Json& operand : producer["operands"]) EXPECT_EQ(operand["pos_inf"], 0) << "born there: its operands are finite";
    for (const char* id : {"as_was", "no", "scale_1", "bf16", "island", "previous_batch", "half_rate"}) {
        const Json& one = variant(report, id);
        EXPECT_EQ(one["state"], "done") << one.dump();
        for (const char* key : {"change", "this_step", "later"}) EXPECT_TRUE(one.contains(key)) << key;
    }
    EXPECT_EQ(variant(report, "as_was")["this_step_finite"], false);
    EXPECT_EQ(variant(report, "scale_1")["this_step_finite"], false) << "the loss scale doesn't act on the forward pass";
    for (const char* id : {"no", "bf16", "island"}) {
        EXPECT_EQ(variant(report, id)["this_step"], "finite") << id;
        EXPECT_EQ(variant(report, id)["later"], "holds") << id;
        EXPECT_EQ(variant(report, id)["later_steps"], 20) << id;
    }
    EXPECT_EQ(report["best"], "island");
    EXPECT_EQ(report["verdict"]["code"], "activation_overflow");
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("The same bits as recorded; the first bad value was born in gate.mul."), HasSubstr("--run-control runs it first")));

    const auto applied = s_home->run({"replay", s_run.string(), "--apply"});
    EXPECT_EQ(applied.code, 0) << applied.err;
    EXPECT_THAT(applied.err, HasSubstr("was replayed before: its report is taken"));
    const Json child = s_home->run({"runs", "show", "last", "--json"}).json();
    EXPECT_EQ(child["state"], "finished");
    EXPECT_EQ(child["steps"], 300);
    EXPECT_EQ(child["nonfinite_loss_steps"], 0);
    EXPECT_EQ(child["resumed"]["run"], s_run.string());
    EXPECT_EQ(child["resumed"]["step"], report["step"]);
    EXPECT_EQ(child["plan"]["plan"]["fp32_islands"].size(), 1u);
    EXPECT_THAT(s_home->run({"runs", "show", "last"}).out, HasSubstr("fix of " + s_run.filename().string() + ": island gate"));
}

TEST_F(CliReplay, ACopiedFolderIsEnoughAndSaysWhatItKeeps) {
    const Home elsewhere;
    const fs::path copy = elsewhere.path() / "copied run";
    fs::copy(s_run, copy, fs::copy_options::recursive);
    fs::remove(copy / "lock");
    const auto outcome = elsewhere.run({"replay", copy.string(), "--variants", "no", "--later", "3"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("the same bits as recorded"), HasSubstr("gate.mul"), HasSubstr("holds for 3")));
    const Json shown = elsewhere.run({"runs", "show", copy.string(), "--json"}).json();
    ASSERT_EQ(shown["incidents"].size(), 1u);
    EXPECT_EQ(shown["incidents"][0]["place"], "gate.mul");
    EXPECT_GT(shown["incidents"][0]["bytes"], 1000);
    EXPECT_THAT(elsewhere.run({"runs", "show", copy.string()}).out, HasSubstr("mantissa runs delete-states"));
    const Json freed = elsewhere.run({"runs", "delete-states", copy.string(), "--json"}).json();
    EXPECT_EQ(freed["bytes"], shown["incidents"][0]["bytes"]);
    EXPECT_EQ(elsewhere.run({"runs", "show", copy.string(), "--json"}).json()["incidents"][0]["bytes"], 0);
}

TEST_F(CliReplay, BadInputIsASentence) {
    const Home home;
    const fs::path copy = home.path() / "run";
    fs::copy(s_run, copy, fs::copy_options::recursive);
    const auto refused = [&](std::vector<std::string> more, int code) {
        more.insert(more.begin(), "replay");
        const auto outcome = home.run(more);
        EXPECT_EQ(outcome.code, code) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        return outcome.err;
    };
    EXPECT_THAT(refused({"no-such-run"}, 6), HasSubstr("there is no run \"no-such-run\""));
    EXPECT_THAT(refused({copy.string(), "--step", "5000"}, 2), HasSubstr("--step is 5000, the run recorded the steps 0 to "));
    EXPECT_THAT(refused({copy.string(), "--variants", "bf61"}, 2), HasSubstr("did you mean bf16"));
    EXPECT_THAT(refused({copy.string(), "--what-if", "training.batch_size=7"}, 2), HasSubstr("training.batch_size is 7"));
    EXPECT_THAT(refused({copy.string(), "--what-if", "training.bach=7"}, 2), HasSubstr("training.bach"));
    EXPECT_THAT(refused({copy.string(), "--change", "no"}, 2), HasSubstr("--change belongs to --apply"));
    for (const auto& entry : fs::directory_iterator(copy / "incidents")) std::ofstream(entry.path() / "incident.json") << "{\"step\": [";
    EXPECT_THAT(refused({copy.string()}, 6), AllOf(HasSubstr("incident.json"), HasSubstr("remove it")));
    ASSERT_EQ(home.run({"train", "digits-mlp", "--cpu", "--max-steps", "4"}).code, 0);
    EXPECT_THAT(refused({"last"}, 2), AllOf(HasSubstr("has no non-finite step: all 4 recorded steps are finite"), HasSubstr("--what-if")));
}

TEST_F(CliReplay, AHealthyStepIsAskedWhatIfAndGoneOnWith) {
    const Home home;
    ASSERT_EQ(home.run({"train", "digits-mlp", "--cpu", "--max-steps", "12", "--mixed_precision", "bf16", "--set", "checkpoint.at_end=false"}).code, 0);
    const std::vector<std::string> asked{"replay", "last", "--step", "6", "--later", "4", "--what-if", "training.optimizer.learning_rate=1e-5", "--json"};
    const auto outcome = home.run(asked);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json report = outcome.json();
    EXPECT_EQ(report["reproduced"], "bits");
    EXPECT_EQ(report["is_what_if"], true);
    ASSERT_EQ(report["variants"].size(), 2u);
    EXPECT_EQ(variant(report, "custom")["change"], "custom training.optimizer.learning_rate=1e-5");
    EXPECT_EQ(variant(report, "custom")["loss"], variant(report, "as_was")["loss"]) << "the loss of the step is from before its update";
    EXPECT_NE(variant(report, "custom")["later_loss"], variant(report, "as_was")["later_loss"]);
    std::vector<std::string> apply = asked;
    apply.push_back("--apply");
    const Json applied = home.run(apply).json();
    EXPECT_EQ(applied["applied"]["steps"], 12);
    EXPECT_EQ(applied["applied"]["resumed"]["step"], 6);
}

/// Processes of a replay that work for this home.
int children_of_replays(const Home& home) {
    int count = 0;
    const auto of_home = test::processes_with(home.path().string());
    for (const pid_t pid : test::processes_with("replay-step")) count += std::count(of_home.begin(), of_home.end(), pid) > 0 ? 1 : 0;
    return count;
}

TEST_F(CliReplay, CtrlCKeepsWhatIsDoneAndTheNextReplayMayBegin) {
    Home home;
    fs::create_directories(home.path() / "tmp");
    home.variables["TMPDIR"] = (home.path() / "tmp").string();
    const fs::path copy = home.path() / "run";
    fs::copy(s_run, copy, fs::copy_options::recursive);
    Started program(home, {"replay", copy.string()});
    const auto report = [&]() -> Json {
        for (const auto& entry : fs::directory_iterator(copy / "incidents")) {
            std::ifstream file(entry.path() / "replay.json");
            return Json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
        }
        return {};
    };
    ASSERT_TRUE(eventually(patience, [&] {
        const Json now = report();
        return now.is_object() && !now["reproduced"].is_null() && now["state"] == "running" && now["variants"].size() > 1 &&
               now["variants"][1]["state"] == "running";
    }));
    const auto second = home.run({"replay", copy.string()});
    EXPECT_EQ(second.code, 6);
    EXPECT_THAT(second.err, HasSubstr("another replay works on step"));
    program.send(SIGINT);
    const auto ended = program.wait(patience);
    EXPECT_EQ(ended.code, 130) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("interrupted: "), HasSubstr(" of 7 variants are done, and kept in " + copy.string())));
    EXPECT_THAT(ended.out, HasSubstr("not tried"));
    EXPECT_EQ(report()["state"], "stopped");
    EXPECT_EQ(report()["variants"][0]["state"], "done");
    EXPECT_EQ(children_of_replays(home), 0) << "what computed ends with it";
    EXPECT_TRUE(fs::is_empty(home.path() / "tmp")) << "no folder of requests and answers stays";

    // A terminal that is closed ends it in order as well.
    Started orphan(home, {"replay", copy.string(), "--variants", "bf16"});
    ASSERT_TRUE(eventually(patience, [&] { return report()["state"] == "running"; }));
    orphan.send(SIGHUP);
    EXPECT_EQ(orphan.wait(patience).code, 130);
    EXPECT_NE(report()["state"], "running");
    EXPECT_TRUE(fs::is_empty(home.path() / "tmp"));

    // Before anything is known, the earlier replay is worth more than "stopped".
    const Json before = report();
    Started early(home, {"replay", copy.string()});
    ASSERT_TRUE(eventually(patience, [&] { return report()["state"] == "running"; }));
    early.send(SIGINT);
    const auto early_end = early.wait(patience);
    EXPECT_EQ(early_end.code, 130) << early_end.err;
    if (early_end.out.empty()) {  // it was fast enough
        EXPECT_THAT(early_end.err, HasSubstr("interrupted before step"));
        EXPECT_EQ(report(), before);
    }
}

TEST_F(CliReplay, ABundleIsOneFileThatReplaysWithoutItsRun) {
    Home home;
    fs::create_directories(home.path() / "tmp");
    home.variables["TMPDIR"] = (home.path() / "tmp").string();
    const fs::path copy = home.path() / "sent run";
    const fs::path file = home.path() / "step.zip";
    fs::copy(s_run, copy, fs::copy_options::recursive);
    const std::vector<std::string> quick{"--variants", "no", "--later", "2"};
    const auto replay = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "replay");
        words.insert(words.end(), quick.begin(), quick.end());
        return home.run(words);
    };
    // What is wrong with the name is said before anything is computed.
    EXPECT_EQ(replay({copy.string(), "--bundle", (home.path() / "step.tar").string()}).code, 2);
    const auto made = replay({copy.string(), "--bundle", file.string()});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.err, HasSubstr("bundle: " + file.string()));
    const auto twice = replay({copy.string(), "--bundle", file.string()});
    EXPECT_EQ(twice.code, 2);
    EXPECT_THAT(twice.err, HasSubstr("is there already"));
    fs::remove_all(copy);

    const auto again = replay({file.string(), "--json"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.json()["reproduced"], "bits") << again.err;
    EXPECT_THAT(again.err, HasSubstr("mantissa runs unpack " + file.string()));
    EXPECT_TRUE(fs::is_empty(home.path() / "tmp"));
    const auto apply = home.run({"replay", file.string(), "--apply"});
    EXPECT_EQ(apply.code, 2);
    EXPECT_THAT(apply.err, HasSubstr("make a run of it first: mantissa runs unpack"));
    EXPECT_EQ(home.run({"runs", "show", file.string(), "--json"}).json()["incidents"].size(), 1u);

    const auto unpacked = home.run({"runs", "unpack", file.string()});
    ASSERT_EQ(unpacked.code, 0) << unpacked.err;
    EXPECT_EQ(unpacked.out, (home.runs() / "sent run").string() + "\n");
    EXPECT_EQ(home.run({"runs", "list", "--json"}).json()["runs"].size(), 1u);
    EXPECT_THAT(home.run({"replay", "sent run", "--variants", "no,scale_1", "--later", "2"}).out, HasSubstr("mantissa replay 'sent run' --step "));
    EXPECT_EQ(home.run({"runs", "unpack", file.string()}).code, 6);
    std::ofstream(home.path() / "bad.zip") << "PK\x03\x04 but no archive";
    const auto bad = home.run({"replay", (home.path() / "bad.zip").string()});
    EXPECT_EQ(bad.code, 6);
    EXPECT_THAT(bad.err, HasSubstr("is no whole .zip file"));
}

TEST_F(CliReplay, SpeaksChineseInItsTablesToo) {
    const Home home;
    const fs::path copy = home.path() / "run";
    fs::copy(s_run, copy, fs::copy_options::recursive);
    const auto outcome = home.run({"replay", copy.string(), "--lang", "zh"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("与记录逐位一致"), HasSubstr("改动"), HasSubstr("原样（fp16）"), HasSubstr("20 步有效"), HasSubstr("操作数"), HasSubstr("前向"), HasSubstr("仅让 gate.mul 保持 fp32 不够")));
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("尚无对照"), HasSubstr("首个异常值产生于 gate.mul")));
    for (const char* english : {"this step", "holds", "finite", "operands", "forward", "born", "To apply"}) EXPECT_EQ(outcome.out.find(english), std::string::npos) << english;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 260u) << line;
}

TEST_F(CliReplay, AnEarlierReplayAndDeletedStatesAreNoHindrance) {
    const Home home;
    const fs::path copy = home.path() / "run";
    fs::copy(s_run, copy, fs::copy_options::recursive);
    ASSERT_EQ(home.run({"runs", "delete-states", copy.string()}).code, 0);
    const Json first = home.run({"replay", copy.string(), "--later", "2", "--json"}).json();
    EXPECT_EQ(first["reproduced"], "bits") << "from the seed";
    // One more question keeps what is known.
    const Json second = home.run({"replay", copy.string(), "--later", "2", "--what-if", "training.clip_grad_norm=1", "--json"}).json();
    EXPECT_EQ(second["variants"].size(), first["variants"].size() + 1);
    EXPECT_EQ(second["verdict"]["code"], first["verdict"]["code"]);
    EXPECT_EQ(variant(second, "custom")["state"], "done");
    fs::remove(copy / "run.db");
    const auto damaged = home.run({"replay", copy.string()});
    EXPECT_EQ(damaged.code, 6);
    EXPECT_THAT(damaged.err, HasSubstr("run.db"));
}

}  // namespace
}  // namespace mantissa::system_test
