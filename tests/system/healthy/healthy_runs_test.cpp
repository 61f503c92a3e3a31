// No false alarm: healthy runs of every healthy preset, in every mode and with several seeds, give no verdict and no alarm above a note.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "program.h"
#include "record/run_reader.h"

namespace mantissa::system_test {
namespace {

using nlohmann::json;

bool is_quiet(const std::string& severity) { return severity == "ok" || severity == "note"; }

struct Comparison {
    const char* preset;
    const char* seed;
    const char* steps;
};

class HealthyRuns : public testing::TestWithParam<Comparison> {};

TEST_P(HealthyRuns, GiveNothingAboveANote) {
    const Home home;
    const Comparison& one = GetParam();
    const auto outcome = home.run({"compare", one.preset, "--cpu", "--modes", "no,fp16,bf16", "--seed", one.seed, "--max-steps", one.steps,
                                   "--set", "observe.every_steps=10", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json result = outcome.json();
    ASSERT_EQ(result["runs"].size(), 3u);
    for (const json& verdict : result["verdicts"])
        EXPECT_TRUE(is_quiet(verdict["severity"])) << verdict["code"] << ": " << verdict["text"];
    for (const json& run : result["runs"]) {
        EXPECT_EQ(run["state"], "finished");
        EXPECT_EQ(run["steps"], std::stoi(one.steps));
        auto reader = RunReader::open(run["run_dir"].get<std::string>());
        ASSERT_TRUE(reader.ok());
        const auto rows = (*reader)->read_new();
        ASSERT_TRUE(rows.ok());
        EXPECT_FALSE(rows->tensor_stats.empty()) << "nothing was watched";
        for (const AlarmRow& alarm : rows->alarms)
            EXPECT_TRUE(is_quiet(alarm.severity)) << run["mode"] << " step " << alarm.step << " " << alarm.rule << " " << alarm.tensor
                                                  << " " << alarm.value << " (" << alarm.threshold << ")";
        for (const IncidentRow& incident : rows->incidents)
            EXPECT_TRUE(is_quiet(incident.severity)) << run["mode"] << " step " << incident.step << " " << incident.kind;
    }
}

// 7 comparisons of three modes: 21 runs. Steps as each preset needs to leave its start.
INSTANTIATE_TEST_SUITE_P(All, HealthyRuns,
                         testing::Values(Comparison{"digits-mlp", "3", "150"}, Comparison{"digits-mlp", "11", "150"},
                                         Comparison{"digits-cnn", "3", "60"}, Comparison{"digits-cnn", "12", "60"},
                                         Comparison{"article-1", "1", "60"}, Comparison{"article-2", "1", "60"},
                                         Comparison{"article-2", "5", "60"}),
                         [](const auto& one) {
                             std::string name = std::string(one.param.preset) + "_seed_" + one.param.seed;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace mantissa::system_test
