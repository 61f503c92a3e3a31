// Runs that are saved and go on, through the command line alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "program.h"

namespace mantissa::system_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::chrono::seconds patience{120};

std::string bytes_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> training(std::initializer_list<std::string> more) {
    std::vector<std::string> arguments{"train", "digits-mlp", "--cpu", "--json"};
    arguments.insert(arguments.end(), more);
    return arguments;
}

Json trained(const Home& home, const std::vector<std::string>& arguments) {
    const auto outcome = home.run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.json();
}

Json checkpoints_of(const Home& home, const Json& run) {
    return home.run({"runs", "checkpoints", run["run_dir"], "--json"}).json()["runs"][0];
}

Json steps_of(const Home& home, const Json& run) {
    return Json::parse(home.run({"export", run["run_dir"], "--format", "json"}).out);
}

/// Every value that isn't a time or a size of memory.
Json numbers_of(Json step) {
    for (const char* key : {"time_ns", "data_ns", "step_ns", "memory_bytes", "memory_peak_bytes", "host_memory_bytes"})
        step.erase(key);
    return step;
}

TEST(CliCheckpoints, ARunGoesOnInAFreshProcessToTheSameBits) {
    for (const std::string mode : {"no", "fp16", "bf16"}) {
        const Home home;
        const Json whole = trained(home, training({"--max-steps", "60", "--mixed_precision", mode, "--checkpoint-every", "25",
                                                   "--set", "checkpoint.keep=9", "--name", "whole"}));
        const Json first = trained(home, training({"--max-steps", "33", "--mixed_precision", mode, "--name", "first"}));
        const Json rest = trained(home, {"train", "--resume-from", first["run_dir"], "--max-steps", "60", "--json"});
        EXPECT_EQ(rest["steps"], 60);
        EXPECT_EQ(rest["resumed"]["step"], 33);
        EXPECT_EQ(rest["resumed"]["run"], first["run_dir"]);
        EXPECT_EQ(rest["mode"], mode);
        const Json expected = steps_of(home, whole), cut = steps_of(home, rest);
        ASSERT_EQ(expected.size(), 60u);
        ASSERT_EQ(cut.size(), 27u);
        for (std::size_t i = 0; i < cut.size(); ++i) EXPECT_EQ(numbers_of(cut[i]), numbers_of(expected[33 + i]));
        EXPECT_EQ(rest["metric"], whole["metric"]);
        const Json saved = checkpoints_of(home, whole)["checkpoints"];
        ASSERT_EQ(saved.size(), 3u);
        EXPECT_EQ(saved[0]["step"], 60);
        EXPECT_EQ(saved[2]["step"], 25);
        for (const auto& [run, name] : {std::pair{whole, "a.safetensors"}, {rest, "b.safetensors"}})
            EXPECT_EQ(home.run({"export", run["run_dir"], "--weights", (home.path() / name).string()}).code, 0);
        EXPECT_EQ(bytes_of(home.path() / "a.safetensors"), bytes_of(home.path() / "b.safetensors"));
    }
}

TEST(CliCheckpoints, AnotherModeSaysWhatBecomesOfTheLossScale) {
    const Home home;
    const Json first = trained(home, training({"--max-steps", "12", "--mixed_precision", "fp16", "--name", "half"}));
    const auto rest = home.run({"train", "--resume-from", "last", "--max-steps", "20", "--mixed-precision", "no"});
    EXPECT_EQ(rest.code, 0) << rest.err;
    const std::string sentence =
        "Saved in fp16, goes on in no, which has no loss scale: the saved one (2^16) and its growth tracker are dropped.";
    EXPECT_THAT(rest.out, HasSubstr(sentence));
    EXPECT_THAT(rest.err, HasSubstr(sentence));
    EXPECT_THAT(rest.err, HasSubstr("mixed_precision no (flag --mixed_precision) overrules fp16 (checkpoint "));
    const auto shown = home.run({"runs", "show", "last", "--json"}).json();
    EXPECT_EQ(shown["resumed"]["loss_scale"], "dropped");
    EXPECT_EQ(shown["resumed"]["mode"], "fp16");
    EXPECT_EQ(shown["saved"]["checkpoints"].size(), 1u);
    EXPECT_GT(shown["saved"]["bytes"], 1000);
    EXPECT_THAT(home.run({"runs", "show", "last"}).out, HasSubstr(sentence));
    EXPECT_THAT(home.run({"runs", "show", "last"}).out, HasSubstr("1 checkpoint ("));
    EXPECT_THAT(bytes_of(fs::path(shown["run_dir"].get<std::string>()) / "report.html"), HasSubstr(sentence));
    EXPECT_THAT(home.run({"runs", "show", "last", "--lang", "zh"}).out, HasSubstr("不再使用"));
}

