// Several processes train one run: the numbers of one process with the doubled batch, one decision on skips, control, and what is said
// when one of them dies.
#include <gmock/gmock.h>
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>

#include "base/files.h"
#include "program.h"
#include "tests/support/processes.h"

namespace mantissa::system_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::chrono::seconds patience{120};

std::vector<std::string> two_ranks(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"train", "--cpu", "--json", "--num_processes", "2"});
    return arguments;
}

Json trained(const Home& home, const std::vector<std::string>& arguments) {
    const auto outcome = home.run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json();
}

Json steps_of(const Home& home, const Json& run) {
    return Json::parse(home.run({"export", run["run_dir"].get<std::string>(), "--format", "json"}).out);
}

/// Rows of a query, one text a row, columns with blanks between.
std::vector<std::string> query(const fs::path& file, const std::string& sql) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, sqlite3_close);
    if (code != SQLITE_OK) throw std::runtime_error("can't open " + file.string());
    std::vector<std::string> rows;
    const auto add = [](void* to, int count, char** values, char**) {
        std::string row;
        for (int i = 0; i < count; ++i) row += std::string(i == 0 ? "" : " ") + (values[i] == nullptr ? "-" : values[i]);
        static_cast<std::vector<std::string>*>(to)->push_back(row);
        return 0;
    };
    if (sqlite3_exec(database.get(), sql.c_str(), add, &rows, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database.get()));
    return rows;
}

fs::path folder_of(const Json& run) { return run["run_dir"].get<std::string>(); }

class CliRanks : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Modes, CliRanks, testing::Values("no", "fp16", "bf16"), [](const auto& one) { return one.param; });

// One epoch of 1,437 digits is 22 whole steps of 64 and one of 29, of which rank 1 has none; then the next epoch begins. The plain mlp has
// no statistics of a batch, so halves add up to the whole.
TEST_P(CliRanks, two_ranks_give_the_losses_of_one_process_with_the_doubled_batch) {
    const std::string mode = GetParam();
    const Home home;
    const Json two = trained(home, two_ranks({"digits-mlp", "--mixed_precision", mode, "--max-steps", "25", "--set", "training.batch_size=32",
                                              "--no_even_batches"}));
    const Json one = trained(home, {"train", "digits-mlp", "--cpu", "--json", "--mixed_precision", mode, "--max-steps", "25", "--set",
                                    "training.batch_size=64"});
    const Json ours = steps_of(home, two), expected = steps_of(home, one);
    ASSERT_EQ(ours.size(), 25U);
    ASSERT_EQ(expected.size(), 25U);
    const double gap = mode == "no" ? 1e-5 : mode == "fp16" ? 5e-3 : 3e-2;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(ours[i]["loss"].get<double>(), expected[i]["loss"].get<double>(), gap) << "step " << i;
        EXPECT_EQ(ours[i]["samples"], i == 22 ? 29 : 64);
        EXPECT_EQ(ours[i]["learning_rate"], expected[i]["learning_rate"]);
    }
    EXPECT_LT(ours[24]["loss"].get<double>(), 0.95 * ours[0]["loss"].get<double>());  // it does learn
    EXPECT_NEAR(two["metric"].get<double>(), one["metric"].get<double>(), mode == "no" ? 1e-9 : 0.02);
    // Each rank has its own record: half of the samples, and losses whose mean is the run's.
    const auto main_losses = query(folder_of(two) / "run.db", "SELECT loss FROM steps ORDER BY step");
    const auto other = query(folder_of(two) / "rank-1.db", "SELECT loss, samples FROM steps ORDER BY step");
    ASSERT_EQ(other.size(), 25U);
    EXPECT_THAT(other[0], testing::EndsWith(" 32"));
    EXPECT_THAT(other[22], testing::EndsWith(" 0"));
    EXPECT_NE(std::strtod(other[0].c_str(), nullptr), std::strtod(main_losses[0].c_str(), nullptr));
    EXPECT_EQ(query(folder_of(two) / "rank-1.db", "SELECT value FROM meta WHERE key IN ('rank', 'ranks') ORDER BY key"),
              (std::vector<std::string>{"1", "2"}));
}

