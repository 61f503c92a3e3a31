// Control in all scopes, and launches that somebody else made: their lines, and what is said when one of their processes dies.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "launch/job_script.h"
#include "ranks_support.h"

namespace mantissa::system_test {
namespace {

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
struct Pair {
    Outcome main, other;
};
Pair launched(Home& home, const std::vector<std::string>& arguments) {
    const int port = free_port();
    home.variables = of_torchrun(1, port);
    Started other(home, arguments);
    home.variables = of_torchrun(0, port);
    Started main(home, arguments);
    home.variables.clear();
    Pair pair;
    pair.main = main.wait(patience);
    pair.other = other.wait(patience);
    return pair;
}

TEST(Launch, processes_of_a_plan_that_want_a_gpu_each_are_refused_without_any) {
    Home home;
    home.variables["CUDA_VISIBLE_DEVICES"] = "";
    const auto refused = home.run({"launch", "--multi_gpu", "--num_processes", "2", "digits-mlp", "--max-steps", "1"});
    EXPECT_EQ(refused.code, 3) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("which can't be used here"));
    EXPECT_TRUE(home.run_folders().empty());
}

TEST(Launch, a_plan_on_two_machines_is_one_run_with_the_numbers_of_two_ranks) {
    Home home;
    const std::string port = std::to_string(free_port());
    const auto on_machine = [&](const char* number) {
        return std::vector<std::string>{"launch",     "--cpu", "--num_machines", "2",    "--num_processes",     "2",  "--machine_rank", number,
                                        "--main_process_ip", "127.0.0.1", "--main_process_port", port, "digits-cnn", "--max-steps", "12", "--json"};
    };
    Started second(home, on_machine("1"));
    Started first(home, on_machine("0"));
    const Outcome main = first.wait(patience), other = second.wait(patience);
    ASSERT_EQ(main.code, 0) << main.err;
    ASSERT_EQ(other.code, 0) << other.err;
    EXPECT_THAT(main.err, HasSubstr("2 processes on 2 machines, ranks 0 to 0 here, met at 127.0.0.1:" + port));
    EXPECT_THAT(other.err, HasSubstr("ranks 1 to 1 here"));
    EXPECT_EQ(other.out, "");
    ASSERT_EQ(home.run_folders().size(), 1U);
    const Json joined = steps_of(home, main.json());
    const Json ranks = steps_of(home, trained(home, two_ranks({"digits-cnn", "--max-steps", "12"})));
    ASSERT_EQ(joined.size(), 12U);
    ASSERT_EQ(ranks.size(), 12U);
    for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(joined[i]["loss"], ranks[i]["loss"]) << "step " << i;
}

// --- control, the same in all scopes: by the record's own account each command is obeyed before the next step

/// A run that goes on: one program, or the two of a launch.
struct Going {
    std::unique_ptr<Started> main, other;
};

Going start_in(Home& home, const std::string& scope) {
    std::vector<std::string> words{"train", "digits-mlp", "--cpu", "--json", "--max-steps", "500000"};
    Going going;
    if (scope == "join") {
        const int port = free_port();
        home.variables = of_torchrun(1, port);
        going.other = std::make_unique<Started>(home, words);
        home.variables = of_torchrun(0, port);
        going.main = std::make_unique<Started>(home, words);
        home.variables.clear();
        return going;
    }
    if (scope == "ranks")
        words.insert(words.end(), {"--num_processes", "2"});
    else
        words.insert(words.end(), {"--scope", scope});
    going.main = std::make_unique<Started>(home, words);
    return going;
}

/// The number behind `words` in a sentence; -1: it isn't there.
long number_after(const std::string& sentence, const std::string& words) {
    const auto at = sentence.find(words);
    return at == std::string::npos ? -1 : std::strtol(sentence.c_str() + at + words.size(), nullptr, 10);
}

class Control : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Scopes, Control, testing::Values("thread", "process", "ranks", "join"), [](const auto& one) { return one.param; });