TEST(CliCheckpoints, WhatCantGoOnIsASentenceAndLeavesNoRun) {
    const Home home;
    const Json first = trained(home, training({"--max-steps", "6", "--name", "short"}));
    const auto refusal = [&](std::vector<std::string> arguments, int code) {
        arguments.insert(arguments.begin(), {"train", "--resume-from", first["run_dir"].get<std::string>()});
        const auto outcome = home.run(arguments);
        EXPECT_EQ(outcome.code, code) << outcome.err;
        EXPECT_EQ(home.run_folders().size(), 1u);
        return outcome.err;
    };
    EXPECT_THAT(refusal({}, 2), HasSubstr("nothing is left to do: the plan has 6 steps, and the checkpoint was saved after 6"));
    EXPECT_THAT(refusal({"--max-steps", "9", "--batch-size", "64"}, 2),
                HasSubstr("training.batch_size is 64, the checkpoint was saved with 32"));
    EXPECT_THAT(refusal({"digits-cnn", "--max-steps", "9"}, 2), HasSubstr("model.name is cnn"));
    EXPECT_THAT(home.run({"train", "--resume-from", "gone", "--max-steps", "9"}).err, HasSubstr("--resume-from: there is no run \"gone\""));
    EXPECT_THAT(home.run({"compare", "digits-mlp", "--cpu", "--set", "checkpoint.resume_from=" + first["run_dir"].get<std::string>()}).err,
                HasSubstr("a comparison is fair only when"));
    EXPECT_THAT(home.run({"train"}).err, HasSubstr("PLAN is required"));
    // Damaged: the one before is offered; here there is none.
    const fs::path checkpoint = checkpoints_of(home, first)["checkpoints"][0]["path"].get<std::string>();
    fs::resize_file(checkpoint / "model.safetensors", 100);
    const auto damaged = refusal({"--max-steps", "9"}, 6);
    EXPECT_THAT(damaged, HasSubstr("model.safetensors has 100 bytes instead of"));
    EXPECT_THAT(home.run({"runs", "checkpoints", "last"}).out, HasSubstr("is damaged"));
    EXPECT_EQ(home.run({"export", "last", "--weights", (home.path() / "w.safetensors").string()}).code, 6);
    EXPECT_FALSE(fs::exists(home.path() / "w.safetensors"));
}

TEST(CliCheckpoints, ARunningRunSavesOnCommandAndOnSigtermAndGoesOn) {
    const Home home;
    Started program(home, training({"--max-steps", "500000", "--name", "long"}));
    ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 5; }));
    const auto saved = home.run({"runs", "control", "last", "checkpoint"});
    ASSERT_EQ(saved.code, 0) << saved.err;
    const fs::path folder = saved.out.substr(0, saved.out.find('\n'));
    EXPECT_TRUE(fs::exists(folder / "state.json")) << saved.out;
    EXPECT_TRUE(fs::exists(folder / "plan.json"));
    ASSERT_EQ(home.run({"runs", "control", "last", "pause"}).code, 0);
    ASSERT_TRUE(eventually(patience, [&] { return home.run({"runs", "list", "--json"}).json()["runs"][0]["state"] == "paused"; }));
    const auto again = home.run({"runs", "control", "last", "checkpoint", "--json"}).json();
    ASSERT_EQ(again["saved"].size(), 1u);
    EXPECT_NE(again["saved"][0]["checkpoint"], folder.string());
    program.send(SIGTERM);
    const auto ended = program.wait(patience);
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto run = ended.json();
    EXPECT_EQ(run["state"], "stopped");
    const Json checkpoints = checkpoints_of(home, run)["checkpoints"];
    ASSERT_FALSE(checkpoints.empty());
    EXPECT_EQ(checkpoints[0]["step"], run["steps"]);
    const long more = run["steps"].get<long>() + 5;
    const Json rest = trained(home, {"train", "--resume-from", run["run_dir"], "--max-steps", std::to_string(more), "--json"});
    EXPECT_EQ(rest["steps"], more);
    EXPECT_EQ(home.run({"runs", "control", "last", "checkpoint"}).code, 6) << "nobody is there any more";
}

TEST(CliCheckpoints, WeightsAreThoseOfTheNumberAskedFor) {
    const Home home;
    const Json run = trained(home, training({"--max-steps", "20", "--checkpoint-every", "10", "--name", "two"}));
    const std::string newest = (home.path() / "newest.safetensors").string(), older = (home.path() / "older.safetensors").string();
    EXPECT_EQ(home.run({"export", "last", "--weights", newest}).code, 0);
    EXPECT_EQ(home.run({"export", "last", "--weights", older, "--checkpoint", "10"}).code, 0);
    const Json saved = checkpoints_of(home, run)["checkpoints"];
    ASSERT_EQ(saved.size(), 2u);
    EXPECT_EQ(bytes_of(newest), bytes_of(fs::path(saved[0]["path"].get<std::string>()) / "model.safetensors"));
    EXPECT_EQ(bytes_of(older), bytes_of(fs::path(saved[1]["path"].get<std::string>()) / "model.safetensors"));
    EXPECT_NE(bytes_of(newest), bytes_of(older));
    const auto taken = home.run({"export", "last", "--weights", newest});
    EXPECT_EQ(taken.code, 2);
    EXPECT_THAT(taken.err, HasSubstr("is there already"));
    const auto wrong = home.run({"export", "last", "--weights", (home.path() / "c").string(), "--checkpoint", "15"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("there are: 20, 10"));
}

}  // namespace
}  // namespace mantissa::system_test