// digits-cnn has batch norm: its statistics are over both halves of the batch.
TEST(CliRanks, batch_norm_is_that_of_the_whole_batch) {
    const Home home;
    auto two = two_ranks({"digits-cnn", "--mixed_precision", "no", "--max-steps", "8", "--set", "training.batch_size=32"});
    auto apart = two;
    apart.insert(apart.end(), {"--set", "launch.sync_batch_norm=false"});
    const Json whole = trained(home, {"train", "digits-cnn", "--cpu", "--json", "--mixed_precision", "no", "--max-steps", "8", "--set",
                                      "training.batch_size=64"});
    const Json expected = steps_of(home, whole), ours = steps_of(home, trained(home, two)), others = steps_of(home, trained(home, apart));
    ASSERT_EQ(ours.size(), 8U);
    for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(ours[i]["loss"].get<double>(), expected[i]["loss"].get<double>(), 1e-5) << "step " << i;
    }
    EXPECT_GT(std::fabs(others[0]["loss"].get<double>() - expected[0]["loss"].get<double>()), 1e-3);
}

// A scale far too high, and growing every third step: skips all along.
TEST(CliRanks, skips_are_the_same_on_both_ranks_at_every_step) {
    const Home home;
    const Json run = trained(home, two_ranks({"digits-mlp", "--mixed_precision", "fp16", "--max-steps", "80", "--set",
                                              "loss_scale.initial=16777216", "--set", "loss_scale.growth_interval=3"}));
    const char* decisions = "SELECT step, skipped, loss_scale, growth_tracker, applied_step FROM steps ORDER BY step";
    const auto ours = query(folder_of(run) / "run.db", decisions), other = query(folder_of(run) / "rank-1.db", decisions);
    EXPECT_EQ(ours.size(), 80U);
    EXPECT_EQ(ours, other);
    EXPECT_GE(run["skipped_steps"].get<int>(), 15);
    EXPECT_LE(run["skipped_steps"].get<int>(), 70);
    const std::string folder = run["run_dir"];
    const Json ranks = home.run({"runs", "show", folder, "--json"}).json()["ranks"];
    EXPECT_EQ(ranks["count"], 2);
    EXPECT_EQ(ranks["compared_steps"], 80);
    EXPECT_EQ(ranks["skipped"], run["skipped_steps"]);
    EXPECT_TRUE(ranks["first_other_decision"].is_null()) << ranks.dump(1);
    EXPECT_EQ(ranks["others"][0]["samples"], 80 * 32);  // an epoch's last round is filled up
    EXPECT_THAT(home.run({"runs", "show", folder}).out, HasSubstr("2 ranks: the same decision on all ranks at each of 80 steps"));
    const Json exported = Json::parse(home.run({"export", folder, "--rank", "1", "--format", "json"}).out);
    ASSERT_EQ(exported.size(), 80U);
    EXPECT_EQ(exported[3]["samples"], 32);
    const auto refused = home.run({"export", folder, "--rank", "2"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("has no record of rank 2"));
}

TEST(CliRanks, a_comparison_runs_each_mode_on_all_ranks_one_by_one) {
    const Home home;
    const auto outcome = home.run({"compare", "digits-mlp", "--cpu", "--json", "--num_processes", "2", "--max-steps", "30"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json result = outcome.json();
    EXPECT_EQ(result["order"], "one-by-one");
    EXPECT_EQ(result["fair"], true) << result.dump(1);
    for (const auto& run : result["runs"]) {
        EXPECT_EQ(run["state"], "finished");
        EXPECT_EQ(query(folder_of(run) / "rank-1.db", "SELECT count(*) FROM steps"), std::vector<std::string>{"30"});
    }
}

/// The value of MANTISSA_RANK in a process's environment.
std::string rank_of(pid_t pid) {
    const Result<std::string> read = read_file("/proc/" + std::to_string(pid) + "/environ");
    if (!read) return "";  // gone meanwhile
    const std::string& all = *read;
    const std::string name = "MANTISSA_RANK=";
    for (std::size_t at = 0; at < all.size(); at = all.find('\0', at) + 1) {
        if (all.compare(at, name.size(), name) == 0) return all.substr(at + name.size(), all.find('\0', at) - at - name.size());
        if (all.find('\0', at) == std::string::npos) break;
    }
    return "";
}

std::vector<pid_t> workers(const Home& home) { return test::processes_with(std::string("worker") + '\0' + home.runs().string()); }

pid_t worker_of_rank(const Home& home, const std::string& rank) {
    for (const pid_t pid : workers(home)) {
        if (rank_of(pid) == rank) return pid;
    }
    return -1;
}

const std::vector<std::string> endless = two_ranks({"digits-cnn", "--max-steps", "500000"});

TEST(CliRanks, a_killed_rank_is_named_and_nothing_is_left_behind) {
    for (const std::string rank : {"1", "0"}) {
        const Home home;
        Started program(home, endless);
        ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 15; }));
        const pid_t worker = worker_of_rank(home, rank);
        ASSERT_GT(worker, 0);
        ASSERT_EQ(::kill(worker, SIGKILL), 0);
        const auto outcome = program.wait(patience);
        EXPECT_EQ(outcome.code, 5) << outcome.err;
        const Json run = outcome.json();
        EXPECT_EQ(run["state"], "lost");
        const std::string reason = run["state_reason"];
        EXPECT_THAT(reason, StartsWith("rank " + rank + " was killed by SIGKILL at step "));
        EXPECT_THAT(reason, HasSubstr("the other ranks were ended"));
        EXPECT_TRUE(workers(home).empty());
    }
}

