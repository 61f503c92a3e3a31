// A replay repeats the run to the bit, names the birth, and each change of one thing has the outcome that it must have.
#include <set>

#include "record/checkpoint_info.h"
#include "record/replica.h"
#include "replay_fixture.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

TEST_F(Replaying, GatedOverflowIsRepeatedToTheBitAndItsBirthNamed) {
    const RunPlan plan = preset("gated-overflow", Precision::Fp16);
    const Trained run = train_planned(plan);
    ASSERT_EQ(run.end.state, RunState::StoppedNonfinite);
    const std::int64_t step = run.nonfinite_steps().front();

    ReplayRequest request = request_of(run.folder.path, plan, step, "as_was");
    request.watch_ops = true;
    request.watch_place = "gate.mul";
    request.later_steps = 2;
    request.keep_state = m_runs / "kept";
    const ReplayAnswer as_was = replayed(request);
    EXPECT_EQ(as_was.reproduced, Reproduced::Bits) << as_was.reproduced_reason;
    EXPECT_EQ(as_was.reproduced_reason, "");
    EXPECT_EQ(as_was.start_step, 0);
    ASSERT_TRUE(as_was.birth.has_value());
    EXPECT_EQ(as_was.birth->place(), "gate.mul");
    EXPECT_EQ(as_was.birth->code, "activation_overflow");
    EXPECT_EQ(as_was.birth->producer.phase, "forward");
    EXPECT_EQ(as_was.limit, 65504);
    EXPECT_EQ(as_was.variant.state, "done");
    EXPECT_EQ(as_was.variant.this_step_finite, false);
    EXPECT_EQ(as_was.variant.value, "NaN");
    EXPECT_EQ(as_was.variant.place, "gate.mul");
    EXPECT_TRUE(as_was.variant.same_place);
    EXPECT_FALSE(as_was.variant.holds());

    // One value for each step before: all of them inside the format, the last ones near its end.
    ASSERT_EQ(static_cast<std::int64_t>(as_was.producer_largest.size()), step);
    for (std::int64_t i = 0; i < step; ++i) {
        EXPECT_EQ(as_was.producer_largest[static_cast<std::size_t>(i)].step, i);
        EXPECT_LE(as_was.producer_largest[static_cast<std::size_t>(i)].value, 65504);
    }
    EXPECT_LT(as_was.producer_largest.front().value, 65504 / 2);
    EXPECT_GT(as_was.producer_largest.back().value, as_was.producer_largest.front().value);

    // The state that it kept is that of the step, and everything else begins there.
    const auto kept = read_checkpoint_info(request.keep_state);
    ASSERT_TRUE(kept.ok());
    EXPECT_EQ(kept->step, step);
    request.keep_state.clear();
    request.state = kept->path;
    const ReplayAnswer from_state = replayed(request);
    EXPECT_EQ(from_state.reproduced, Reproduced::Bits) << from_state.reproduced_reason;
    EXPECT_EQ(from_state.start_step, step);
    EXPECT_EQ(from_state.birth->place(), "gate.mul");

    ReplayRequest scale = request_of(run.folder.path, plan, step, "scale_1");
    scale.state = kept->path;
    scale.watch_place = "gate.mul";
    scale.loss_scale = 1;
    const ReplayAnswer scale_1 = replayed(scale);
    EXPECT_EQ(scale_1.variant.this_step_finite, false);
    EXPECT_TRUE(scale_1.variant.same_place);

    ReplayRequest gate = request_of(run.folder.path, plan, step, "island");
    gate.state = kept->path;
    gate.plan.fp32_islands = {"gate.mul", "gate.down"};
    gate.later_steps = 20;
    const ReplayAnswer island = replayed(gate);
    EXPECT_EQ(island.variant.this_step_finite, true) << island.variant.place;
    EXPECT_TRUE(island.variant.holds()) << *island.variant.later_bad_at;
    EXPECT_EQ(island.variant.later_steps, 20);
    EXPECT_TRUE(std::isfinite(*island.variant.later_loss));

    gate.plan.fp32_islands = {"gate.mul"};
    const ReplayAnswer product_alone = replayed(gate);
    EXPECT_EQ(product_alone.variant.this_step_finite, false);

    ReplayRequest other = request_of(run.folder.path, plan, step, "previous_batch");
    other.state = kept->path;
    other.previous_batch = true;
    const ReplayAnswer previous = replayed(other);
    // The step before was finite with this batch and nearly these weights.
    ASSERT_TRUE(previous.variant.loss.has_value());
    EXPECT_NE(*previous.variant.loss, run.rows.steps[static_cast<std::size_t>(step - 1)].loss);

    // A change on the way: the steps before it are the run's, the ones after it are not compared.
    ReplayRequest half = request_of(run.folder.path, plan, step, "half_rate");
    half.plan.training.optimizer.learning_rate /= 2;
    half.change_from = step - 5;
    const ReplayAnswer half_rate = replayed(half);
    EXPECT_EQ(half_rate.reproduced, Reproduced::Bits) << half_rate.reproduced_reason;
    EXPECT_EQ(half_rate.variant.from_step, step - 5);
}

