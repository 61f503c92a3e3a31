// Files, folders and disks that let the program down: a sentence, exit code 6, and what was there is still
// there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "program.h"

namespace mantissa::system_test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

TEST(CliBrokenWorld, ARunsFolderThatCanNotBeWritten) {
    const Home home;
    // A file where the folder should be: refused for everybody, root too.
    const auto blocked = home.write("blocked", "not a folder");
    for (const char* verb : {"train", "compare"}) {
        const auto outcome =
            home.run({verb, "article-2", "--cpu", "--runs-dir", (blocked / "runs").string()});
        EXPECT_EQ(outcome.code, 6) << outcome.err;
        EXPECT_EQ(outcome.out, "");
        EXPECT_THAT(outcome.err, HasSubstr((blocked / "runs").string()));
    }
    EXPECT_EQ(fs::file_size(blocked), 12u);
}

TEST(CliBrokenWorld, ADamagedDataSet) {
    const Home home;
    const auto file = home.write("digits.csv", "1,2,3\n1,x,4\n5,6,3\n");
    const auto outcome = home.run({"train", "digits-mlp", "--cpu", "--dataset", file.string(), "--json"});
    EXPECT_EQ(outcome.code, 6);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(file.string() + " line 2, column 2: 'x' is no number"));
    EXPECT_TRUE(home.run_folders().empty());
}

/// A limit on the size of files stands for the disk: it is inherited by supervisor and workers.
Outcome run_with_file_limit(const Home& home, rlim_t bytes, const std::vector<std::string>& arguments) {
    rlimit before{};
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = before;
    small.rlim_cur = bytes;
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    auto outcome = home.run(arguments);
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    return outcome;
}

TEST(CliBrokenWorld, ADiskThatIsFullFromTheStart) {
    const Home home;
    for (const char* verb : {"train", "compare"})
        for (const rlim_t bytes : {4'096, 40'000, 100'000}) {
            const auto outcome = run_with_file_limit(home, bytes, {verb, "article-2", "--cpu"});
            EXPECT_EQ(outcome.code, 6) << verb << ' ' << bytes << outcome.err;
            EXPECT_THAT(outcome.err, HasSubstr("File too large")) << verb << ' ' << bytes;
        }
}

TEST(CliBrokenWorld, AFullDiskEndsTheRunWithASentence) {
    const Home home;
    const auto outcome = run_with_file_limit(
        home, 400'000,
        {"train", "digits-mlp", "--cpu", "--max-steps", "40000", "--set", "evaluation.every=0"});
    EXPECT_EQ(outcome.code, 6) << outcome.err;
    const auto folders = home.run_folders();
    ASSERT_EQ(folders.size(), 1u);
    const auto run = home.run({"runs", "show", "last", "--json"}).json();
    ASSERT_TRUE(run.is_object());
    EXPECT_GT(run["steps"].get<long>(), 100);  // what was committed before is there
}

TEST(CliBrokenWorld, OneDamagedRunHidesNeitherTheOthersNorItsComparison) {
    const Home home;
    ASSERT_EQ(home.run({"compare", "article-2", "--cpu", "--max-steps", "5", "-q"}).code, 0);
    const auto whole = home.run({"runs", "show", "last", "--json"}).json();
    ASSERT_TRUE(whole.is_object());
    EXPECT_TRUE(whole["unreadable_runs"].empty());
    const fs::path damaged = whole["runs"][1]["run_dir"].get<std::string>();
    std::ofstream(damaged / "run.db") << "no database";
    for (const char* log : {"run.db-wal", "run.db-shm"})
        fs::remove(damaged / log);  // else it heals from them
    for (const char* verb : {"list", "show"}) {
        std::vector<std::string> arguments{"runs", verb};
        if (std::string(verb) == "show") arguments.emplace_back("last");
        const auto outcome = home.run(arguments);
        EXPECT_EQ(outcome.code, 0) << verb;
        EXPECT_THAT(outcome.out + outcome.err, HasSubstr((damaged / "run.db").string() + " is damaged"))
            << verb;
        EXPECT_THAT(outcome.out, HasSubstr("finished")) << verb;
    }
    const auto shown = home.run({"runs", "show", "last", "--json"}).json();
    ASSERT_TRUE(shown.is_object());
    EXPECT_EQ(shown["runs"].size(), 2u);
    EXPECT_EQ(shown["unreadable_runs"][0]["run_dir"], damaged.string());
    EXPECT_EQ(home.run({"report", "last"}).code, 0);

    const auto folder = home.runs() / "comparisons";
    fs::create_directories(folder / "20200101-000000-empty");
    std::ofstream(folder / "20200101-000000-empty" / "comparison.json") << "{}";
    fs::create_directories(folder / "20200101-000001-cut");
    std::ofstream(folder / "20200101-000001-cut" / "comparison.json") << R"({"id")";
    for (const char* id : {"20200101-000000-empty", "20200101-000001-cut"}) {
        const auto refused = home.run({"runs", "show", id});
        EXPECT_EQ(refused.code, 6) << id;
        EXPECT_THAT(refused.err, HasSubstr("comparison.json")) << id;
    }
    const auto list = home.run({"runs", "list"});
    EXPECT_EQ(list.code, 0);
    EXPECT_THAT(list.out, HasSubstr("comparison 20200101-000001-cut (unreadable: "));
}

TEST(CliBrokenWorld, TwoProgramsOnOneRunsFolder) {
    const Home home;
    Started first(home, {"train", "article-1", "--cpu", "--json"});
    Started second(home, {"train", "article-1", "--cpu", "--json"});
    const auto one = first.wait(std::chrono::seconds(120)), two = second.wait(std::chrono::seconds(120));
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(two.code, 0) << two.err;
    ASSERT_TRUE(one.json().is_object() && two.json().is_object());
    EXPECT_NE(one.json()["run_dir"], two.json()["run_dir"]);
    EXPECT_EQ(one.json()["final_loss"], two.json()["final_loss"]);
    EXPECT_EQ(home.run({"runs", "list", "--json"}).json()["runs"].size(), 2u);
}

int run_in_shell(const Home& home, const std::string& arguments) {
    const std::string command = "export MANTISSA_RUNS_DIR='" + home.runs().string() + "' HOME='" +
                                home.path().string() + "'; exec " MANTISSA_PROGRAM_FILE " " + arguments;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(CliBrokenWorld, AResultThatCanNotBePrinted) {
    if (!fs::exists("/dev/full")) FAIL() << "this machine has no /dev/full";
    const Home home;
    EXPECT_EQ(run_in_shell(home, "models > /dev/full 2>/dev/null"), 6);
    EXPECT_EQ(run_in_shell(home, "models >&- 2>/dev/null"), 6);
}

TEST(CliBrokenWorld, ClosedStandardStreamsDisturbNoRun) {
    const Home home;  // as under a daemon: the files that a run opens must not take the free numbers
    EXPECT_EQ(run_in_shell(home, "train article-2 --cpu --max-steps 3 <&- >/dev/null 2>&1"), 0);
    EXPECT_EQ(run_in_shell(home, "train article-2 --cpu --max-steps 3 >/dev/null 2>&-"), 0);
    EXPECT_EQ(run_in_shell(home, "train article-2 --cpu --max-steps 3 <&- >&- 2>&-"), 6);  // no result
    const auto list = home.run({"runs", "list", "--json"}).json();
    ASSERT_EQ(list["runs"].size(), 3u);
    for (const auto& run : list["runs"]) EXPECT_EQ(run["state"], "finished");
}

}  // namespace
}  // namespace mantissa::system_test
