// Repetitions and rounding replicas of the control in the real program: what differs between them is what should, and the result says it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "program.h"

namespace mantissa::system_test {
namespace {

using testing::HasSubstr;
using nlohmann::json;

json environment_of(const json& run) {
    std::ifstream file(run["run_dir"].get<std::string>() + "/environment.json");
    return json::parse(file);
}

TEST(CliRepetitions, ChangeTheOrderAloneAndRoundingTheWeightsAlone) {
    const Home home;
    const auto outcome = home.run({"compare", "digits-mlp", "--cpu", "--modes", "no,bf16", "--max-steps", "90", "--repetitions", "2",
                                   "--rounding-replicas", "1", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json result = outcome.json();
    ASSERT_TRUE(result.is_object()) << outcome.out;
    ASSERT_EQ(result["runs"].size(), 2u) << "replicas are no modes";
    ASSERT_EQ(result["replicas"].size(), 3u);
    EXPECT_EQ(result["fair"], true);
    const json control = environment_of(result["runs"][0])["hashes"];
    std::set<std::string> orders{control["sample_order"].get<std::string>()};
    for (const json& replica : result["replicas"]) {
        EXPECT_EQ(replica["state"], "finished");
        EXPECT_EQ(replica["steps"], 90);
        const json hashes = environment_of(replica)["hashes"];
        const bool is_rounding = replica["role"] == "rounding";
        EXPECT_EQ(hashes["initial_state"] == control["initial_state"], !is_rounding);
        EXPECT_EQ(hashes["sample_order"] == control["sample_order"], is_rounding);
        if (!is_rounding) orders.insert(hashes["sample_order"].get<std::string>());
        // One last bit may be gone from the loss by then: this training doesn't part.
        if (!is_rounding) {
            EXPECT_NE(replica["final_loss"], result["runs"][0]["final_loss"]);
        }
        EXPECT_NEAR(replica["first_loss"].get<double>(), result["runs"][0]["first_loss"].get<double>(), is_rounding ? 1e-4 : 1.0);
    }
    EXPECT_EQ(orders.size(), 3u);
    ASSERT_EQ(result["bands"].size(), 2u);
    EXPECT_THAT(result["bands"][0].get<std::string>(), HasSubstr("2 of 2 ended; with `no` they span"));
    EXPECT_THAT(result["bands"][1].get<std::string>(), HasSubstr("never used for a verdict"));
    EXPECT_EQ(result["decision"]["confidence"], "medium");
    bool compared = false;
    for (const json& verdict : result["verdicts"]) compared |= verdict["values"].contains("runs");
    EXPECT_TRUE(compared) << outcome.out;
    // The table says it too.
    const auto shown = home.run({"runs", "show", result["folder"].get<std::string>()});
    EXPECT_THAT(shown.out, HasSubstr("Repetitions of `no` in another batch order"));
}

}  // namespace
}  // namespace mantissa::system_test