// A repetition of the control visits other samples, a rounding replica begins with other weights. With a rate of 0 the weights stay, so the
// loss with the batch of the step before is what that step had.
TEST_F(Replaying, AReplicaIsRepeatedInItsOwnOrderFromItsOwnWeights) {
    RunPlan plan = preset("digits-mlp", Precision::No, 8);
    plan.training.optimizer.learning_rate = 0;
    std::set<std::vector<double>> courses;
    for (const Replica& replica : {Replica{}, Replica{ReplicaRole::Repetition, 1}, Replica{ReplicaRole::Rounding, 2}}) {
        m_prepare = [&](const RunFolder& folder) {
            EXPECT_TRUE(write_plan_file(folder.plan(), {plan, {}, {}}).ok());
            EXPECT_TRUE(!replica.is_replica() || write_replica(folder.path, replica).ok());
        };
        const Trained run = train(plan);
        ASSERT_EQ(run.rows.steps.size(), 8u);
        std::vector<double> norms;
        for (const StepRow& row : run.rows.steps) norms.push_back(row.grad_norm);
        courses.insert(norms);
        ReplayRequest request = request_of(run.folder.path, plan, 6, "as_was");
        const ReplayAnswer as_was = replayed(request);
        EXPECT_EQ(as_was.reproduced, Reproduced::Bits) << replica.label() << ": " << as_was.reproduced_reason;
        EXPECT_EQ(as_was.variant.loss, run.rows.steps[6].loss) << replica.label();
        request.previous_batch = true;
        EXPECT_EQ(replayed(request).variant.loss, run.rows.steps[5].loss) << replica.label();
    }
    EXPECT_EQ(courses.size(), 3u);
}

TEST_F(Replaying, AnotherModeBeginsAtAStateOfTheStep) {
    const RunPlan plan = preset("gated-overflow", Precision::Fp16);
    ASSERT_TRUE(elsewhere([&] {
        const Trained run = train_planned(plan);
        ReplayRequest request = request_of(run.folder.path, plan, run.nonfinite_steps().front(), "as_was");
        request.keep_state = m_runs / "kept";
        EXPECT_EQ(replayed(request).reproduced, Reproduced::Bits);
    }));
    const fs::path run = only_run();
    const auto kept = read_checkpoint_info(m_runs / "kept");
    ASSERT_TRUE(kept.ok());
    RunPlan control = plan;
    control.mixed_precision = Precision::No;
    ReplayRequest request = request_of(run, control, kept->step, "no");
    EXPECT_EQ(refused_replay(request).code, ErrorCode::BadPlan);
    request.state = kept->path;
    request.later_steps = 10;
    const ReplayAnswer answer = replayed(request);
    EXPECT_EQ(answer.variant.mode, Precision::No);
    EXPECT_EQ(answer.variant.this_step_finite, true);
    EXPECT_TRUE(answer.variant.holds());
    EXPECT_LT(*answer.variant.loss, 5);
    EXPECT_EQ(answer.reproduced, Reproduced::No);
    EXPECT_FALSE(answer.birth.has_value());
}

// "What if" on a healthy step, with windows of three batches of which the last is short.
TEST_F(Replaying, AHealthyStepWithAccumulationIsRepeatedFromTheSeedAndFromACheckpoint) {
    RunPlan plan = preset("digits-cnn", Precision::Fp16, 18);
    plan.training.batch_size = 300;
    plan.training.gradient_accumulation_steps = 3;
    plan.loss_scale.initial = 0x1p20;
    plan.loss_scale.growth_interval = 2;
    plan.checkpoint.every = 5;
    plan.checkpoint.keep = 10;
    const Trained run = train_planned(plan);
    ReplayRequest request = request_of(run.folder.path, plan, 16, "as_was");
    request.watch_ops = true;
    request.later_steps = 4;  // two of them behind the plan's end
    const ReplayAnswer seed = replayed(request);
    EXPECT_EQ(seed.reproduced, Reproduced::Bits) << seed.reproduced_reason;
    EXPECT_EQ(*seed.variant.loss, run.rows.steps[16].loss);
    EXPECT_EQ(seed.variant.later_steps, 4);
    EXPECT_FALSE(seed.birth.has_value());
    for (const std::int64_t from : {5, 10, 15}) {
        request.state = run.folder.checkpoints() / ("checkpoint_" + std::to_string(from));
        const ReplayAnswer answer = replayed(request);
        EXPECT_EQ(answer.reproduced, Reproduced::Bits) << from << ": " << answer.reproduced_reason;
        EXPECT_EQ(answer.start_step, from);
        EXPECT_EQ(answer.variant.later_loss, seed.variant.later_loss) << from;
    }
    request.state = run.folder.checkpoints() / "checkpoint_18";
    const Error behind = refused_replay(request);
    EXPECT_NE(behind.message.find("step 18"), std::string::npos) << behind.message;
}

