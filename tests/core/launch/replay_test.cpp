// The replay of a bad step and its grid, with a fake engine in real processes.
#include "launch/incident_states.h"
#include "replay_fixture.h"

namespace mantissa::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ReplayTest, TheStepIsTheFirstIncidentElseTheFirstBadOne) {
    const fs::path run = make_run("step", 12);
    EXPECT_EQ(find_replay_subject(run, {})->step, 12);
    EXPECT_FALSE(find_replay_subject(run, {})->is_healthy);
    make_incident(run, 7, {});
    EXPECT_EQ(find_replay_subject(run, {})->step, 7);
    EXPECT_EQ(find_replay_subject(run, 12)->step, 12);
    EXPECT_TRUE(find_replay_subject(run, 3)->is_healthy);
}

TEST_F(ReplayTest, WhatCantBeReplayedIsASentence) {
    ReplayOptions options;
    options.step = 13;
    const fs::path run = make_run("refused", 12);
    EXPECT_THAT(refusal(run, options), HasSubstr("--step is 13, the run recorded the steps 0 to 12"));
    options.step = {};
    options.variants = {"bf61"};
    EXPECT_THAT(refusal(run, options), HasSubstr("there is no variant \"bf61\""));
    options.variants = {};
    options.what_if = {"training.batch_size=64"};
    EXPECT_THAT(refusal(run, options), HasSubstr("training.batch_size is 64, the checkpoint was saved with 32"));
    EXPECT_THAT(refusal(make_run("healthy", -1)), HasSubstr("has no non-finite step: all 20 recorded steps are finite"));
    {
        const fs::path running = make_run("young", -1);
        const auto lock = RunLock::take(RunFolder{running});
        EXPECT_THAT(refusal(running), HasSubstr("is running and has no non-finite step so far"));
    }
    EXPECT_THAT(refusal(runs() / "gone", {}, 6), HasSubstr("gone"));
    std::ofstream(incident_folder(run, 12).string() + "x");
    make_incident(run, 12, {});
    std::ofstream(incident_folder(run, 12) / "incident.json") << "{\"step\": 12, \"mode\":";
    EXPECT_THAT(refusal(run, {}, 6), AllOf(HasSubstr("incident.json"), HasSubstr("the file is damaged: remove it")));
    fs::remove(incident_folder(run, 12) / "incident.json");
    EXPECT_TRUE(find_replay_subject(run, {}));
    fs::remove(run / "run.db");
    EXPECT_THAT(refusal(run, {}, 6), HasSubstr("run.db"));
}

TEST_F(ReplayTest, TheGridFillsInOrderAndTheCheapestThatHoldsIsBest) {
    const fs::path run = make_run("grid replay.no=holds replay.scale_1=bad replay.previous_batch=later", 12);
    make_incident(run, 12, {4, 12});
    std::vector<std::string> finished;
    ReplayHooks hooks;
    hooks.changed = [&](const ReplayReport& report) {
        for (const VariantReport& one : report.variants)
            if (one.state == "done" && std::find(finished.begin(), finished.end(), one.id) == finished.end()) finished.push_back(one.id);
        const auto file = read_replay(incident_folder(run, 12));
        ASSERT_TRUE(file);
        EXPECT_EQ(file->variants, report.variants);
        EXPECT_EQ(file->state, report.state);
    };
    hooks.judge = [](ReplayReport& report) -> Result<void> {
        EXPECT_EQ(report.best, "island");
        report.verdict = Verdict{};
        report.verdict->code = "activation_overflow";
        return {};
    };
    const ReplayReport report = replay(run, hooks);
    EXPECT_EQ(report.state, "done");
    EXPECT_EQ(report.reproduced, Reproduced::Bits);
    EXPECT_THAT(finished, ElementsAre("as_was", "no", "scale_1", "bf16", "island", "previous_batch", "half_rate"));
    EXPECT_EQ(ids(report), finished);
    EXPECT_EQ(report.start_step, 4) << "the older state: the values are seen to grow";
    EXPECT_EQ(report.producer_largest.size(), 9u);
    EXPECT_EQ(report.one_bit_left_step, 7);
    EXPECT_EQ(report.birth->place(), "gate.mul");
    EXPECT_EQ(report.ops.size(), 1u);
    EXPECT_EQ(variant(report, "as_was").value, "NaN");
    EXPECT_EQ(variant(report, "no").mode, Precision::No);
    EXPECT_EQ(variant(report, "island").island, "gate.mul");
    EXPECT_TRUE(variant(report, "island").holds());
    EXPECT_EQ(variant(report, "previous_batch").later_bad_at, 4);
    EXPECT_EQ(variant(report, "bf16").later_steps, 20);
    // Where each began, and with which rate, as the fake engine saw it.
    EXPECT_EQ(variant(report, "bf16").place, "state_12 lr 0.001000");
    EXPECT_EQ(variant(report, "half_rate").place, "state_4 lr 0.000500");
    EXPECT_EQ(variant(report, "half_rate").from_step, 4);
    const auto file = read_replay(incident_folder(run, 12));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->best, "island");
    EXPECT_EQ(file->verdict->code, "activation_overflow");
    EXPECT_FALSE(is_replay_running(run, 12));
}

