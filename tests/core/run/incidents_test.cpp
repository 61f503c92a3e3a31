// The file of an incident: what it holds, when it is there, and that a run writes few of them.
#include "run/batch_norm_watch.h"
#include "run/incident_log.h"
#include "training_fixture.h"

namespace mantissa {
namespace {

std::vector<IncidentReport> incidents_of(const Trained& run) {
    std::vector<IncidentReport> reports;
    for (const std::int64_t step : incident_steps(run.folder.path)) {
        auto report = read_incident(incident_folder(run.folder.path, step));
        EXPECT_TRUE(report.ok()) << describe(report.error());
        if (report) reports.push_back(std::move(*report));
    }
    return reports;
}

TEST_F(Training, TheIncidentOfTheGateHoldsItsBirth) {
    RunPlan plan = preset("gated-overflow", Precision::Fp16);
    plan.on_nonfinite = OnNonfinite::Stop;
    const Trained run = train(plan);
    ASSERT_EQ(run.end.state, RunState::StoppedNonfinite);
    const std::vector<IncidentReport> reports = incidents_of(run);
    ASSERT_EQ(reports.size(), 1u);
    const IncidentReport& report = reports[0];
    EXPECT_EQ(report.step, run.nonfinite_steps().front());
    EXPECT_EQ(report.mode, Precision::Fp16);
    EXPECT_EQ(report.kind, "activation_overflow");
    EXPECT_EQ(report.severity, "error");
    EXPECT_FALSE(std::isfinite(report.loss));
    EXPECT_TRUE(report.loss_scale.has_value());
    EXPECT_FALSE(report.micro_batch.has_value());
    ASSERT_TRUE(report.birth.has_value());
    const BirthReport& birth = *report.birth;
    EXPECT_EQ(birth.producer.phase + " " + birth.place() + " " + birth.code, "forward gate.mul activation_overflow");
    ASSERT_EQ(birth.producer.operands.size(), 2u);
    double product = 1;
    for (const TensorReading& operand : birth.producer.operands) {
        EXPECT_TRUE(operand.is_finite());
        EXPECT_EQ(operand.shape, (std::vector<std::int64_t>{32, 256}));
        EXPECT_EQ(operand.elements(), 32 * 256);
        product *= operand.largest;
    }
    EXPECT_GT(product, 65504);
    EXPECT_EQ(birth.producer.result.dtype, "float16");
    EXPECT_GT(birth.producer.result.pos_inf + birth.producer.result.neg_inf, 0);
    EXPECT_LE(birth.producer.result.largest, 65504);
    EXPECT_GT(birth.carried, 0);
    EXPECT_FALSE(birth.before.empty());
    EXPECT_LE(birth.before.size(), 12u);
    EXPECT_FALSE(birth.after.empty());
    EXPECT_LE(birth.after.size(), 4u);
    ASSERT_TRUE(birth.sample.has_value());
    EXPECT_GE(*birth.sample, 0);
    EXPECT_LT(*birth.sample, 32);
}

// On the disk before the run goes on: a pause shows it while the run still stands there.
TEST_F(Training, TheIncidentIsWrittenBeforeTheRunGoesOn) {
    RunPlan plan = preset("cancer-overflow", Precision::Fp16, 20);
    plan.on_nonfinite = OnNonfinite::Pause;
    std::size_t files = 0, rows = 0;
    std::jthread later([&] {
        for (int i = 0; i < 900 && !is_paused(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const auto folders = list_run_folders(m_runs);
        files = incident_steps(folders->front().path).size();
        auto reader = RunReader::open(folders->front().path);
        rows = (*reader)->read_new()->incidents.size();
        m_control.post(ControlCommand::Stop);
    });
    const Trained run = train(plan);
    later.join();
    EXPECT_EQ(run.end.state, RunState::Stopped);
    EXPECT_EQ(files, 1u);
    EXPECT_EQ(rows, 1u);
}

TEST_F(Training, AFloodWritesFewIncidents) {
    const Trained run = train(preset("cancer-overflow", Precision::Fp16, 100));
    EXPECT_EQ(run.nonfinite_steps().size(), 100u);
    const auto reports = incidents_of(run);
    ASSERT_EQ(reports.size(), 1u);  // one place
    EXPECT_EQ(reports[0].step, 0);
    EXPECT_EQ(reports[0].no_states.empty(), !reports[0].states.empty());
}

TEST_F(Training, TheIncidentTellsTheBadMicroBatch) {
    RunPlan plan = preset("cancer-overflow", Precision::Fp16, 3);
    plan.training.gradient_accumulation_steps = 2;
    const auto reports = incidents_of(train(plan));
    ASSERT_FALSE(reports.empty());
    EXPECT_EQ(reports[0].micro_batch, 0);
}

// Digits have pixels that are zero in every image: nothing but eps keeps Adam from 0/0 there.
TEST_F(Training, AnUpdateThatMadeTheWeightsBadIsTold) {
    RunPlan plan = preset("digits-mlp", Precision::No, 5);
    plan.training.optimizer.eps = 0;
    plan.on_nonfinite = OnNonfinite::Stop;
    const Trained run = train(plan);
    EXPECT_EQ(run.end.state, RunState::StoppedNonfinite);
    const auto reports = incidents_of(run);
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].step, 0);  // whose update it was; the loss shows it at step 1
    ASSERT_TRUE(reports[0].birth.has_value());
    EXPECT_EQ(reports[0].birth->producer.phase, "update");
    EXPECT_EQ(reports[0].birth->code, "adam_eps");
    EXPECT_EQ(reports[0].birth->tensor, "hidden.weight");
    EXPECT_EQ(run.end.reason.find("adam_eps"), std::string::npos);
    EXPECT_NE(run.end.reason.find("hidden.weight"), std::string::npos) << run.end.reason;
    ASSERT_EQ(run.incidents("adam_eps").size(), 1u);

    plan.training.optimizer = OptimizerPlan{};
    plan.training.optimizer.name = "sgd";
    plan.training.optimizer.learning_rate = 3e38;
    plan.training.loss_factor = 1e10;  // finite gradients, and a product with the rate that isn't
    const auto too_fast = incidents_of(train(plan));
    ASSERT_EQ(too_fast.size(), 1u);
    EXPECT_EQ(too_fast[0].birth->code, "weights_poisoned");
    EXPECT_EQ(too_fast[0].birth->producer.phase, "update");
}

// A finite rise of a batch norm's variance is told once, at the next look; what a healthy run does isn't.
TEST_F(Training, ASuddenRiseOfABatchNormsVarianceIsTold) {
    for (const auto& [factor, expected] : {std::pair{1e6, 1u}, {5.0, 0u}}) {
        const RunPlan plan = preset("digits-cnn", Precision::No, 1);
        const auto choice = choose_run_device(plan);
        const auto parts = build_run(plan, *choice);
        ASSERT_TRUE(parts.ok());
        const auto folder = create_run_folder(m_runs, plan.name, plan.mixed_precision);
        auto recorder = RunRecorder::open(folder->path);
        RunSession session{*folder, **recorder, m_control};
        IncidentSources sources;
        std::string halt_reason;
        const LoopState loop{};
        BatchNormWatch watch({plan, **parts, session, sources, halt_reason, loop});
        torch::Tensor variance = (*parts)->bare_model().named_buffers()["norm.running_var"];
        StepOutcome outcome;
        for (std::int64_t step = 0; step < 120; ++step) {
            const torch::NoGradGuard no_grad;
            variance.mul_(step < 20 ? 1.9 : 1);  // a start far from 1: × 400,000
            if (step == 73) variance.mul_(factor);
            outcome.facts.step = step;
            watch.after_step(outcome, {});
        }
        ASSERT_TRUE((*recorder)->flush().ok());
        auto reader = RunReader::open(folder->path);
        const auto rows = (*reader)->read_new();
        ASSERT_EQ(rows->incidents.size(), expected) << factor;
        if (expected == 0) continue;
        EXPECT_EQ(rows->incidents[0].kind + " " + rows->incidents[0].severity, "batchnorm_poisoned warning");
        EXPECT_EQ(rows->incidents[0].step, 80);
        EXPECT_EQ(rows->incidents[0].module, "norm");
    }
}

TEST(Incidents, ThinnedKeepsTheLargestOfEachStretch) {
    std::vector<StepValue> values;
    for (int i = 0; i < 1999; ++i) values.push_back({i, i % 7 == 3 ? 1000.0 + i : 1.0});
    values.push_back({1999, std::nan("")});
    const auto kept = thinned(values);
    ASSERT_EQ(kept.size(), 400u);
    EXPECT_EQ(kept[0].step, 3);
    EXPECT_EQ(kept[2].value, 1000 + 10);
    EXPECT_TRUE(std::isnan(kept.back().value));
    for (std::size_t i = 1; i < kept.size(); ++i) EXPECT_LT(kept[i - 1].step, kept[i].step);
    EXPECT_EQ(thinned({{5, 1.0}}).size(), 1u);
}

}  // namespace
}  // namespace mantissa