// AdamW with eps 0 divides by a pixel's gradients that were never other than 0: loss and gradients of the step are finite, its update is
// not, and the next step begins with bad weights.
TEST_F(Replaying, AFaultOfAnUpdateIsFoundInTheStepThatMadeIt) {
    RunPlan plan = preset("digits-mlp", Precision::No, 6);
    plan.training.optimizer.eps = 0;
    const Trained run = train_planned(plan);
    ASSERT_EQ(run.end.state, RunState::StoppedNonfinite);
    const std::int64_t bad = run.nonfinite_steps().front();
    ASSERT_EQ(bad, 1);
    ReplayRequest request = request_of(run.folder.path, plan, bad, "as_was");
    request.watch_ops = true;
    const ReplayAnswer answer = replayed(request);
    EXPECT_EQ(answer.reproduced, Reproduced::Bits) << answer.reproduced_reason;
    ASSERT_TRUE(answer.birth.has_value());
    EXPECT_EQ(answer.birth->producer.phase, "update") << answer.birth->place();
    EXPECT_EQ(answer.birth->code, "adam_eps");
    EXPECT_EQ(answer.birth->step, 0) << "that of the update, not of the loss that shows it";
    request.step = 0;
    const ReplayAnswer itself = replayed(request);
    ASSERT_TRUE(itself.birth.has_value());
    EXPECT_EQ(itself.birth->code, "adam_eps");
    EXPECT_FALSE(itself.birth->step.has_value());
}

// Between the layers that name their outputs, in the loss, in a derivative, in the batch and in the weights: each step has its value.
TEST_F(Replaying, TheValueOfAnyPlaceIsFollowedOnTheWay) {
    RunPlan plan = preset("digits-mlp", Precision::No, 7);
    plan.training.loss = "naive_nll";
    plan.training.gradient_accumulation_steps = 2;
    const Trained run = train_planned(plan);
    const auto followed = [&](const BirthReport& birth) {
        ReplayRequest request = request_of(run.folder.path, plan, 6, "as_was");
        watch_birth(request, birth);
        const ReplayAnswer answer = replayed(request);
        EXPECT_EQ(answer.reproduced, Reproduced::Bits) << answer.reproduced_reason;
        return answer.producer_largest;
    };
    BirthReport birth;
    const auto of_op = [&](const char* phase, const char* module, const char* op, const char* kernel) {
        birth.producer.phase = phase;
        birth.producer.module = module;
        birth.producer.op = op;
        birth.producer.kernel = kernel;
        return followed(birth);
    };
    const auto logs = of_op("loss", "loss", "log", "log"), derivatives = of_op("backward", "loss", "log", "div");
    const auto first = of_op("forward", "hidden", "addmm", "addmm");
    birth = {};
    birth.tensor = "features";
    birth.producer.phase = "data";
    const auto batches = followed(birth);
    birth.tensor = "hidden.weight";
    birth.producer.phase = "parameter";
    const auto before = followed(birth);
    birth.producer.phase = "update";
    const auto after = followed(birth);
    std::vector<std::size_t> sizes;
    for (const auto* values : {&logs, &derivatives, &first, &batches, &before, &after}) sizes.push_back(values->size());
    ASSERT_EQ(sizes, std::vector<std::size_t>(6, 6));
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(logs[i].step, static_cast<std::int64_t>(i));
        // The smallest probability of any class: below the loss, which is the mean of one a sample.
        EXPECT_GT(logs[i].value, run.rows.steps[i].loss);
        EXPECT_LT(logs[i].value, 30);
        // One over a probability, divided by samples and micro-batches.
        EXPECT_GT(derivatives[i].value, 1.0 / 64);
        EXPECT_EQ(batches[i].value, batches[0].value);
        EXPECT_GT(first[i].value, 0);
        EXPECT_TRUE(i == 0 || before[i].value == after[i - 1].value) << i;
        EXPECT_NE(before[i].value, after[i].value);
    }
}