TEST_P(Control, each_command_is_obeyed_before_the_next_step) {
    Home home;
    const Going going = start_in(home, GetParam());
    ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 15; }));
    const fs::path run = home.run_folders().front();
    const auto last_state = [&] { return query(run / "run.db", "SELECT state, reason FROM states ORDER BY rowid DESC LIMIT 1").front(); };
    const auto steps = [&] { return std::stol(query(run / "run.db", "SELECT max(step) + 1 FROM steps").front()); };
    const auto control = [&](const char* command) {
        const auto done = home.run({"runs", "control", "last", command});
        EXPECT_EQ(done.code, 0) << command << ": " << done.err;
        return done.out;
    };
    control("pause");
    ASSERT_TRUE(eventually(patience, [&] { return last_state().starts_with("paused"); }));
    const long held = steps();
    EXPECT_EQ(number_after(last_state(), "asked for in step "), held - 1) << last_state();
    control("step");
    ASSERT_TRUE(eventually(patience, [&] { return steps() == held + 1 && last_state().starts_with("paused"); }));
    EXPECT_THAT(last_state(), HasSubstr("one step was asked for"));
    // Of a run that waits, at the step where it stands.
    EXPECT_THAT(control("checkpoint"), HasSubstr("checkpoint_" + std::to_string(held + 1)));
    control("resume");
    ASSERT_TRUE(eventually(patience, [&] { return steps() > held + 15; }));
    // Slurm's warning, to the process that a launcher started last, and the command.
    if (GetParam() == "join" || GetParam() == "process")
        (going.other ? *going.other : *going.main).send(SIGUSR1);
    else
        control("stop");
    const auto outcome = going.main->wait(patience);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    if (going.other) {
        EXPECT_EQ(going.other->wait(patience).code, 0);
    }
    // Who was asked tells in which step: in scope join it was rank 1.
    const auto reason = query(run / (GetParam() == "join" ? "rank-1.db" : "run.db"), "SELECT reason FROM states ORDER BY rowid DESC LIMIT 1").front();
    const long ended = number_after(reason, "stopped before step "), asked = number_after(reason, "asked for in step ");
    EXPECT_EQ(asked, ended - 1) << reason;
    EXPECT_EQ(steps(), ended);
    EXPECT_TRUE(fs::is_directory(run / "checkpoints" / ("checkpoint_" + std::to_string(ended))));  // saved before it ended
    EXPECT_TRUE(workers(home).empty());
}

TEST_P(Control, abort_ends_it_at_once_and_what_is_recorded_stays) {
    Home home;
    const Going going = start_in(home, GetParam());
    ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 15; }));
    ASSERT_EQ(home.run({"runs", "control", "last", "abort"}).code, 0);
    const auto outcome = going.main->wait(patience);
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    if (going.other) {
        EXPECT_EQ(going.other->wait(patience).code, 5);
    }
    const Json run = home.run({"runs", "list", "--json"}).json()["runs"][0];
    EXPECT_EQ(run["state"], "interrupted");
    EXPECT_THAT(run["state_reason"].get<std::string>(), StartsWith("aborted at step "));
    EXPECT_GE(run["steps"].get<int>(), 15);
    EXPECT_TRUE(workers(home).empty());
}

// Launchers that do what the real ones do with the words of our lines: they start the processes with their variables. An unknown word is refused.
constexpr const char* fake_torchrun = R"(#!/bin/bash
n=0
while [[ "$1" == --* ]]; do case "$1" in
  --no-python|--standalone) shift;; --nproc-per-node) n=$2; shift 2;; *) echo "torchrun: $1?" >&2; exit 2;;
esac; done
for ((r = n - 1; r >= 0; --r)); do
  RANK=$r WORLD_SIZE=$n LOCAL_RANK=$r LOCAL_WORLD_SIZE=$n MASTER_ADDR=127.0.0.1 MASTER_PORT=$FAKE_PORT "$@" & last=$!
done
wait $last)";
constexpr const char* fake_sbatch = R"(#!/bin/bash
export SLURM_JOB_ID=4711
for word in $(sed -n 's/^#SBATCH //p' "$1"); do case "$word" in
  --ntasks-per-node=*) export FAKE_TASKS="${word#*=}";; --job-name=*|--nodes=1|--cpus-per-task=1|--time=*|--signal=USR1@60) ;;
  *) echo "sbatch: $word?" >&2; exit 2;;
esac; done
exec bash "$1")";
constexpr const char* fake_srun = R"(#!/bin/bash
for ((r = FAKE_TASKS - 1; r >= 0; --r)); do
  SLURM_PROCID=$r SLURM_LOCALID=$r SLURM_STEP_NUM_TASKS=$FAKE_TASKS SLURM_NTASKS=$FAKE_TASKS SLURM_STEP_ID=0 \
  SLURM_STEP_NODELIST=localhost MASTER_PORT=$FAKE_PORT "$@" & last=$!
done
wait $last)";
constexpr const char* fake_mpirun = R"(#!/bin/bash
while [[ "$1" == -* ]]; do case "$1" in
  -n) n=$2; shift 2;; -x) export "$2"; shift 2;; *) echo "mpirun: $1?" >&2; exit 2;;