// Stands for a call that never comes back: the other one waits, and its time is over.
TEST(CliRanks, a_rank_that_hangs_ends_the_run_when_the_groups_time_is_over) {
    const Home home;
    std::vector<std::string> arguments = endless;
    arguments.insert(arguments.end(), {"--group-timeout", "4"});
    Started program(home, arguments);
    ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 15; }));
    const pid_t worker = worker_of_rank(home, "1");
    ASSERT_GT(worker, 0);
    ASSERT_EQ(::kill(worker, SIGSTOP), 0);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 5) << outcome.err;
    EXPECT_THAT(outcome.json()["state_reason"].get<std::string>(), HasSubstr("another process ended, or didn't come"));
    EXPECT_TRUE(workers(home).empty());
}

TEST(CliRanks, pause_step_resume_and_stop_act_on_all) {
    const Home home;
    Started program(home, endless);
    ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 15; }));
    const auto state = [&] { return home.run({"runs", "list", "--json"}).json()["runs"][0]["state"]; };
    const auto steps_of_rank_1 = [&] {
        return std::stol(query(home.run_folders().front() / "rank-1.db", "SELECT count(*) FROM steps").front());
    };
    ASSERT_EQ(home.run({"runs", "control", "last", "pause"}).code, 0);
    ASSERT_TRUE(eventually(patience, [&] { return state() == "paused"; }));
    const long held = recorded_steps(home);
    ASSERT_TRUE(eventually(patience, [&] { return steps_of_rank_1() == held; }));
    ASSERT_EQ(home.run({"runs", "control", "last", "step"}).code, 0);
    EXPECT_TRUE(eventually(patience, [&] { return recorded_steps(home) == held + 1 && steps_of_rank_1() == held + 1; }));
    ASSERT_EQ(home.run({"runs", "control", "last", "checkpoint"}).code, 0);
    ASSERT_EQ(home.run({"runs", "control", "last", "resume"}).code, 0);
    EXPECT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= held + 15; }));
    ASSERT_EQ(home.run({"runs", "control", "last", "stop"}).code, 0);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["state"], "stopped");
    EXPECT_TRUE(workers(home).empty());
    const Json saved = home.run({"runs", "checkpoints", "last", "--json"}).json()["runs"][0];
    EXPECT_GE(saved["checkpoints"].size(), 2U) << saved.dump(1);
}