TEST_F(ReplayTest, WhatCantRunHereIsLeftOutAndSaysWhy) {
    const ReplayReport report = replay(make_run("leave bf16.refuse=1 phase=data"));
    EXPECT_EQ(variant(report, "bf16").state, "left_out");
    EXPECT_THAT(variant(report, "bf16").reason, HasSubstr("bf16 is not supported by the fake device"));
    EXPECT_EQ(variant(report, "island").state, "left_out");
    EXPECT_THAT(variant(report, "island").reason, HasSubstr("phase data"));
    EXPECT_EQ(variant(report, "half_rate").state, "done");
    EXPECT_EQ(report.best, "half_rate");

    const ReplayReport control = replay(make_run("control", 0, Precision::No));
    for (const char* id : {"no", "scale_1", "island", "previous_batch", "half_rate"}) EXPECT_EQ(variant(control, id).state, "left_out") << id;
    EXPECT_EQ(variant(control, "bf16").state, "done");
    EXPECT_EQ(control.control_finite, false) << "a run in mode no is its own control";
}

TEST_F(ReplayTest, AVariantThatCrashesHangsOrThrowsLeavesTheOthers) {
    ReplayHooks hooks;
    hooks.limit = std::chrono::seconds(2);
    const ReplayReport report = replay(make_run("faults replay.no=crash replay.scale_1=throw replay.bf16=hang"), hooks);
    EXPECT_EQ(report.state, "done");
    EXPECT_THAT(variant(report, "no").reason, HasSubstr("the replay of no gave no answer: its process was killed by SIGSEGV"));
    EXPECT_THAT(variant(report, "scale_1").reason, HasSubstr("the fake engine throws in scale_1"));
    EXPECT_THAT(variant(report, "bf16").reason, HasSubstr("did not end within 2 s and was killed"));
    for (const char* id : {"no", "scale_1", "bf16"}) EXPECT_EQ(variant(report, id).state, "failed") << id;
    EXPECT_EQ(variant(report, "half_rate").state, "done");
}

TEST_F(ReplayTest, AFailedUnchangedReplayIsTheEndAndNoGrid) {
    const fs::path run = make_run("dead replay.as_was=crash");
    const ReplayReport report = replay(run);
    EXPECT_EQ(report.state, "failed");
    EXPECT_THAT(report.problem, HasSubstr("killed by SIGSEGV"));
    EXPECT_TRUE(report.variants.empty());
    EXPECT_EQ(read_replay(incident_folder(run, 12))->state, "failed");
}

TEST_F(ReplayTest, NotReproducedIsOneLineAndNoGrid) {
    ReplayHooks hooks;
    hooks.judge = [](ReplayReport&) -> Result<void> {
        ADD_FAILURE() << "nothing to judge";
        return {};
    };
    const ReplayReport report = replay(make_run("other reproduced=no"), hooks);
    EXPECT_EQ(report.state, "done");
    EXPECT_EQ(report.reproduced, Reproduced::No);
    EXPECT_EQ(report.reproduced_reason, "the losses differ from step 9 on");
    EXPECT_TRUE(report.variants.empty());
    EXPECT_EQ(report.best, "");
}