esac; done
for ((r = n - 1; r >= 0; --r)); do
  OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_SIZE=$n OMPI_COMM_WORLD_LOCAL_RANK=$r OMPI_COMM_WORLD_LOCAL_SIZE=$n MASTER_PORT=$FAKE_PORT "$@" & last=$!
done
wait $last)";

// The lines that the window shows, pasted into a shell, with places that need quotes.
TEST(CliJoin, pasted_lines_train_what_two_local_ranks_train) {
    const char* losses = "SELECT step, loss, loss_scale FROM steps ORDER BY step";
    Home home;
    const Json local = trained(home, two_ranks({"digits-mlp", "--mixed_precision", "fp16", "--max-steps", "20"}));
    const auto expected = query(folder_of(local) / "run.db", losses);
    Json plan = Json::parse(*read_file(folder_of(local) / "plan.json"));
    plan["plan"]["launch"] = {{"scope", "join"}, {"processes", 1}};
    JobScript script;
    script.program = MANTISSA_PROGRAM_FILE;
    script.plan = home.write("my plans/it's $HOME.json", plan.dump());
    script.runs = home.path() / "runs of a launch";
    script.name = "digits mlp";
    for (const auto& [name, text] : {std::pair{"torchrun", fake_torchrun}, {"sbatch", fake_sbatch}, {"srun", fake_srun}, {"mpirun", fake_mpirun}})
        fs::permissions(home.write(std::string("bin/") + name, text), fs::perms::owner_all);
    home.variables["PATH"] = (home.path() / "bin").string() + ":" + std::getenv("PATH");
    home.program = "/bin/bash";
    std::size_t launches = 0;
    for (const auto launcher : {RankLauncher::Torchrun, RankLauncher::Slurm, RankLauncher::OpenMpi}) {
        SCOPED_TRACE(to_string(launcher));
        home.variables["FAKE_PORT"] = std::to_string(free_port());
        const fs::path pasted = home.write("pasted.sh", job_script(launcher, script));
        const auto outcome = launcher == RankLauncher::Slurm ? home.run({"-c", "sbatch " + pasted.string()}) : home.run({pasted.string()});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_THAT(outcome.err, HasSubstr("rank 0 of 2 by "));
        std::vector<fs::path> runs;
        for (const auto& entry : fs::directory_iterator(script.runs)) runs.push_back(entry.path());
        ASSERT_EQ(runs.size(), ++launches) << outcome.err;  // one folder a launch
        const fs::path newest = *std::max_element(runs.begin(), runs.end(), [](const fs::path& a, const fs::path& b) { return fs::last_write_time(a / "plan.json") < fs::last_write_time(b / "plan.json"); });
        EXPECT_EQ(query(newest / "run.db", losses), expected);
        EXPECT_EQ(query(newest / "rank-1.db", "SELECT count(*) FROM steps"), std::vector<std::string>{"20"});
    }
}

TEST(CliJoin, what_rank_0_refuses_ends_all_with_its_sentence) {
    Home home;
    const Pair pair = launched(home, {"train", "digits-mlp", "--cpu", "--runs-dir", "/proc/no/runs"});
    EXPECT_NE(pair.main.code, 0);
    EXPECT_EQ(pair.other.code, pair.main.code) << pair.other.err;
    EXPECT_THAT(pair.other.err, HasSubstr("rank 0: "));
    EXPECT_THAT(pair.other.err, HasSubstr("/proc/no"));
    EXPECT_TRUE(home.run_folders().empty());
}

// Processes that are nobody's children here: the kernel frees the lock of the one that dies, and its last step stands in the folder.
TEST(CliJoin, a_rank_that_is_killed_is_named_with_its_last_step) {
    for (const std::string victim : {"1", "0"}) {
        Home home;
        const Going going = start_in(home, "join");
        ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 15; }));
        (victim == "0" ? *going.main : *going.other).send(SIGKILL);
        const auto outcome = (victim == "0" ? *going.other : *going.main).wait(patience);
        EXPECT_EQ(outcome.code, 5) << outcome.err;
        // Rank 0 says it in the run's record; when it is the one that is gone, any reader says it, and the others on their terminal.
        const Json run = home.run({"runs", "list", "--json"}).json()["runs"][0];
        EXPECT_EQ(run["state"], victim == "0" ? "lost" : "failed");
        const std::string reason = run["state_reason"];
        EXPECT_THAT(reason, StartsWith("rank " + victim + " vanished at step "));
        EXPECT_GE(number_after(reason, "vanished at step "), 14);
        if (victim == "0") {
            EXPECT_THAT(outcome.err, HasSubstr("mantissa: rank 1: rank 0 vanished at step "));
        }
    }
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