TEST_F(Replaying, ARunThatWentOnFromACheckpointBeginsThere) {
    RunPlan plan = preset("digits-cnn", Precision::No, 9);
    const Trained first = train_planned(plan);
    plan.training.max_steps = 20;
    plan.checkpoint.resume_from = (first.folder.checkpoints() / "checkpoint_9").string();
    const Trained second = train_planned(plan);
    ASSERT_EQ(second.rows.steps.front().step, 9);
    const ReplayAnswer answer = replayed(request_of(second.folder.path, plan, 15, "as_was"));
    EXPECT_EQ(answer.start_step, 9);
    EXPECT_EQ(answer.reproduced, Reproduced::Bits) << answer.reproduced_reason;
    ReplayRequest before = request_of(second.folder.path, plan, 8, "as_was");
    EXPECT_EQ(refused_replay(before).code, ErrorCode::BadPlan);
}

// Scope thread: the window's process trains on threads that come and go. Two runs after one another, each on its own: watched, switched
// while it goes, stopped by its bad step, which is looked at on that thread and done again on a third.
TEST_F(Replaying, ARunOnAThreadOfItsOwnIsWatchedSwitchedAndReplayed) {
    RunPlan plan = preset("gated-overflow", Precision::Fp16);
    plan.on_nonfinite = OnNonfinite::Stop;
    plan.observe.level = 0;
    m_trained_plan = plan;
    class Switch : public StepGate {
      public:
        explicit Switch(RunControl& control) : m_control(control) {}
        void wait_for_turn(std::int64_t next_step, const RunControl&) override {
            if (next_step == 10) m_control.post(ControlCommand::Watch2);
            if (next_step == 14) m_control.post(ControlCommand::Watch0);
        }
        void run_ended() override {}

      private:
        RunControl& m_control;
    };
    std::vector<Trained> runs;
    for (int i = 0; i < 2; ++i) {
        std::jthread([&] {
            RunControl control;
            Switch gate(control);
            runs.push_back(train(plan, control, &gate));
        }).join();
    }
    ASSERT_EQ(runs[0].rows.steps.size(), runs[1].rows.steps.size());
    for (std::size_t i = 0; i + 1 < runs[0].rows.steps.size(); ++i) EXPECT_EQ(runs[0].rows.steps[i].loss, runs[1].rows.steps[i].loss) << i;
    for (const Trained& run : runs) {
        ASSERT_EQ(run.end.state, RunState::StoppedNonfinite);
        std::set<std::int64_t> watched;
        for (const TensorStatRow& row : run.rows.tensor_stats) watched.insert(row.step);
        EXPECT_EQ(watched, (std::set<std::int64_t>{10, 11, 12, 13}));
        const std::int64_t step = run.nonfinite_steps().front();
        const auto incident = read_incident(incident_folder(run.folder.path, step));
        ASSERT_TRUE(incident.ok()) << describe(incident.error());
        ASSERT_TRUE(incident->birth.has_value());
        EXPECT_EQ(incident->birth->place(), "gate.mul");
        ASSERT_EQ(incident->states.size(), 2u) << incident->no_states;
        ReplayRequest request = request_of(run.folder.path, plan, step, "as_was");
        request.state = incident_folder(run.folder.path, step) / incident->states.back();
        request.watch_ops = true;
        std::jthread([&] {
            const ReplayAnswer answer = replayed(request);
            EXPECT_EQ(answer.reproduced, Reproduced::Bits) << answer.reproduced_reason;
            EXPECT_EQ(answer.start_step, step);
            ASSERT_TRUE(answer.birth.has_value());
            EXPECT_EQ(answer.birth->place(), "gate.mul");
        }).join();
    }
}

TEST_F(Replaying, ARecordOfAnotherCourseIsToldApart) {
    RunPlan plan = preset("digits-mlp", Precision::No, 12);
    const Trained run = train_planned(plan);
    plan.training.seed += 1;
    ASSERT_TRUE(write_plan_file(run.folder.plan(), {plan, {}, {}}).ok());
    const ReplayAnswer answer = replayed(request_of(run.folder.path, plan, 10, "as_was"));
    EXPECT_EQ(answer.reproduced, Reproduced::No);
    EXPECT_NE(answer.reproduced_reason.find("at step 0 the loss is "), std::string::npos) << answer.reproduced_reason;
}

}  // namespace
}  // namespace mantissa