TEST(CliRanks, ctrl_c_ends_all) {
    const Home home;
    Started program(home, endless);
    ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 15; }));
    program.send(SIGINT);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    EXPECT_EQ(outcome.json()["state"], "interrupted");
    EXPECT_TRUE(workers(home).empty());
}

TEST(CliRanks, a_run_of_two_goes_on_from_its_checkpoint_to_the_same_losses) {
    const Home home;
    const auto plan = [](std::initializer_list<std::string> more) {
        std::vector<std::string> arguments{"digits-mlp", "--mixed_precision", "fp16"};
        arguments.insert(arguments.end(), more);
        return two_ranks(arguments);
    };
    const Json whole = trained(home, plan({"--max-steps", "40", "--name", "whole"}));
    const Json first = trained(home, plan({"--max-steps", "17", "--name", "first"}));
    const Json rest = trained(home, {"train", "--resume-from", first["run_dir"].get<std::string>(), "--max-steps", "40", "--json"});
    EXPECT_EQ(rest["steps"], 40);
    const char* losses = "SELECT step, loss, loss_scale FROM steps WHERE step >= 17 ORDER BY step";
    for (const char* file : {"run.db", "rank-1.db"}) {
        EXPECT_EQ(query(folder_of(rest) / file, losses), query(folder_of(whole) / file, losses)) << file;
    }
}

// --- a launch that somebody else made: exactly the variables of torchrun, of srun's step and of mpirun

/// A port of this machine that was free a moment ago.
int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::runtime_error("no free port");
    }
    ::close(socket);
    return ntohs(address.sin_port);
}

using Variables = std::map<std::string, std::string>;