TEST_F(ReplayTest, AStoppedReplayKeepsWhatIsDone) {
    const fs::path run = make_run("stop replay.scale_1=hang");
    ReplayOptions options;
    options.run = run;
    auto job = ReplayJob::start(options);
    ASSERT_TRUE(job) << describe(job.error());
    ASSERT_TRUE(soon([&] {
        (*job)->poll();
        return variant((*job)->report(), "scale_1").state == "running";
    }));
    EXPECT_TRUE(is_replay_running(run, 12));
    EXPECT_THAT(refusal(run, {}, 6), HasSubstr("another replay works on step 12"));
    (*job)->stop();
    EXPECT_TRUE((*job)->poll());
    const ReplayReport report = (*job)->report();
    EXPECT_EQ(report.state, "stopped");
    EXPECT_EQ(variant(report, "no").state, "done");
    EXPECT_EQ(variant(report, "scale_1").state, "waiting");
    EXPECT_EQ(read_replay(incident_folder(run, 12))->variants, report.variants);
    job->reset();
    EXPECT_FALSE(is_replay_running(run, 12));
    options.variants = {"no"};
    EXPECT_EQ(replay(run, {}, options).state, "done") << "the lock is free again";
}

TEST_F(ReplayTest, OneMoreQuestionKeepsTheAnswersThatAreThere) {
    const fs::path run = make_run("more", 12);
    make_incident(run, 12, {4, 12});
    const ReplayReport first = replay(run);
    ReplayOptions options;
    options.what_if = {"training.optimizer.learning_rate=1e-5"};
    const ReplayReport second = replay(run, {}, options);
    EXPECT_THAT(ids(second), ElementsAre("as_was", "no", "scale_1", "bf16", "island", "previous_batch", "half_rate", "custom"));
    for (const char* id : {"no", "scale_1", "bf16", "island", "previous_batch", "half_rate"}) EXPECT_EQ(variant(second, id), variant(first, id)) << id;
    EXPECT_EQ(read_replay(incident_folder(run, 12))->variants, second.variants);
    // A what-if is of one time; what is asked again is tried again.
    options.what_if.clear();
    options.variants = {"bf16"};
    options.later_steps = 3;
    const ReplayReport third = replay(run, {}, options);
    EXPECT_THAT(ids(third), ElementsAre("as_was", "no", "scale_1", "bf16", "island", "previous_batch", "half_rate"));
    EXPECT_EQ(variant(third, "bf16").later_steps, 3);
    EXPECT_EQ(variant(third, "no").later_steps, 20);
}

TEST_F(ReplayTest, AReplayThatIsStoppedBeforeItKnowsAnythingPutsTheEarlierOneBack) {
    const fs::path run = make_run("twice", 12);
    make_incident(run, 12, {12});
    const ReplayReport first = replay(run);
    ReplayOptions options;
    options.run = run;
    auto job = ReplayJob::start(options);
    ASSERT_TRUE(job) << describe(job.error());
    EXPECT_EQ(read_replay(incident_folder(run, 12))->state, "running");
    (*job)->stop();
    EXPECT_EQ((*job)->report().state, "stopped");
    const auto kept = read_replay(incident_folder(run, 12));
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->state, "done");
    EXPECT_EQ(kept->variants, first.variants);
    EXPECT_EQ(kept->best, first.best);
}

TEST_F(ReplayTest, AControlIsFoundWhateverTheRunsFolderIsCalled) {
    const fs::path run = make_run("named", 12);
    auto control = prepare_control_run(run);
    ASSERT_TRUE(control) << describe(control.error());
    EXPECT_EQ(find_control(run), control->folder);
    const fs::path renamed = runs() / "my overflow";
    fs::rename(run, renamed);
    auto another = prepare_control_run(renamed);
    ASSERT_TRUE(another) << describe(another.error());
    EXPECT_EQ(find_control(renamed), another->folder);
}

