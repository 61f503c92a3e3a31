// Several processes train one run: the numbers of one process with the doubled batch, one decision on skips, and what is said when one of
// them dies.
#include <cmath>
#include <cstdlib>

#include "ranks_support.h"

namespace mantissa::system_test {
namespace {

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
    EXPECT_GT(std::fabs(others[0]["loss"].get<double>() - expected[0]["loss"].get<double>()), 1e-4);
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

// With this seed it is rank 1 that meets it (on a machine with AVX2 or AVX-512).
TEST(CliRanks, a_birth_is_told_in_the_runs_record_with_its_rank) {
    const Home home;
    const auto outcome = home.run(two_ranks({"gated-overflow", "--mixed_precision", "fp16", "--seed", "6", "--max-steps", "300"}));
    EXPECT_EQ(outcome.code, 4) << outcome.err;
    const Json run = outcome.json();
    const auto rows = query(folder_of(run) / "run.db", "SELECT step, kind, json_extract(detail, '$.rank') FROM incidents");
    ASSERT_EQ(rows.size(), 1U);
    const std::string rank = rows[0].substr(rows[0].size() - 1), step = rows[0].substr(0, rows[0].find(' '));
    EXPECT_EQ(rows[0], step + " activation_overflow " + rank);
    EXPECT_THAT(run["state_reason"].get<std::string>(), testing::EndsWith("it was born in gate.mul of rank " + rank));
    const Json incident = home.run({"runs", "show", folder_of(run), "--json"}).json()["incidents"][0];
    EXPECT_EQ(incident["rank"], std::stoi(rank));
    EXPECT_EQ(incident["step"], std::stoi(step));
    EXPECT_EQ(incident["place"], "gate.mul");
    EXPECT_THAT(home.run({"runs", "show", folder_of(run)}).out,
                HasSubstr("incident at step " + step + ": activation_overflow in gate.mul on rank " + rank));
    const auto replayed = home.run({"replay", folder_of(run)});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    EXPECT_THAT(replayed.out, HasSubstr("gate.mul (rank " + rank + ")"));
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

// A process that is stopped: nobody can tell it to go on, and the other one waits for it. Told while it lasts, ended when it is asked for.
TEST(CliRanks, a_rank_that_is_stopped_is_told_by_its_name_and_the_run_can_be_ended) {
    Home home;
    home.variables["MANTISSA_STALL_MS"] = "2000";
    Started program(home, endless);
    ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 15; }));
    const pid_t worker = worker_of_rank(home, "1");
    ASSERT_GT(worker, 0);
    ASSERT_EQ(::kill(worker, SIGSTOP), 0);
    Json shown;
    ASSERT_TRUE(eventually(patience, [&] { return (shown = home.run({"runs", "show", "last", "--json"}).json()).contains("stalls"); }));
    EXPECT_EQ(shown["state"].is_null() ? shown["runs"][0]["state"] : shown["state"], "running");
    EXPECT_GE(shown["stalls"][0]["seconds"].get<int>(), 2);
    EXPECT_THAT(shown["stalls"][0]["text"].get<std::string>(), HasSubstr("rank 1 gives no sign of life"));
    ASSERT_EQ(home.run({"runs", "control", "last", "stop"}).code, 0);
    const auto outcome = program.wait(patience);
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    EXPECT_EQ(outcome.json()["state"], "interrupted");
    EXPECT_THAT(outcome.json()["state_reason"].get<std::string>(), StartsWith("stopped: no progress for "));
    EXPECT_THAT(outcome.err, HasSubstr("no: no progress for "));
    EXPECT_GE(outcome.json()["steps"].get<int>(), 15);  // what was recorded stays
    EXPECT_TRUE(workers(home).empty());
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
    const std::string reason = outcome.json()["state_reason"];
    EXPECT_THAT(reason, StartsWith("rank 1 gives no sign of life for "));
    EXPECT_THAT(reason, HasSubstr("another process ended, or didn't come"));
    EXPECT_TRUE(workers(home).empty());
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

}  // namespace
}  // namespace mantissa::system_test