Variables of_torchrun(int rank, int port) {
    return {{"RANK", std::to_string(rank)},       {"WORLD_SIZE", "2"},           {"LOCAL_RANK", std::to_string(rank)},
            {"LOCAL_WORLD_SIZE", "2"},            {"MASTER_ADDR", "127.0.0.1"},  {"MASTER_PORT", std::to_string(port)},
            {"GROUP_RANK", "0"},                  {"ROLE_RANK", std::to_string(rank)}, {"TORCHELASTIC_RESTART_COUNT", "0"}};
}
Variables of_slurm(int rank, int port) {
    return {{"SLURM_PROCID", std::to_string(rank)}, {"SLURM_LOCALID", std::to_string(rank)}, {"SLURM_STEP_NUM_TASKS", "2"},
            {"SLURM_NTASKS", "2"},                  {"SLURM_JOB_ID", "4711"},                {"SLURM_STEP_ID", "0"},
            {"SLURM_STEP_NODELIST", "localhost"},   {"MASTER_PORT", std::to_string(port)}};
}
Variables of_open_mpi(int rank, int port) {
    return {{"OMPI_COMM_WORLD_RANK", std::to_string(rank)}, {"OMPI_COMM_WORLD_SIZE", "2"},
            {"OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(rank)}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
            {"MASTER_PORT", std::to_string(port)}};
}

struct Pair {
    Outcome main, other;
};
Pair launched(Home& home, Variables (*variables)(int, int), const std::vector<std::string>& arguments) {
    const int port = free_port();
    home.variables = variables(1, port);
    Started other(home, arguments);
    home.variables = variables(0, port);
    Started main(home, arguments);
    home.variables.clear();
    Pair pair;
    pair.main = main.wait(patience);
    pair.other = other.wait(patience);
    return pair;
}

TEST(CliJoin, two_processes_of_a_launch_train_what_two_local_ranks_train) {
    const std::vector<std::string> plan{"digits-mlp", "--mixed_precision", "fp16", "--max-steps", "20"};
    Home home;
    const Json local = trained(home, two_ranks(plan));
    const auto losses = query(folder_of(local) / "run.db", "SELECT step, loss, loss_scale FROM steps ORDER BY step");
    std::vector<std::string> arguments{"train", "--cpu", "--json"};
    arguments.insert(arguments.end(), plan.begin(), plan.end());
    for (const auto variables : {of_torchrun, of_slurm, of_open_mpi}) {
        const Pair pair = launched(home, variables, arguments);
        EXPECT_EQ(pair.main.code, 0) << pair.main.err;
        EXPECT_EQ(pair.other.code, 0) << pair.other.err;
        EXPECT_TRUE(pair.other.out.empty()) << pair.other.out;  // rank 0 says what there is to say
        EXPECT_THAT(pair.main.err, HasSubstr("rank 0 of 2 by "));
        const Json run = pair.main.json();
        ASSERT_TRUE(run.is_object()) << pair.main.out;
        EXPECT_EQ(run["state"], "finished");
        EXPECT_EQ(query(folder_of(run) / "run.db", "SELECT step, loss, loss_scale FROM steps ORDER BY step"), losses);
        EXPECT_EQ(query(folder_of(run) / "rank-1.db", "SELECT count(*) FROM steps"), std::vector<std::string>{"20"});
    }
    EXPECT_EQ(home.run_folders().size(), 4U);  // one folder a launch
}

TEST(CliJoin, what_rank_0_refuses_ends_all_with_its_sentence) {
    Home home;
    const Pair pair = launched(home, of_torchrun, {"train", "digits-mlp", "--cpu", "--runs-dir", "/proc/no/runs"});
    EXPECT_NE(pair.main.code, 0);
    EXPECT_EQ(pair.other.code, pair.main.code) << pair.other.err;
    EXPECT_THAT(pair.other.err, HasSubstr("rank 0: "));
    EXPECT_THAT(pair.other.err, HasSubstr("/proc/no"));
    EXPECT_TRUE(home.run_folders().empty());
}

TEST(CliJoin, a_rank_that_is_killed_is_missed_by_the_other) {
    Home home;
    const int port = free_port();
    const std::vector<std::string> arguments{"train", "digits-cnn", "--cpu", "--json", "--max-steps", "500000"};
    home.variables = of_torchrun(1, port);
    Started other(home, arguments);
    home.variables = of_torchrun(0, port);
    Started main(home, arguments);
    home.variables.clear();
    ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 15; }));
    other.send(SIGKILL);
    const auto outcome = main.wait(patience);
    EXPECT_EQ(outcome.code, 5) << outcome.err;
    EXPECT_EQ(outcome.json()["state"], "failed");
    EXPECT_THAT(outcome.json()["state_reason"].get<std::string>(), HasSubstr("another process ended"));
}

TEST(CliJoin, half_set_variables_and_other_scopes) {
    Home home;
    home.variables = {{"RANK", "0"}, {"WORLD_SIZE", "2"}};
    const auto refused = home.run({"train", "digits-mlp", "--cpu"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("torchrun's variables are half set: LOCAL_RANK is missing"));
    // A flag is stronger than a launcher.
    const auto alone = home.run({"train", "digits-mlp", "--cpu", "--json", "--max-steps", "5", "--scope", "process"});
    EXPECT_EQ(alone.code, 0) << alone.err;
    home.variables = of_torchrun(0, 29500);
    const auto compared = home.run({"compare", "digits-mlp", "--cpu", "--scope", "process", "--max-steps", "5", "--json"});
    EXPECT_EQ(compared.code, 0) << compared.err;
}

}  // namespace
}  // namespace mantissa::system_test
