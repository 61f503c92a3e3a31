#pragma once
// A run that ended with a bad step, written by hand, and what its incident keeps.
#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "launch/replay_job.h"
#include "launch/run_parent.h"
#include "launch_fixture.h"
#include "plan/plan_file.h"
#include "record/meta_keys.h"
#include "record/run_recorder.h"

namespace mantissa::test {

class ReplayTest : public LaunchTest {
  protected:
    static StepRow row(std::int64_t step, bool is_bad) {
        StepRow made;
        made.step = step;
        made.applied_step = step + 1;
        made.loss = is_bad ? std::numeric_limits<double>::quiet_NaN() : 1.0;
        made.nonfinite_loss = is_bad;
        made.loss_scale = 65536;
        made.step_ns = 1'000'000;
        return made;
    }

    /// In fp16, steps 0 to `bad_at`, which is bad (-1: 20 healthy ones).
    fs::path make_run(const std::string& words, std::int64_t bad_at = 12, Precision mode = Precision::Fp16) {
        SourcedPlan sourced = plan(words);
        sourced.plan.mixed_precision = mode;
        sourced.plan.modes.clear();
        sourced.plan.model.name = "gated";
        sourced.plan.training.max_steps = 100;
        auto job = prepare_job(JobKind::SingleRun, sourced, runs());
        EXPECT_TRUE(job) << describe(job.error());
        record_steps(job->folder, bad_at);
        return job->folder;
    }
    static void record_steps(const fs::path& run, std::int64_t bad_at) {
        auto recorder = RunRecorder::open(run);
        ASSERT_TRUE(recorder);
        for (std::int64_t step = 0; step <= (bad_at < 0 ? 19 : bad_at); ++step) (*recorder)->step(row(step, step == bad_at));
        (*recorder)->state(bad_at < 0 ? RunState::Finished : RunState::StoppedNonfinite, "");
        ASSERT_TRUE((*recorder)->flush());
    }

    static void make_state(const fs::path& run, std::int64_t incident, std::int64_t step) {
        const fs::path folder = incident_folder(run, incident) / ("state_" + std::to_string(step));
        fs::create_directories(folder);
        std::ofstream(folder / "model.safetensors") << "weights";
        fs::copy_file(run / "plan.json", folder / "plan.json");
        std::ofstream(folder / "state.json")
            << nlohmann::json{{"format", "mantissa-checkpoint"},
                              {"version", 1},
                              {"step", step},
                              {"applied_steps", step},
                              {"epoch", 0},
                              {"mixed_precision", "fp16"},
                              {"loss_scale", {{"scale", 65536.0}, {"growth_tracker", 0}}},
                              {"files", {{{"name", "model.safetensors"}, {"bytes", 7}}}}};
    }
    static void make_incident(const fs::path& run, std::int64_t step, const std::vector<std::int64_t>& states) {
        IncidentReport report;
        report.step = step;
        report.mode = Precision::Fp16;
        report.kind = "activation_overflow";
        report.severity = "error";
        BirthReport birth;
        birth.producer.phase = "forward";
        birth.producer.module = "gate";
        birth.producer.op = "mul";
        report.birth = birth;
        for (const std::int64_t state : states) {
            make_state(run, step, state);
            report.states.push_back("state_" + std::to_string(state));
        }
        ASSERT_TRUE(write_incident(incident_folder(run, step), report));
    }

    static ReplayReport replay(const fs::path& run, ReplayHooks hooks = {}, ReplayOptions options = {}) {
        options.run = run;
        auto job = ReplayJob::start(options, std::move(hooks));
        EXPECT_TRUE(job) << describe(job.error());
        if (!job) return {};
        EXPECT_TRUE(soon([&] { return (*job)->poll(); }));
        return (*job)->report();
    }
    static std::string refusal(const fs::path& run, ReplayOptions options = {}, int code = 2) {
        options.run = run;
        const auto job = ReplayJob::start(options);
        EXPECT_FALSE(job);
        if (job) return "";
        EXPECT_EQ(exit_code(job.error().code), code) << job.error().message;
        return describe(job.error());
    }
    static const VariantReport& variant(const ReplayReport& report, const std::string& id) {
        static const VariantReport none;
        for (const VariantReport& one : report.variants)
            if (one.id == id) return one;
        ADD_FAILURE() << "no variant " << id;
        return none;
    }
    static std::vector<std::string> ids(const ReplayReport& report) {
        std::vector<std::string> all;
        for (const VariantReport& one : report.variants) all.push_back(one.id);
        return all;
    }
};

}  // namespace mantissa::test
