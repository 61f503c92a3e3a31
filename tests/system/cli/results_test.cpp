// Shapes of results, and that they say what the recordings hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "program.h"

namespace mantissa::system_test {
namespace {

using testing::HasSubstr;

const std::vector<const char*> run_keys{"mode",
                                        "requested",
                                        "effective",
                                        "support",
                                        "device",
                                        "state",
                                        "run_dir",
                                        "steps",
                                        "applied_steps",
                                        "skipped_probing",
                                        "skipped_fault",
                                        "skipped_steps",
                                        "nonfinite_loss_steps",
                                        "first_nonfinite_step",
                                        "final_loss",
                                        "final_scale",
                                        "metric",
                                        "best_metric",
                                        "step_ms_median",
                                        "memory_peak_bytes"};

void expect_run_keys(const nlohmann::json& run) {
    for (const char* key : run_keys) EXPECT_TRUE(run.contains(key)) << key;
}

TEST(CliResults, TrainPrintsOneRunObject) {
    const Home home;
    const auto outcome = home.run({"train", "digits-mlp", "--cpu", "--max-steps", "40", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto run = outcome.json();
    ASSERT_TRUE(run.is_object()) << outcome.out;
    expect_run_keys(run);
    EXPECT_EQ(run["state"], "finished");
    EXPECT_EQ(run["steps"], 40);
    EXPECT_EQ(run["applied_steps"], 40);
    EXPECT_TRUE(run["final_scale"].is_null());
    EXPECT_LT(run["final_loss"].get<double>(), run["first_loss"].get<double>());
    EXPECT_GT(run["metric"].get<double>(), 0.5);
    EXPECT_GT(run["memory_peak_bytes"].get<long>(), 0);
    const std::filesystem::path folder = run["run_dir"].get<std::string>();
    for (const char* file :
         {"plan.json", "environment.json", "run.db", "verdicts.json", "report.html", "worker.log"})
        EXPECT_TRUE(std::filesystem::exists(folder / file)) << file;
    EXPECT_THAT(outcome.err,
                HasSubstr("training.max_steps 40 (flag --max-steps) overrules 4 epochs (preset digits-mlp)"));

    // What was printed is what anybody reads from the folder later.
    const auto shown = home.run({"runs", "show", "last", "--json"}).json();
    ASSERT_TRUE(shown.is_object());
    for (const char* key : run_keys) EXPECT_EQ(shown[key], run[key]) << key;
    EXPECT_EQ(shown["plan"]["plan"]["training"]["max_steps"], 40);
    EXPECT_EQ(shown["plan"]["sources"]["training.max_steps"]["source"], "flag");
    EXPECT_EQ(shown["running"], false);
    EXPECT_EQ(home.run({"runs", "list", "--json"}).json()["runs"].size(), 1u);
    const auto report = home.run({"report", "last", "--output", (home.path() / "r.html").string()});
    EXPECT_EQ(report.code, 0) << report.err;
    EXPECT_EQ(report.out, (home.path() / "r.html").string() + "\n");
    EXPECT_TRUE(std::filesystem::exists(home.path() / "r.html"));
}

TEST(CliResults, TheSamePlanGivesTheSameNumbers) {
    const Home home;
    const auto first = home.run({"train", "article-1", "--cpu", "--json"}).json();
    const auto second = home.run({"train", "article-1", "--cpu", "--json", "--scope", "thread"}).json();
    ASSERT_TRUE(first.is_object() && second.is_object());
    EXPECT_EQ(first["steps"], 24);
    EXPECT_EQ(first["final_loss"], second["final_loss"]);
    EXPECT_NE(first["run_dir"], second["run_dir"]);
}

TEST(CliResults, CompareIsFairAndDecides) {
    const Home home;
    const auto outcome = home.run({"compare", "digits-mlp", "--cpu", "--max-steps", "60", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto comparison = outcome.json();
    ASSERT_TRUE(comparison.is_object()) << outcome.out;
    for (const char* key : {"comparison_id", "fair", "order", "runs", "verdicts", "decision"})
        EXPECT_TRUE(comparison.contains(key)) << key;
    EXPECT_EQ(comparison["fair"], true);
    EXPECT_EQ(comparison["order"], "turns");
    ASSERT_EQ(comparison["runs"].size(), 3u);
    const char* modes[] = {"no", "fp16", "bf16"};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto& run = comparison["runs"][i];
        expect_run_keys(run);
        EXPECT_EQ(run["mode"], modes[i]);
        EXPECT_EQ(run["effective"], modes[i]);
        EXPECT_EQ(run["steps"], 60);
        EXPECT_EQ(run["state"], "finished");
        EXPECT_EQ(run["comparison_id"], comparison["comparison_id"]);
    }
    for (const auto& verdict : comparison["verdicts"])
        for (const char* key : {"code", "severity", "text", "evidence"})
            EXPECT_TRUE(verdict.contains(key)) << key;
    const auto& decision = comparison["decision"];
    ASSERT_TRUE(decision.is_object());
    for (const char* key : {"mode", "reasons", "confidence", "would_change_it"})
        EXPECT_TRUE(decision.contains(key)) << key;
    EXPECT_TRUE(std::filesystem::exists(comparison["report"].get<std::string>()));
    const auto table = home.run({"runs", "show", comparison["comparison_id"]});
    EXPECT_EQ(table.code, 0);
    EXPECT_THAT(table.out, HasSubstr("Decision: "));
    EXPECT_THAT(table.out, HasSubstr("Fair: "));
}

TEST(CliResults, TimesOfRunsAtOnceAreNotCompared) {
    const Home home;
    const auto outcome = home.run(
        {"compare", "digits-mlp", "--cpu", "--max-steps", "20", "--modes", "no,bf16", "--order", "at-once"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("their times are shared"));
    const auto row = outcome.out.substr(outcome.out.find("\nbf16"), outcome.out.find("\nFair"));
    EXPECT_EQ(row.find("×"), row.substr(0, row.find('\n', 1)).rfind("×")) << row;  // that of the memory alone
}

TEST(CliResults, Fp16OverflowsAndTheExitCodeSaysSoWhereAsked) {
    const Home home;
    // By default a run that stops by its own rule is a result, not a failure.
    const auto strict = home.run({"compare", "gated-overflow", "--cpu", "--strict", "--json"});
    EXPECT_EQ(strict.code, 4) << strict.err;
    const auto json = strict.json();
    ASSERT_TRUE(json.is_object());
    const auto& fp16 = json["runs"][1];
    EXPECT_EQ(fp16["state"], "stopped_nonfinite");
    EXPECT_GE(fp16["first_nonfinite_step"].get<long>(), 30);
    EXPECT_LE(fp16["first_nonfinite_step"].get<long>(), 280);
    EXPECT_EQ(fp16["final_loss"], "NaN");
    for (const std::size_t healthy : {0u, 2u}) {
        EXPECT_EQ(json["runs"][healthy]["state"], "finished");
        EXPECT_TRUE(json["runs"][healthy]["first_nonfinite_step"].is_null());
    }
    const auto alone = home.run({"train", "gated-overflow", "--cpu", "--mixed-precision", "fp16", "--json"});
    EXPECT_EQ(alone.code, 4);
    EXPECT_EQ(alone.json()["first_nonfinite_step"], fp16["first_nonfinite_step"]);
}

}  // namespace
}  // namespace mantissa::system_test
