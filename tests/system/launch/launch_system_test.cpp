#include <csignal>
#include <nlohmann/json.hpp>

#include "launch/control_client.h"
#include "launch/run_lookup.h"
#include "program.h"
#include "record/comparison_record.h"
#include "record/rank_life.h"

namespace mantissa::test {

using nlohmann::json;

class LaunchSystem : public ProgramTest {
  protected:
    static const std::vector<std::string>& modes() {
        static const std::vector<std::string> all{"no", "fp16", "bf16"};
        return all;
    }
    /// All three workers have recorded something.
    [[nodiscard]] bool all_train() const {
        for (const auto& mode : modes()) {
            const auto run = run_of(mode);
            if (run.empty() || steps(run) < 3) return false;
        }
        return true;
    }
    void start_endless() {
        start({"compare", "digits-mlp", "--modes", "no,fp16,bf16", "--max-steps", "200000", "--json"});
    }
};

TEST_F(LaunchSystem, a_short_comparison_in_turns_ends_with_equal_beginnings_and_a_decision) {
    start({"compare", "digits-mlp", "--modes", "no,fp16,bf16", "--max-steps", "60", "--json"});
    ASSERT_EQ(wait(), 0) << errors();
    const auto result = json::parse(output(), nullptr, false);
    ASSERT_TRUE(result.is_object()) << output();
    EXPECT_EQ(result["fair"], true) << output();
    EXPECT_EQ(result["order"], "turns");
    ASSERT_EQ(result["runs"].size(), 3U);
    for (const auto& run : result["runs"]) {
        EXPECT_EQ(run["state"], "finished");
        EXPECT_EQ(run["steps"], 60);
        EXPECT_EQ(steps(run["run_dir"].get<std::string>()), 60);
        EXPECT_GT(run["metric"].get<double>(), 0.5);
    }
    EXPECT_FALSE(result["decision"]["text"].get<std::string>().empty());
    // The same weights and the same first batch: in fp32 and bf16 the first loss agrees to bf16's three
    // digits.
    EXPECT_NEAR(result["runs"][0]["first_loss"].get<double>(), result["runs"][2]["first_loss"].get<double>(),
                0.02);
    const auto record = read_comparison(comparison());
    ASSERT_TRUE(record) << describe(record.error());
    EXPECT_EQ(record->state, "finished");
    EXPECT_EQ(record->trials.size(), 3U);
    EXPECT_FALSE(has_supervisor(comparison()));
}

TEST_F(LaunchSystem, ctrl_c_ends_all_runs_clean_and_marks_them_interrupted) {
    start_endless();
    ASSERT_TRUE(soon([&] { return all_train(); })) << errors();
    ::kill(program(), SIGINT);
    EXPECT_EQ(wait(), 130);
    for (const auto& mode : modes()) {
        const auto end = read_run_outcome(run_of(mode));
        ASSERT_TRUE(end);
        EXPECT_EQ(end->state, RunState::Interrupted) << mode;
        const auto all = rows(run_of(mode));
        ASSERT_FALSE(all.steps.empty());
        EXPECT_EQ(all.steps.back().step + 1, static_cast<std::int64_t>(all.steps.size()));
    }
    EXPECT_EQ(read_comparison(comparison())->state, "interrupted");
}

TEST_F(LaunchSystem, the_runs_outlive_the_program_that_started_them_and_obey_another) {
    start_endless();
    ASSERT_TRUE(soon([&] { return all_train(); })) << errors();
    ::kill(program(), SIGKILL);
    EXPECT_EQ(wait(), 128 + SIGKILL);
    const auto job = comparison();
    EXPECT_TRUE(has_supervisor(job));
    const auto before = steps(run_of("no"));
    EXPECT_TRUE(soon([&] { return steps(run_of("no")) > before + 100; }));
    EXPECT_EQ(find_running_jobs(runs()), std::vector{job});
    const auto stopped = send_one_command(job, "stop", "");
    EXPECT_TRUE(stopped) << describe(stopped.error());
    ASSERT_TRUE(soon([&] { return !has_supervisor(job); }));
    for (const auto& mode : modes())
        EXPECT_EQ(read_run_outcome(run_of(mode))->state, RunState::Stopped) << mode;
    const auto record = read_comparison(job);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->state, "stopped");
    EXPECT_TRUE(record->decision);  // judged by the supervisor, though nobody was there any more
}

TEST_F(LaunchSystem, a_killed_worker_is_lost_with_its_signal_and_the_others_go_on) {
    start({"compare", "digits-mlp", "--modes", "no,fp16,bf16", "--max-steps", "3000", "--json"});
    ASSERT_TRUE(soon([&] { return all_train(); })) << errors();
    const auto victim = run_of("fp16");
    ASSERT_EQ(::kill(worker_of(victim), SIGKILL), 0);
    EXPECT_TRUE(within(std::chrono::milliseconds(1000), [&] {
        const auto all = rows(victim);
        return !all.states.empty() && all.states.back().state == RunState::Lost;
    }));
    EXPECT_EQ(wait(), 5);
    const auto life = read_lives(victim).at(0);
    EXPECT_GE(*life.last_step, steps(victim) - 1);
    EXPECT_EQ(read_run_outcome(victim)->reason.rfind("killed by SIGKILL at step " + std::to_string(*life.last_step), 0), 0U)
        << read_run_outcome(victim)->reason;
    for (const char* mode : {"no", "bf16"}) {
        EXPECT_EQ(read_run_outcome(run_of(mode))->state, RunState::Finished);
        EXPECT_EQ(steps(run_of(mode)), 3000);
    }
}

TEST_F(LaunchSystem, a_run_in_the_programs_own_thread) {
    start({"train", "digits-mlp", "--scope", "thread", "--max-steps", "40", "--json"});
    ASSERT_EQ(wait(), 0) << errors();
    const auto result = json::parse(output(), nullptr, false);
    ASSERT_TRUE(result.is_object()) << output();
    EXPECT_EQ(result["steps"], 40);
    EXPECT_EQ(result["state"], "finished");
}

TEST_F(LaunchSystem, a_broken_engine_is_a_sentence) {
    ::setenv("MANTISSA_ENGINE", (folder() / "err").c_str(), 1);  // a text file
    start({"compare", "digits-mlp", "--modes", "no,bf16", "--max-steps", "5"});
    EXPECT_EQ(wait(), 6);
    EXPECT_NE(errors().find("engine module can't be used"), std::string::npos) << errors();
}

}  // namespace mantissa::test
