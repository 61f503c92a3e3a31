// The place among ranks by a launcher's variables: what each launcher sets, what is missing, and who is believed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "plan/rank_environment.h"

namespace mantissa {
namespace {

using Variables = std::map<std::string, std::string>;

Result<std::optional<LaunchedRank>> read(const Variables& variables) {
    return read_rank_environment([&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

std::string refusal(const Variables& variables) {
    const auto result = read(variables);
    return result ? "accepted" : result.error().message;
}

Variables without(Variables variables, const std::string& name) {
    variables.erase(name);
    return variables;
}

Variables with(Variables variables, const std::string& name, const std::string& value) {
    variables[name] = value;
    return variables;
}

const Variables torchrun{{"RANK", "3"},           {"WORLD_SIZE", "8"},        {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"},
                         {"TORCHELASTIC_RESTART_COUNT", "2"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Variables slurm{{"SLURM_PROCID", "5"},      {"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_LOCALID", "1"}, {"SLURM_JOB_ID", "200505"},
                      {"SLURM_STEP_ID", "0"},     {"SLURM_STEP_NODELIST", "gnode[10,20-22]"}};
const Variables mpi{{"OMPI_COMM_WORLD_RANK", "1"},       {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}, {"PMIX_NAMESPACE", "1234567"}};

TEST(RankEnvironment, NoLauncherIsOneProcess) {
    const auto none = read({{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}, {"PATH", "/bin"}});
    ASSERT_TRUE(none.ok());
    EXPECT_FALSE(none->has_value());
}

TEST(RankEnvironment, Torchrun) {
    const auto found = read(torchrun);
    ASSERT_TRUE(found.ok() && found->has_value());
    const RankPlace& place = (*found)->place;
    EXPECT_EQ(place.rank, 3);
    EXPECT_EQ(place.size, 8);
    EXPECT_EQ(place.local_rank, 1);
    EXPECT_EQ(place.host, "node1");
    EXPECT_EQ(place.port, 29500);
    EXPECT_TRUE(place.is_host_elsewhere);
    EXPECT_EQ(place.prefix, "mantissa/attempt_2");
    EXPECT_EQ((*found)->told(), "rank 3 of 8 by torchrun, met at node1:29500");
    // Without an agent the main process keeps the meeting point.
    EXPECT_FALSE((*read(without(torchrun, "TORCHELASTIC_USE_AGENT_STORE")))->place.is_host_elsewhere);
}

TEST(RankEnvironment, TorchrunHalfSetNamesWhatIsMissing) {
    for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}) {
        EXPECT_EQ(refusal(without(torchrun, name)), std::string("torchrun's variables are half set: ") + name + " is missing");
        EXPECT_EQ(refusal(with(torchrun, name, "")), std::string("torchrun's variables are half set: ") + name + " is missing");
    }
    EXPECT_EQ(read({{"RANK", "0"}}).error().code, ErrorCode::BadPlan);
}

TEST(RankEnvironment, NumbersThatCannotBeAreRefused) {
    EXPECT_EQ(refusal(with(torchrun, "RANK", "8")), "RANK is 8, but WORLD_SIZE is 8");
    EXPECT_EQ(refusal(with(torchrun, "RANK", "7")), "accepted");
    for (const char* bad : {"-1", "x", "1.5", "99999999999999999999"})
        EXPECT_THAT(refusal(with(torchrun, "RANK", bad)), testing::StartsWith(std::string("RANK is \"") + bad + "\": torchrun's variable"));
    EXPECT_THAT(refusal(with(torchrun, "MASTER_PORT", "65536")), testing::HasSubstr("from 0 to 65535"));
    EXPECT_EQ(refusal(with(torchrun, "MASTER_PORT", "65535")), "accepted");
}

TEST(RankEnvironment, SlurmsStep) {
    const auto found = read(slurm);
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ((*found)->place.rank, 5);
    EXPECT_EQ((*found)->place.size, 6);
    EXPECT_EQ((*found)->place.local_rank, 1);
    EXPECT_EQ((*found)->place.host, "gnode10");
    EXPECT_GE((*found)->place.port, 20000);
    EXPECT_LT((*found)->place.port, 40000);
    // The same for all ranks of a job, another one for another job.
    EXPECT_EQ((*found)->place.port, (*read(with(slurm, "SLURM_PROCID", "0")))->place.port);
    EXPECT_NE((*found)->place.port, (*read(with(slurm, "SLURM_JOB_ID", "200506")))->place.port);
    const auto told = read(with(with(slurm, "MASTER_ADDR", "head"), "MASTER_PORT", "4000"));
    EXPECT_EQ((*told)->told(), "rank 5 of 6 by Slurm, met at head:4000");
}

TEST(RankEnvironment, ABatchScriptOfSlurmIsNoRank) {
    // What sbatch sets for the script itself: it would wait for three others that nobody starts.
    const auto none = read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_LOCALID", "0"}, {"SLURM_JOB_ID", "7"}});
    ASSERT_TRUE(none.ok());
    EXPECT_FALSE(none->has_value());
}

TEST(RankEnvironment, SlurmHalfSetNamesWhatIsMissing) {
    EXPECT_EQ(refusal(without(slurm, "SLURM_PROCID")), "Slurm's variables are half set: SLURM_PROCID is missing");
    EXPECT_EQ(refusal(without(slurm, "SLURM_LOCALID")), "Slurm's variables are half set: SLURM_LOCALID is missing");
    EXPECT_EQ(refusal(without(slurm, "SLURM_JOB_ID")), "Slurm's variables are half set: SLURM_JOB_ID (or MASTER_PORT) is missing");
    EXPECT_EQ(refusal(without(slurm, "SLURM_STEP_NODELIST")),
              "Slurm's variables are half set: SLURM_STEP_NODELIST (or MASTER_ADDR) is missing");
}

TEST(RankEnvironment, OpenMpiOnOneMachine) {
    const auto found = read(mpi);
    ASSERT_TRUE(found.ok() && found->has_value());
    EXPECT_EQ((*found)->place.rank, 1);
    EXPECT_EQ((*found)->place.size, 2);
    EXPECT_EQ((*found)->place.host, "127.0.0.1");
    EXPECT_EQ((*found)->place.port, (*read(with(mpi, "OMPI_COMM_WORLD_RANK", "0")))->place.port);
    EXPECT_EQ(refusal(without(mpi, "PMIX_NAMESPACE")), "Open MPI's variables are half set: MASTER_PORT is missing");
    EXPECT_EQ(refusal(without(mpi, "OMPI_COMM_WORLD_SIZE")), "Open MPI's variables are half set: OMPI_COMM_WORLD_SIZE is missing");
}

TEST(RankEnvironment, OpenMpiOnSeveralMachinesWantsAHost) {
    const Variables spread = with(with(mpi, "OMPI_COMM_WORLD_SIZE", "4"), "OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    EXPECT_EQ(refusal(spread), "mpirun starts processes on several machines and MASTER_ADDR is missing");
    EXPECT_EQ((*read(with(spread, "MASTER_ADDR", "node1")))->place.host, "node1");
}

TEST(RankEnvironment, TorchrunIsBelievedBeforeSlurmBeforeOpenMpi) {
    Variables all = torchrun;
    all.insert(slurm.begin(), slurm.end());
    all.insert(mpi.begin(), mpi.end());
    EXPECT_EQ((*read(all))->told(), "rank 3 of 8 by torchrun, met at node1:29500 (overrules Slurm, Open MPI)");
    Variables two = slurm;
    two.insert(mpi.begin(), mpi.end());
    EXPECT_EQ((*read(two))->launcher, RankLauncher::Slurm);
    EXPECT_EQ((*read(two))->overruled, "Open MPI");
}

TEST(RankEnvironment, FirstNodeOfAList) {
    EXPECT_EQ(first_node(""), "");
    EXPECT_EQ(first_node("a"), "a");
    EXPECT_EQ(first_node("a,b"), "a");
    EXPECT_EQ(first_node("node[01-03,07],other"), "node01");
    EXPECT_EQ(first_node("a,node[1-3]"), "a");
    EXPECT_EQ(first_node("node[7]"), "node7");
    EXPECT_EQ(first_node("rack[1-2]-ib,x"), "rack1-ib");
    EXPECT_EQ(first_node("broken[1"), "");
}

}  // namespace
}  // namespace mantissa
