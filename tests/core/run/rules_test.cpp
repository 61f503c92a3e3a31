// Rules of the loop that a user relies on: refusals, control, turns, what is recorded and when.
#include <set>

#include "training_fixture.h"

namespace mantissa {
namespace {

using Json = nlohmann::json;

TEST_F(Training, Fp8IsRefusedWithTheReason) {
    const Error error = refused(preset("digits-mlp", Precision::Fp8));
    EXPECT_EQ(error.code, ErrorCode::UnsupportedPrecision);
    EXPECT_NE(error.message.find("fp8"), std::string::npos);
    EXPECT_NE(error.hint.find("bf16"), std::string::npos) << error.hint;
}

TEST_F(Training, MissingDeviceIsRefused) {
    RunPlan plan = preset("digits-mlp", Precision::No);
    plan.device = "cuda:7";
    const Error error = refused(plan);
    EXPECT_EQ(error.code, ErrorCode::UnsupportedDevice);
    EXPECT_NE(error.message.find("cuda:7"), std::string::npos);
}

TEST_F(Training, UnknownIslandNamesTheKnownModules) {
    RunPlan plan = preset("gated-overflow", Precision::Fp16);
    plan.fp32_islands = {"norm", "gait"};
    const Error error = refused(plan);
    EXPECT_EQ(error.code, ErrorCode::BadPlan);
    EXPECT_NE(error.message.find("fp32_islands[1] is \"gait\""), std::string::npos) << error.message;
    EXPECT_NE(error.hint.find("gate.down"), std::string::npos) << error.hint;
}

TEST_F(Training, CnnRefusesOtherData) {
    RunPlan plan = preset("digits-cnn", Precision::No);
    plan.dataset.name = "breast-cancer";
    const Error error = refused(plan);
    EXPECT_EQ(error.code, ErrorCode::BadPlan);
    EXPECT_NE(error.message.find("64 features"), std::string::npos) << error.message;
}

TEST_F(Training, RecordsEnvironmentAndMetaBeforeTheFirstStep) {
    const Trained run = train(preset("digits-mlp", Precision::Bf16, 3));
    ASSERT_TRUE(run.environment.is_object());
    for (const char* name : {"initial_state", "data", "sample_order", "plan"}) {
        EXPECT_EQ(run.environment["hashes"][name].get<std::string>().size(), 64u) << name;
    }
    EXPECT_EQ(run.environment["dtypes"]["parameters"], Json({"float32"}));
    EXPECT_EQ(run.environment["threads"], 1);
    EXPECT_EQ(run.environment["samples"]["training"], 1437);
    EXPECT_EQ(run.environment["samples"]["validation"], 360);
    EXPECT_EQ(run.meta.at("requested"), "bf16");
    EXPECT_EQ(run.meta.at("effective"), "bf16");
    EXPECT_EQ(run.meta.at("planned_steps"), "3");
    EXPECT_EQ(run.meta.at("on_nonfinite"), "stop");
    EXPECT_EQ(run.meta.at("process_id"), std::to_string(getpid()));
    EXPECT_EQ(run.meta.count("final_scale"), 0u);
    EXPECT_FALSE(run.rows.steps.front().loss_scale.has_value());
}

// The four hashes agree between modes and runs: a comparison of them is fair. ctest gives each case a process
// of its own, so the values of the other mode come from the plan alone.
void expect_same_hashes(Training&, const Trained& run, const Trained& again) {
    EXPECT_EQ(run.environment["hashes"], again.environment["hashes"]);
    ASSERT_EQ(run.rows.steps.size(), again.rows.steps.size());
    for (std::size_t i = 0; i < run.rows.steps.size(); ++i) {
        EXPECT_EQ(run.rows.steps[i].loss, again.rows.steps[i].loss) << i;
        EXPECT_EQ(run.rows.steps[i].grad_norm, again.rows.steps[i].grad_norm) << i;
    }
}

TEST_F(Training, TheSamePlanGivesTheSameBits) {
    RunPlan plan = preset("digits-cnn", Precision::Fp16, 12);
    const Trained first = train(plan);
    plan.name = "another name";
    plan.loss_scale.growth_interval = 1000;
    expect_same_hashes(*this, first, train(plan));
}

TEST_F(Training, AnotherSeedGivesAnotherStateAndOrder) {
    RunPlan plan = preset("digits-mlp", Precision::No, 2);
    const Json first = train(plan).environment["hashes"];
    plan.training.seed += 1;
    const Json other = train(plan).environment["hashes"];
    EXPECT_EQ(first["data"], other["data"]);
    for (const char* name : {"initial_state", "sample_order", "plan"})
        EXPECT_NE(first[name], other[name]) << name;
}

TEST_F(Training, OpRowsProveThatTheModeIsOn) {
    const Trained run = train(preset("digits-mlp", Precision::Bf16, 2));
    std::int64_t forward_half = 0, backward_half = 0;
    for (const OpDtypeRow& row : run.rows.op_dtypes) {
        EXPECT_EQ(row.step, 0);
        if (row.op == "addmm" && row.phase == "forward" && row.dtype == "bfloat16")
            forward_half = row.multiply_adds;
        if (row.op == "mm" && row.phase == "backward" && row.dtype == "bfloat16")
            backward_half = row.multiply_adds;
    }
    // 32 samples, 64-128-10: forward both layers; backward both weights and the inner input.
    EXPECT_EQ(forward_half, 32 * (64 * 128 + 128 * 10));
    EXPECT_EQ(backward_half, 32 * (64 * 128 + 2 * 128 * 10));
}

TEST_F(Training, ControlModeHasNoHalfOps) {
    const Trained run = train(preset("digits-cnn", Precision::No, 1));
    EXPECT_FALSE(run.rows.op_dtypes.empty());
    std::int64_t multiply_adds = 0;
    for (const OpDtypeRow& row : run.rows.op_dtypes) {
        EXPECT_NE(row.dtype, "float16");
        EXPECT_NE(row.dtype, "bfloat16");
        if (row.phase == "forward") multiply_adds += row.multiply_adds;
    }
    // conv 1-8 on 8×8, conv 8-16 on 4×4, linear 64-10, 32 samples.
    EXPECT_EQ(multiply_adds, 32 * (64 * 8 * 9 + 16 * 16 * 8 * 9 + 64 * 10));
}

TEST_F(Training, MemoryPartsAddUp) {
    const Trained run = train(preset("digits-mlp", Precision::No, 3));
    std::map<std::string, std::int64_t> parts;
    for (const MemoryRow& row : run.rows.memory) parts[row.part] = row.bytes;
    const std::int64_t weights = 4 * (64 * 128 + 128 + 128 * 10 + 10);
    EXPECT_EQ(parts["weights"], weights);
    EXPECT_EQ(parts["gradients"], weights);
    EXPECT_GE(parts["optimizer"], 2 * weights);
    EXPECT_GT(parts["saved_for_backward"], 32 * 128 * 4);
    // The data set is the largest thing here: 1,797 × 64 floats and as many labels.
    EXPECT_GE(parts["other"], 1797 * (64 * 4 + 8));
    const StepRow& last = run.rows.steps.back();
    EXPECT_GE(last.memory_peak_bytes, last.memory_bytes);
    EXPECT_GE(last.memory_bytes, 4 * weights);
    EXPECT_GT(last.host_memory_bytes, 50'000'000);
    EXPECT_GT(last.step_ns, 10'000);
    EXPECT_GT(last.data_ns, 100);
}

TEST_F(Training, AccumulationRecordsMicroBatchesAndShortWindows) {
    RunPlan plan = preset("digits-mlp", Precision::No);
    plan.training.gradient_accumulation_steps = 4;
    plan.training.max_steps.reset();
    plan.training.epochs = 2;
    const Trained run = train(plan);
    // 45 batches an epoch: 11 windows of four and one of a single, short batch (1,437 = 44 × 32 + 29).
    ASSERT_EQ(run.rows.steps.size(), 24u);
    EXPECT_EQ(run.rows.micro_batches.size(), 90u);
    EXPECT_EQ(run.rows.steps[0].samples, 128);
    EXPECT_EQ(run.rows.steps[11].samples, 29);
    EXPECT_EQ(run.rows.steps[11].epoch, 0);
    EXPECT_EQ(run.rows.steps[12].epoch, 1);
    double mean = 0;
    for (const MicroBatchRow& row : run.rows.micro_batches) mean += row.step == 0 ? row.loss / 4 : 0;
    EXPECT_NEAR(run.rows.steps[0].loss, mean, 1e-12);
}

TEST_F(Training, EvaluatesAsPlanned) {
    RunPlan plan = preset("digits-mlp", Precision::Bf16, 25);
    plan.evaluation.every = 10;
    plan.evaluation.precision = EvaluationPrecision::Both;
    const Trained run = train(plan);
    std::set<std::int64_t> steps;
    std::set<std::string> precisions;
    for (const EvaluationRow& row : run.rows.evaluations) {
        steps.insert(row.step);
        precisions.insert(row.precision);
        EXPECT_EQ(row.samples, 360);
        EXPECT_EQ(row.split, "validation");
    }
    EXPECT_EQ(steps, (std::set<std::int64_t>{10, 20, 25}));
    EXPECT_EQ(precisions, (std::set<std::string>{"fp32", "bf16"}));
}

TEST_F(Training, StopAndInterruptEndAtTheNextEdge) {
    m_control.post(ControlCommand::Stop);
    const Trained stopped = train(preset("digits-mlp", Precision::No, 50));
    EXPECT_EQ(stopped.end.state, RunState::Stopped);
    EXPECT_TRUE(stopped.rows.steps.empty());
    RunControl other;
    other.post(ControlCommand::Interrupt);
    EXPECT_EQ(train(preset("digits-mlp", Precision::No, 50), other).end.state, RunState::Interrupted);
}

TEST_F(Training, SingleStepsWhilePaused) {
    m_control.post(ControlCommand::Pause);
    m_control.post(ControlCommand::Step);
    m_control.post(ControlCommand::Step);
    std::jthread later([this] {
        std::this_thread::sleep_for(std::chrono::milliseconds(700));
        m_control.post(ControlCommand::Stop);
    });
    const Trained run = train(preset("digits-mlp", Precision::No, 50));
    EXPECT_EQ(run.rows.steps.size(), 2u);
    EXPECT_EQ(run.end.state, RunState::Stopped);
    ASSERT_FALSE(run.rows.evaluations.empty());
    EXPECT_EQ(run.rows.evaluations.back().step, 2);  // what was reached is still evaluated
    std::set<std::string> states;
    for (const StateRow& row : run.rows.states) states.insert(to_string(row.state));
    EXPECT_TRUE(states.count("paused"));
}

class CountingGate : public StepGate {
  public:
    void wait_for_turn(std::int64_t next_step, const RunControl&) override { steps.push_back(next_step); }
    void run_ended() override {}
    std::vector<std::int64_t> steps;
};

TEST_F(Training, AsksForItsTurnBeforeEveryStep) {
    CountingGate gate;
    train(preset("article-2", Precision::No, 5), m_control, &gate);
    EXPECT_EQ(gate.steps, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

// lesson 7's settings: log(softmax) written out, in fp32.
RunPlan naive_plan(RunPlan plan) {
    plan.model = {"linear", "", 128};
    plan.training.loss = "naive_nll";
    plan.training.optimizer.name = "sgd";
    plan.training.optimizer.learning_rate = 1e-6;
    plan.training.max_steps = 100;
    return plan;
}

TEST_F(Training, NaiveLossBreaksTheControlAndIsNamed) {
    RunPlan plan = naive_plan(preset("cancer-overflow", Precision::No));
    plan.on_nonfinite = OnNonfinite::Stop;
    const Trained run = train(plan);
    EXPECT_EQ(run.end.state, RunState::StoppedNonfinite);
    ASSERT_FALSE(run.rows.steps.empty());
    EXPECT_LE(run.rows.steps.back().step, 20);
    EXPECT_TRUE(run.rows.steps.back().skipped);
    const auto incidents = run.incidents("log_of_zero");
    for (const IncidentRow& row : run.rows.incidents) {
        SCOPED_TRACE(row.phase + " " + row.kind + " " + row.module + "." + row.op + " " + row.tensor + " " +
                     row.detail_json);
        EXPECT_EQ(row.kind, "log_of_zero");
    }
    ASSERT_EQ(incidents.size(), 1u) << run.end.reason;
    EXPECT_EQ(incidents[0].module + "." + incidents[0].op, "loss.log");
    EXPECT_EQ(run.end.reason.find("nan"), std::string::npos) << run.end.reason;
    EXPECT_TRUE(std::isfinite(*run.last("accuracy")));
}

// The surprise of lesson 7: the scaler skips the step that the control takes in, and fp16 goes on.
TEST_F(Training, NaiveLossUnderMarkLosesTheControl) {
    const RunPlan plan = naive_plan(preset("cancer-overflow", Precision::No));
    const Trained control = train(plan);
    ASSERT_FALSE(control.nonfinite_steps().empty());
    EXPECT_LE(control.nonfinite_steps().front(), 10);
    EXPECT_FALSE(std::isfinite(control.rows.steps.back().loss));
}

TEST_F(Training, NaiveLossUnderMarkIsSurvivedByTheScaler) {
    RunPlan plan = naive_plan(preset("cancer-overflow", Precision::Fp16));
    const Trained half = train(plan);
    EXPECT_TRUE(std::isfinite(half.rows.steps.back().loss));
    EXPECT_LE(half.nonfinite_steps().size(), 5u);
    EXPECT_LT(half.rows.steps.back().applied_step, 100);
    EXPECT_GT(half.rows.steps.back().applied_step, 80);
}

TEST_F(Training, MarkPoisonsTheWeightsAndSaysSoOnce) {
    const Trained run = train(naive_plan(preset("cancer-overflow", Precision::No)));
    EXPECT_EQ(run.end.state, RunState::Finished);
    EXPECT_EQ(run.rows.steps.size(), 100u);
    const auto poisoned = run.incidents("weights_poisoned");
    ASSERT_EQ(poisoned.size(), 1u);
    EXPECT_EQ(poisoned[0].tensor, "head.weight");
    EXPECT_TRUE(run.summary.poisoned);
    EXPECT_EQ(run.rows.steps.back().applied_step, 100);
}

TEST_F(Training, SkipLeavesTheBadStepOutAndGoesOn) {
    RunPlan plan = naive_plan(preset("cancer-overflow", Precision::No));
    plan.on_nonfinite = OnNonfinite::Skip;
    const Trained run = train(plan);
    EXPECT_EQ(run.end.state, RunState::Finished);
    EXPECT_EQ(run.rows.steps.size(), 100u);
    EXPECT_LT(run.rows.steps.back().applied_step, 100);
    EXPECT_TRUE(run.incidents("weights_poisoned").empty());
    for (const StepRow& row : run.rows.steps) {
        EXPECT_EQ(row.skipped, row.nonfinite_loss || row.nonfinite_grads > 0) << row.step;
    }
}

TEST_F(Training, PauseWaitsAtTheBadStep) {
    RunPlan plan = preset("gated-overflow", Precision::Fp16);
    plan.on_nonfinite = OnNonfinite::Pause;
    std::jthread later([this] {
        for (int i = 0; i < 900 && !is_paused(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        m_control.post(ControlCommand::Stop);
    });
    const Trained run = train(plan);
    EXPECT_EQ(run.end.state, RunState::Stopped);
    ASSERT_EQ(run.nonfinite_steps().size(), 1u);
    EXPECT_EQ(run.rows.steps.back().step, run.nonfinite_steps().front());
    ASSERT_GE(run.rows.states.size(), 2u);
    const auto paused = std::find_if(run.rows.states.begin(), run.rows.states.end(),
                                     [](const StateRow& row) { return row.state == RunState::Paused; });
    ASSERT_NE(paused, run.rows.states.end());
    EXPECT_NE(paused->reason.find("gate.mul"), std::string::npos) << paused->reason;
}

// Lesson 4: the scale looks for its place from 2^32 down, and the scheduler doesn't count what was skipped.
TEST_F(Training, ProbingSkipsAreToldFromFaultsAndHoldTheScheduler) {
    RunPlan plan = preset("digits-cnn", Precision::Fp16, 130);
    plan.loss_scale.initial = std::ldexp(1.0, 32);
    plan.loss_scale.growth_interval = 50;
    plan.training.optimizer.name = "sgd";
    plan.training.optimizer.learning_rate = 0.05;
    plan.training.optimizer.momentum = 0.9;
    plan.training.scheduler.name = "step";
    plan.training.scheduler.step_size = 100;
    const Trained run = train(plan);
    std::int64_t first_applied = -1, skips = 0, faults = 0, first_low = -1;
    for (const StepRow& row : run.rows.steps) {
        if (!row.skipped && first_applied < 0) first_applied = row.step;
        skips += row.skipped ? 1 : 0;
        faults += row.skip_kind == SkipKind::Fault ? 1 : 0;
        if (first_low < 0 && row.learning_rate < 0.04) first_low = row.step;
    }
    EXPECT_GE(first_applied, 12);
    EXPECT_LE(first_applied, 18);
    EXPECT_EQ(faults, 0);
    std::int64_t skips_before_drop = 0;
    for (const StepRow& row : run.rows.steps)
        skips_before_drop += row.step < first_low && row.skipped ? 1 : 0;
    EXPECT_EQ(first_low, 100 + skips_before_drop);
    EXPECT_EQ(run.rows.steps.back().applied_step, 130 - skips);
    EXPECT_GT(std::stod(run.meta.at("final_scale")), 1.0);
}

TEST_F(Training, DamagedDataNamesLineAndColumn) {
    const auto file = m_runs / "digits.csv";
    std::ofstream out(file);
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 64; ++column) out << (row == 2 && column == 5 ? "x" : "3") << ',';
        out << row << '\n';
    }
    out.close();
    RunPlan plan = preset("digits-mlp", Precision::No);
    plan.dataset.file = file;
    const Error error = refused(plan);
    EXPECT_EQ(error.code, ErrorCode::InputOutput);
    EXPECT_NE(error.message.find("line 3, column 6: 'x' is no number"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace mantissa
