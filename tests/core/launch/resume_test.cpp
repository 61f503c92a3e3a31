#include "launch/resume.h"

#include "launch_fixture.h"
#include "plan/plan_file.h"
#include "record/run_summary.h"
#include "tests/core/record/checkpoint_maker.h"

namespace mantissa::test {

class Resume : public LaunchTest {
  protected:
    /// A run folder with a checkpoint of a 300-step fp16 run; its plan is like those of this fixture.
    fs::path saved_run(std::int64_t step = 300) {
        testing::MadeCheckpoint made{step, step - 4, 6, Precision::Fp16, 4096, 11};
        made.plan = plan("first", {}).plan;
        made.plan.training.max_steps = 300;
        const auto run = runs() / "20260101-000000-first-fp16";
        testing::make_checkpoint(run, made);
        return run;
    }
    SourcedPlan longer(const std::string& from) {
        SourcedPlan sourced = plan("second", {});
        sourced.plan.training.max_steps = 500;
        sourced.plan.mixed_precision = Precision::No;
        sourced.plan.checkpoint.resume_from = from;
        return sourced;
    }
};

TEST_F(Resume, a_run_its_name_and_a_checkpoint_mean_the_same_place) {
    const auto run = saved_run();
    saved_run(200);
    for (const std::string& text : {run.string(), run.string() + "/", run.filename().string(),
                                    (run / "checkpoints" / "checkpoint_300").string()}) {
        const auto job = prepare_job(JobKind::SingleRun, longer(text), runs());
        ASSERT_TRUE(job) << describe(job.error());
        const auto written = read_plan_file(job->runs[0].folder.plan());
        ASSERT_TRUE(written);
        EXPECT_EQ(written->plan.checkpoint.resume_from, (run / "checkpoints" / "checkpoint_300").string()) << text;
    }
}

TEST_F(Resume, the_record_shows_both_modes_and_what_became_of_the_scale_before_the_engine_starts) {
    const auto run = saved_run();
    const auto job = prepare_job(JobKind::SingleRun, longer(run.string()), runs());
    ASSERT_TRUE(job) << describe(job.error());
    const auto summary = summarize_run(job->folder);
    ASSERT_TRUE(summary) << describe(summary.error());
    ASSERT_TRUE(summary->resumed);
    EXPECT_EQ(summary->resumed->checkpoint, (run / "checkpoints" / "checkpoint_300").string());
    EXPECT_EQ(summary->resumed->run, run.string());
    EXPECT_EQ(summary->resumed->step, 300);
    EXPECT_EQ(summary->resumed->mode, Precision::Fp16);
    EXPECT_EQ(summary->mode, Precision::No);
    EXPECT_EQ(summary->resumed->scale, ResumedScale::Dropped);
    EXPECT_EQ(summary->resumed->saved_scale, 4096);
    EXPECT_EQ(summary->steps, 300);
    EXPECT_EQ(summary->applied_steps, 296);
    const auto json = to_json(*summary);
    EXPECT_EQ(json["resumed"]["loss_scale"], "dropped");
    EXPECT_EQ(json["resumed"]["mode"], "fp16");
}

TEST_F(Resume, what_does_not_fit_leaves_no_folder) {
    const auto run = saved_run();
    const auto refusal = [&](const SourcedPlan& sourced, JobKind kind = JobKind::SingleRun) {
        const auto job = prepare_job(kind, sourced, runs());
        EXPECT_EQ(list_run_folders(runs())->size(), 1U);
        if (job) return std::string("no error");
        EXPECT_TRUE(exit_code(job.error().code) == 2 || exit_code(job.error().code) == 6);
        return job.error().message;
    };
    SourcedPlan sourced = longer(run.string());
    sourced.plan.training.max_steps = 300;
    EXPECT_EQ(refusal(sourced), "nothing is left to do: the plan has 300 steps, and the checkpoint was saved after 300");
    sourced = longer(run.string());
    sourced.plan.model.name = "cnn";
    EXPECT_EQ(refusal(sourced), "model.name is cnn, the checkpoint was saved with mlp");
    sourced = longer(run.string());
    sourced.plan.modes = {Precision::No, Precision::Fp16};
    EXPECT_NE(refusal(sourced, JobKind::Comparison).find("a comparison is fair only when"), std::string::npos);
    EXPECT_EQ(refusal(longer("gone")), "there is no run \"gone\" in " + runs().string());
    EXPECT_NE(refusal(longer((run / "checkpoints").string())).find("holds no checkpoint"), std::string::npos);
    fs::remove(run / "checkpoints" / "checkpoint_300" / "plan.json");
    EXPECT_NE(refusal(longer(run.string())).find("has no plan.json"), std::string::npos);
}

TEST_F(Resume, what_changes_on_the_way_is_a_note_of_the_plan) {
    SourcedPlan sourced = longer(saved_run().string());
    sourced.plan.training.optimizer.learning_rate = 0.01;
    const auto job = prepare_job(JobKind::SingleRun, sourced, runs());
    ASSERT_TRUE(job) << describe(job.error());
    const auto written = read_plan_file(job->runs[0].folder.plan());
    ASSERT_TRUE(written);
    ASSERT_EQ(written->notes.size(), 1U);
    EXPECT_EQ(written->notes[0], "training.optimizer.learning_rate changes from 0.001 to 0.01 at step 300");
}

}  // namespace mantissa::test