TEST_F(ReplayTest, AnIslandThatIsNotEnoughIsTriedAsItsModule) {
    const fs::path run = make_run("wide replay.island.gate.mul=bad");
    const ReplayReport report = replay(run);
    const VariantReport& island = variant(report, "island");
    EXPECT_EQ(island.island, "gate");
    EXPECT_TRUE(island.holds());
    EXPECT_EQ(island.reason, "gate.mul alone in fp32 does not hold");
    EXPECT_EQ(report.best, "island");
    const ReplayReport neither = replay(make_run("none replay.island=bad"));
    EXPECT_EQ(variant(neither, "island").island, "gate");
    EXPECT_FALSE(variant(neither, "island").holds());
    EXPECT_EQ(neither.best, "bf16");
}

TEST_F(ReplayTest, WithoutAKeptStateTheSeedIsTheStartAndTheStateIsKept) {
    const fs::path run = make_run("seed");
    const ReplayReport report = replay(run);
    EXPECT_EQ(report.start_step, 0);
    EXPECT_EQ(variant(report, "bf16").place, "state_12 lr 0.001000") << "another mode begins at the step itself";
    EXPECT_EQ(variant(report, "half_rate").from_step, 0);
    const auto kept = incident_states(run);
    ASSERT_EQ(kept.checkpoints.size(), 1u);
    EXPECT_EQ(kept.checkpoints[0].step, 12);
    EXPECT_FALSE(report.producer_largest.empty()) << "the place was found by the first replay, the curve by as_was";
    // The next one begins at the kept state, and has no steps before.
    const ReplayReport again = replay(run);
    EXPECT_EQ(again.start_step, 12);
    EXPECT_EQ(again.producer_largest, report.producer_largest);
    const auto deleted = delete_incident_states(run);
    ASSERT_TRUE(deleted);
    EXPECT_EQ(deleted->states, 1);
    EXPECT_GT(deleted->bytes, 7);
    EXPECT_TRUE(incident_states(run).checkpoints.empty());
    EXPECT_TRUE(read_replay(incident_folder(run, 12))) << "the report stays";
}

TEST_F(ReplayTest, ADamagedStateIsPassedOver) {
    const fs::path run = make_run("damaged");
    make_incident(run, 12, {4, 12});
    fs::resize_file(incident_folder(run, 12) / "state_12" / "model.safetensors", 3);
    const auto subject = find_replay_subject(run, {});
    ASSERT_TRUE(subject);
    EXPECT_EQ(subject->states.size(), 1u);
    ASSERT_EQ(subject->passed_over.size(), 1u);
    EXPECT_THAT(subject->passed_over[0], HasSubstr("model.safetensors has 3 bytes instead of 7"));
    const ReplayReport report = replay(run);
    EXPECT_EQ(report.start_step, 4);
    EXPECT_EQ(variant(report, "half_rate").place, "state_4 lr 0.000500");
    EXPECT_EQ(incident_states(run).checkpoints.size(), 2u) << "the replay made the damaged one anew";
}

TEST_F(ReplayTest, APlaceThatCantBeAnIslandIsLeftOut) {
    const ReplayReport report = replay(make_run("strange place=elsewhere.log"));
    EXPECT_EQ(variant(report, "island").state, "left_out");
    EXPECT_EQ(variant(report, "island").island, "elsewhere");
    EXPECT_THAT(variant(report, "island").reason, HasSubstr("fp32_islands names \"elsewhere\""));
}

TEST_F(ReplayTest, AHealthyStepIsAskedWhatIf) {
    ReplayOptions options;
    options.step = 5;
    options.what_if = {"training.optimizer.learning_rate=1e-4"};
    const ReplayReport report = replay(make_run("healthy replay.as_was=holds", -1), {}, options);
    EXPECT_TRUE(report.is_what_if);
    EXPECT_FALSE(report.birth);
    EXPECT_THAT(ids(report), ElementsAre("as_was", "custom"));
    EXPECT_EQ(variant(report, "custom").place, "state_5 lr 0.000100");
    EXPECT_EQ(variant(report, "custom").change(), "custom training.optimizer.learning_rate=1e-4");
    EXPECT_EQ(report.best, "custom");
}

}  // namespace
}  // namespace mantissa::test
