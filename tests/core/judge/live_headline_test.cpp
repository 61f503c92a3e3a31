#include "judge/live_headline.h"

#include <gtest/gtest.h>

#include "evidence_maker.h"

namespace mantissa {
namespace {

std::vector<LiveRunState> running() {
    std::vector<LiveRunState> runs;
    for (const Precision mode : {Precision::No, Precision::Fp16, Precision::Bf16}) {
        LiveRunState run;
        run.mode = mode;
        run.state = RunState::Running;
        run.steps = 240;
        run.planned_steps = 300;
        runs.push_back(run);
    }
    return runs;
}

TEST(LiveHeadline, CalmWhileAllTrain) {
    const LiveHeadline headline = live_headline(running(), "en");
    EXPECT_EQ(headline.text, "no, fp16 and bf16 train: step 240 of 300.");
    EXPECT_EQ(headline.severity, "ok");
}

TEST(LiveHeadline, StoppedModeIsNamedWithItsPlaceAndTheOthersGoOn) {
    auto runs = running();
    RunEvidence evidence = test::healthy_run(Precision::Fp16);
    test::stop_at(evidence, 144);
    runs[1] = live_run_state(evidence.summary, {test::overflow_incident(144)});
    const LiveHeadline headline = live_headline(runs, "en");
    EXPECT_EQ(headline.text, "fp16 stopped at step 144: gate.mul passed 65,504. no and bf16 go on.");
    EXPECT_EQ(headline.severity, "error");
    EXPECT_EQ(live_headline(runs, "zh").text,
              "fp16 在第 144 步停止：gate.mul 超过了 65,504。no 和 bf16 继续运行。");
    runs[1].where.clear();
    EXPECT_EQ(live_headline(runs, "en").text,
              "fp16 stopped at step 144: a value became non-finite. no and bf16 go on.");
}

TEST(LiveHeadline, TheWorstIsSaidFirst) {
    auto runs = running();
    runs[1].skipped_fault = 3;
    EXPECT_EQ(live_headline(runs, "en").text,
              "fp16 has skipped 3 steps by faults, 0 while probing. no and bf16 go on.");
    EXPECT_EQ(live_headline(runs, "en").severity, "warning");
    runs[0].state = RunState::Lost;
    runs[0].state_reason = "killed by SIGKILL";
    EXPECT_EQ(live_headline(runs, "en").text,
              "no was lost after 240 steps (killed by SIGKILL). 1 more run needs a look. bf16 goes on.");
}

TEST(LiveHeadline, ARunThatStandsStillIsSaidWithItsRank) {
    auto runs = running();
    runs[1].stall = Stall{std::nullopt, 34, Activity::Training, 1240, true};
    const LiveHeadline headline = live_headline(runs, "en");
    EXPECT_EQ(headline.text, "fp16: no progress for 34 s, at step 1,240. Wait, or stop it: what does not react within 5 s is ended by force, "
                             "and all that is recorded stays. no and bf16 go on.");
    EXPECT_EQ(headline.severity, "warning");
    runs[1].stall->has_pulse = false;
    EXPECT_NE(live_headline(runs, "en").text.find("its process gives no sign of life"), std::string::npos);
    runs[1].stall->rank = 1;
    runs[1].stall->last_step.reset();
    EXPECT_NE(live_headline(runs, "en").text.find("before its first step; rank 1 gives no sign of life"), std::string::npos);
    EXPECT_NE(live_headline(runs, "zh").text.find("进程 1（rank）没有生命迹象"), std::string::npos);
    runs[2].state = RunState::Lost;  // worse
    EXPECT_EQ(live_headline(runs, "en").severity, "error");
}

TEST(LiveHeadline, ProbingIsNoAlarm) {
    auto runs = running();
    runs[1].skipped_probing = 1;
    EXPECT_EQ(live_headline(runs, "en").severity, "ok");
    EXPECT_EQ(live_headline(runs, "en").text,
              "no, fp16 and bf16 train: step 240 of 300. 1 step skipped while the loss scale looked for its "
              "place.");
}

TEST(LiveHeadline, SeveralPausedRunsAreOneSentence) {
    std::vector<LiveRunState> runs(3);
    runs[0].mode = Precision::No;
    runs[1].mode = Precision::Fp16;
    runs[2].mode = Precision::Bf16;
    for (LiveRunState& run : runs) {
        run.state = RunState::Paused;
        run.steps = 509;
        run.planned_steps = 3000;
    }
    runs[0].steps = 401;
    EXPECT_EQ(live_headline(runs, "en").text, "no, fp16 and bf16 are paused: step 401 of 3,000.");
    runs[2].state = RunState::Finished;
    EXPECT_EQ(live_headline(runs, "en").text, "no and fp16 are paused: step 401 of 3,000.");
    runs[1].state = RunState::Running;
    EXPECT_EQ(live_headline(runs, "en").text, "no is paused at step 401 of 3,000. fp16 goes on.");
}

TEST(LiveHeadline, EveryStateHasASentence) {
    for (const RunState state : {RunState::Queued, RunState::Trial, RunState::Running, RunState::Paused,
                                 RunState::Finished, RunState::StoppedNonfinite, RunState::Stopped,
                                 RunState::Interrupted, RunState::Failed, RunState::Lost}) {
        for (const bool bad : {false, true}) {
            for (const std::string& language : text_languages()) {
                LiveRunState run;
                run.state = state;
                if (bad) run.first_nonfinite_step = 7;
                const std::string text = live_headline({run}, language).text;
                EXPECT_EQ(text.find("no text"), std::string::npos) << text;
                EXPECT_EQ(text.find("needs a value"), std::string::npos) << text;
            }
        }
    }
    EXPECT_EQ(live_headline({}, "en").text, "No run yet.");
}

TEST(LiveHeadline, AComparisonWhoseModesHaveEndedRepeatsItsControl) {
    std::vector<LiveRunState> runs = running();
    for (LiveRunState& run : runs) run.state = RunState::Finished;
    EXPECT_EQ(live_headline(runs, "en", Repeating{2, 3}).text,
              live_headline(runs, "en").text + " Repeating `no`: 2 of 3, so that its own spread is known.");
    EXPECT_EQ(live_headline(runs, "zh", Repeating{2, 3}).text,
              live_headline(runs, "zh").text + "正在重复 `no` 以了解其自身的波动：第 2 次，共 3 次。");
    runs[1].state = RunState::StoppedNonfinite;
    runs[1].first_nonfinite_step = 144;
    const LiveHeadline worst = live_headline(runs, "en", Repeating{1, 3});
    EXPECT_EQ(worst.severity, "error");
    EXPECT_EQ(worst.text, live_headline(runs, "en").text + " Repeating `no`: 1 of 3, so that its own spread is known.");
}

}  // namespace
}  // namespace mantissa
