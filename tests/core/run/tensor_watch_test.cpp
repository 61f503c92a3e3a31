// What a run records of its tensors (design §7, levels 0 to 2).
#include "run/tensor_watch.h"

#include <algorithm>
#include <set>

#include "record/exponent_histogram.h"
#include "record/meta_keys.h"
#include "run/record_schedule.h"
#include "run/run_parts.h"
#include "training_fixture.h"

namespace mantissa {
namespace {

class TensorWatching : public Training {
  protected:
    static std::vector<TensorStatRow> stats(const Trained& run, TensorRole role, const std::string& tensor = {}) {
        auto reader = RunReader::open(run.folder.path);
        EXPECT_TRUE(reader.ok());
        auto rows = (*reader)->tensor_stats(role, tensor);
        EXPECT_TRUE(rows.ok());
        return rows ? *rows : std::vector<TensorStatRow>{};
    }
    static std::set<std::int64_t> watched_steps(const Trained& run) {
        std::set<std::int64_t> steps;
        for (const TensorStatRow& row : run.rows.tensor_stats) steps.insert(row.step);
        return steps;
    }
    static std::vector<ExtremesRow> extremes(const Trained& run) {
        auto reader = RunReader::open(run.folder.path);
        EXPECT_TRUE(reader.ok());
        auto rows = (*reader)->extremes();
        EXPECT_TRUE(rows.ok());
        return rows ? *rows : std::vector<ExtremesRow>{};
    }
    static std::vector<std::string> parameters(const Trained& run) {
        return nlohmann::json::parse(run.meta.at(meta::parameters)).get<std::vector<std::string>>();
    }
    static RunPlan watched(const std::string& id, Precision mode, std::int64_t steps, std::int64_t level, std::int64_t every = 50) {
        RunPlan plan = preset(id, mode, steps);
        plan.observe.level = level;
        plan.observe.every_steps = every;
        plan.evaluation.every = 0;
        plan.checkpoint.at_end = false;
        return plan;
    }
    static double number(const Trained& run, const char* key) { return std::stod(run.meta.at(key)); }
};

TEST_F(TensorWatching, LevelOneRecordsEveryTensorEveryNSteps) {
    const Trained run = train(watched("digits-cnn", Precision::No, 25, 1, 10));
    EXPECT_EQ(watched_steps(run), (std::set<std::int64_t>{0, 10, 20}));
    const std::vector<std::string> names = parameters(run);
    ASSERT_EQ(names.size(), 8U);
    std::map<std::string, std::set<std::string>> seen;
    for (const TensorStatRow& row : run.rows.tensor_stats) {
        seen[to_string(row.role)].insert(row.tensor);
        EXPECT_EQ(row.dtype, "float32") << row.tensor;
        EXPECT_EQ(row.nan + row.pos_inf + row.neg_inf, 0);
        EXPECT_GE(row.largest, row.rms);
        EXPECT_GE(row.rms, row.mean_abs * (1 - 1e-12));
        EXPECT_EQ(row.unmoved.has_value(), row.role == TensorRole::Update);
    }
    for (const char* role : {"weight", "gradient", "update"}) EXPECT_EQ(seen[role], std::set<std::string>(names.begin(), names.end()));
    EXPECT_EQ(seen["output"].size(), 10U);  // the layers of the preset's network
    for (const TensorRole role : {TensorRole::Weight, TensorRole::Gradient, TensorRole::Update, TensorRole::Output}) {
        for (const TensorStatRow& row : stats(run, role)) {
            const auto histogram = ExponentHistogram::from_blob(row.exponents);
            ASSERT_TRUE(histogram.ok());
            EXPECT_EQ(static_cast<std::int64_t>(histogram->count()), row.elements - row.zero) << row.tensor;
        }
    }
    EXPECT_EQ(number(run, meta::watch_steps), 25);
    EXPECT_EQ(number(run, meta::watch_record_steps), 3);
    EXPECT_GT(number(run, meta::watch_record_ns), 0);
    EXPECT_GE(number(run, meta::watch_ns), number(run, meta::watch_record_ns));
    EXPECT_EQ(run.meta.at(meta::watch_level), "1");
    EXPECT_FALSE(run.meta.contains(meta::watch_thinned));
}

// The first records are those of the initial weights, and a first update of AdamW moves each weight with a gradient by its rate.
TEST_F(TensorWatching, FirstStepIsThatOfTheInitialWeights) {
    const RunPlan plan = watched("digits-mlp", Precision::No, 1, 1);
    const Trained run = train(plan);
    const auto choice = choose_run_device(plan);
    const auto parts = build_run(plan, *choice);
    ASSERT_TRUE(parts.ok());
    for (const auto& entry : (*parts)->bare_model().named_parameters()) {
        const auto rows = stats(run, TensorRole::Weight, entry.key());
        ASSERT_EQ(rows.size(), 1U);
        const TensorStatRow expected = tensor_record(entry.value());
        EXPECT_EQ(rows[0].exponents, expected.exponents);
        EXPECT_EQ(rows[0].largest, expected.largest);
        EXPECT_EQ(rows[0].mean, expected.mean);
        const auto updates = stats(run, TensorRole::Update, entry.key());
        ASSERT_EQ(updates.size(), 1U);
        EXPECT_NEAR(updates[0].largest, plan.training.optimizer.learning_rate, 2e-5);
        EXPECT_EQ(updates[0].unmoved, 0.0);
    }
    // Level 0 saw the weights after that update.
    const auto largest = extremes(run);
    ASSERT_EQ(largest.size(), 1U);
    const auto gradients = stats(run, TensorRole::Gradient);
    ASSERT_EQ(largest[0].gradient.size(), gradients.size());
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        EXPECT_EQ(largest[0].gradient[i], gradients[i].largest);
        EXPECT_EQ(largest[0].nonfinite[i], 0U);
        const double before = stats(run, TensorRole::Weight, gradients[i].tensor)[0].largest;
        EXPECT_NEAR(largest[0].parameter[i], before, 1.1e-3);
        EXPECT_NE(largest[0].parameter[i], before);
    }
}

// One histogram serves every scale because the recorded gradient is unscaled.
TEST_F(TensorWatching, GradientsAreUnscaledAndOutputsHaveTheirDtype) {
    RunPlan plan = watched("digits-mlp", Precision::Fp16, 1, 1);
    plan.loss_scale.initial = 1024;
    const Trained half = train(plan);
    ASSERT_FALSE(half.rows.steps[0].skipped);
    double squares = 0;
    for (const TensorStatRow& row : stats(half, TensorRole::Gradient))
        squares += row.rms * row.rms * static_cast<double>(row.elements);
    EXPECT_NEAR(std::sqrt(squares), half.rows.steps[0].grad_norm, 1e-6 * half.rows.steps[0].grad_norm);
    std::set<std::string> dtypes;
    for (const TensorStatRow& row : half.rows.tensor_stats) {
        if (row.role == TensorRole::Output) {
            dtypes.insert(row.dtype);
        } else {
            EXPECT_EQ(row.dtype, "float32");
        }
    }
    EXPECT_TRUE(dtypes.contains("float16"));
}

TEST_F(TensorWatching, ASkippedStepHasNoUpdatesAndAGrownScaleIsLookedAt) {
    RunPlan plan = watched("digits-mlp", Precision::Fp16, 8, 1, 1000);
    plan.loss_scale.initial = 1024;
    plan.loss_scale.growth_interval = 3;
    plan.loss_scale.growth_factor = 0x1p30;  // overflows at once, and comes back slowly
    const Trained run = train(plan);
    ASSERT_EQ(run.rows.steps.size(), 8U);
    EXPECT_EQ(watched_steps(run), (std::set<std::int64_t>{0, 3}));
    EXPECT_TRUE(run.rows.steps[3].skipped);
    for (const TensorStatRow& row : run.rows.tensor_stats) EXPECT_FALSE(row.step == 3 && row.role == TensorRole::Update);
    std::int64_t nonfinite = 0;
    for (const TensorStatRow& row : run.rows.tensor_stats)
        if (row.step == 3 && row.role == TensorRole::Gradient) nonfinite += row.nan + row.pos_inf + row.neg_inf;
    EXPECT_EQ(nonfinite, run.rows.steps[3].nonfinite_grads);
    EXPECT_GT(nonfinite, 0);
    std::int64_t of_level_0 = 0;
    for (const ExtremesRow& row : extremes(run))
        if (row.first_step == 3)
            for (const std::uint32_t count : row.nonfinite) of_level_0 += count;
    EXPECT_EQ(of_level_0, nonfinite);
}

TEST_F(TensorWatching, LevelZeroRecordsNoTensorAndEveryStep) {
    const Trained run = train(watched("digits-mlp", Precision::No, 12, 0));
    EXPECT_TRUE(run.rows.tensor_stats.empty());
    const auto rows = extremes(run);
    ASSERT_EQ(rows.size(), 12U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].first_step, static_cast<std::int64_t>(i));
        EXPECT_EQ(rows[i].parameter.size(), parameters(run).size());
        for (const float value : rows[i].gradient) EXPECT_GT(value, 0);
    }
}

TEST_F(TensorWatching, OutputsOfTheFirstMicroBatchGradientsOfTheWindow) {
    RunPlan plan = watched("digits-mlp", Precision::No, 2, 2);
    plan.training.gradient_accumulation_steps = 3;
    const Trained run = train(plan);
    EXPECT_EQ(watched_steps(run), (std::set<std::int64_t>{0, 1}));
    for (const std::int64_t step : {0, 1}) {
        std::map<std::string, int> outputs;
        double squares = 0;
        for (const TensorStatRow& row : run.rows.tensor_stats) {
            if (row.step != step) continue;
            if (row.role == TensorRole::Output) ++outputs[row.tensor];
            if (row.role == TensorRole::Gradient) squares += row.rms * row.rms * static_cast<double>(row.elements);
        }
        EXPECT_FALSE(outputs.empty());
        for (const auto& [place, count] : outputs) EXPECT_EQ(count, 1) << place;
        const double norm = run.rows.steps[static_cast<std::size_t>(step)].grad_norm;
        EXPECT_NEAR(std::sqrt(squares), norm, 1e-9 * norm);
    }
}

// 1,437 samples in batches of 500 are windows of 2 and of 1: the short one is weighted up, as it is applied.
TEST_F(TensorWatching, AShortWindowIsRecordedWithItsWeight) {
    RunPlan plan = watched("digits-mlp", Precision::No, 2, 2);
    plan.training.gradient_accumulation_steps = 2;
    plan.training.batch_size = 500;
    const Trained run = train(plan);
    for (const std::int64_t step : {0, 1}) {
        double squares = 0;
        for (const TensorStatRow& row : run.rows.tensor_stats)
            if (row.step == step && row.role == TensorRole::Gradient) squares += row.rms * row.rms * static_cast<double>(row.elements);
        const double norm = run.rows.steps[static_cast<std::size_t>(step)].grad_norm;
        EXPECT_NEAR(std::sqrt(squares), norm, 1e-6 * norm) << step;
    }
}

/// Posts a command before a step.
class CommandGate : public StepGate {
  public:
    explicit CommandGate(RunControl& control, std::map<std::int64_t, ControlCommand> commands)
        : m_control(control), m_commands(std::move(commands)) {}
    void wait_for_turn(std::int64_t next_step, const RunControl& /*control*/) override {
        if (const auto command = m_commands.find(next_step); command != m_commands.end()) m_control.post(command->second);
    }
    void run_ended() override {}

  private:
    RunControl& m_control;
    std::map<std::int64_t, ControlCommand> m_commands;
};

TEST_F(TensorWatching, TheLevelIsSwitchedWhileItRuns) {
    RunControl control;
    CommandGate gate(control, {{3, ControlCommand::Watch2}, {6, ControlCommand::Watch1}, {8, ControlCommand::Watch0}});
    const Trained run = train(watched("digits-mlp", Precision::No, 12, 1, 1000), control, &gate);
    EXPECT_EQ(watched_steps(run), (std::set<std::int64_t>{0, 3, 4, 5, 6}));
    EXPECT_EQ(run.meta.at(meta::watch_level), "0");
    EXPECT_EQ(extremes(run).size(), 12U);
}

TEST_F(TensorWatching, WatchingChangesNoBitOfTheTraining) {
    const Trained plain = train(watched("digits-cnn", Precision::No, 6, -1)), close = train(watched("digits-cnn", Precision::No, 6, 2));
    ASSERT_TRUE(extremes(plain).empty());
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(plain.rows.steps[i].loss, close.rows.steps[i].loss);
        EXPECT_EQ(plain.rows.steps[i].grad_norm, close.rows.steps[i].grad_norm);
        // Copies of the weights are memory of the watch, not of the training, and no gradient lives longer.
        EXPECT_EQ(plain.rows.steps[i].memory_bytes, close.rows.steps[i].memory_bytes) << i;
        EXPECT_EQ(plain.rows.steps[i].memory_peak_bytes, close.rows.steps[i].memory_peak_bytes) << i;
    }
    // Nor is a look an op of the counted step.
    ASSERT_EQ(plain.rows.op_dtypes.size(), close.rows.op_dtypes.size());
    for (std::size_t i = 0; i < plain.rows.op_dtypes.size(); ++i) {
        EXPECT_EQ(plain.rows.op_dtypes[i].op, close.rows.op_dtypes[i].op);
        EXPECT_EQ(plain.rows.op_dtypes[i].calls, close.rows.op_dtypes[i].calls);
    }
}

TEST_F(TensorWatching, AResumedRunLooksAtItsFirstStep) {
    RunPlan plan = watched("digits-mlp", Precision::No, 7, 1, 1000);
    plan.checkpoint.at_end = true;
    const Trained first = train(plan);
    plan.checkpoint.resume_from = first.folder.path.string();
    plan.training.max_steps = 10;
    const Trained second = train(plan);
    EXPECT_EQ(watched_steps(second), (std::set<std::int64_t>{7}));
    const auto rows = extremes(second);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].first_step, 7);
    // The weights that it begins with are those that the first run ended with.
    const auto names = parameters(second);
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(static_cast<float>(stats(second, TensorRole::Weight, names[i])[0].largest), extremes(first).back().parameter[i]);
    }
}

// The first step counts ops of both passes, and mixed precision's casts.
TEST_F(TensorWatching, CountedOpsCoverForwardAndBackward) {
    const Trained run = train(watched("digits-cnn", Precision::Bf16, 1, 0));
    std::map<std::string, std::int64_t> calls, casts, bytes, half;
    for (const OpDtypeRow& row : run.rows.op_dtypes) {
        calls[row.phase] += row.calls;
        casts[row.phase] += row.casts;
        bytes[row.phase] += row.cast_bytes;
        if (row.dtype == "bfloat16") half[row.phase] += row.multiply_adds;
    }
    for (const char* phase : {"forward", "backward"}) {
        EXPECT_GT(calls[phase], 0) << phase;
        EXPECT_GT(casts[phase], 0) << phase;
        EXPECT_GT(bytes[phase], casts[phase]) << phase;
        EXPECT_GT(half[phase], 0) << phase;
    }
}

TEST(RecordSchedule, EveryNStepsAndTheFirst) {
    RecordSchedule schedule(1, 50);
    EXPECT_TRUE(schedule.is_due(7));  // of a run that was resumed
    EXPECT_FALSE(schedule.recorded(7, 100));
    EXPECT_FALSE(schedule.is_due(8));
    EXPECT_TRUE(schedule.is_due(50));
    schedule.scale_grew();
    EXPECT_TRUE(schedule.is_due(61));
    schedule.recorded(61, 100);
    EXPECT_FALSE(schedule.is_due(62));
    schedule.set_level(0);
    EXPECT_FALSE(schedule.is_due(100));
    EXPECT_EQ(schedule.distance(), 0);
    schedule.set_level(2);
    EXPECT_TRUE(schedule.is_due(101));
    EXPECT_EQ(schedule.distance(), 1);
}

// 100,000 steps at level 2, of small and of large records.
TEST(RecordSchedule, BoundsARecording) {
    for (const std::int64_t bytes_of_step : {std::int64_t{10'000}, std::int64_t{400'000}}) {
        RecordSchedule schedule(2, 50);
        std::int64_t records = 0, bytes = 0, last = -1, longest = 0;
        for (std::int64_t step = 0; step < 100'000; ++step) {
            schedule.scale_grew();  // at every step: that doesn't open the door
            if (!schedule.is_due(step)) continue;
            longest = std::max(longest, step - last);
            last = step;
            ++records;
            bytes += bytes_of_step;
            schedule.recorded(step, bytes_of_step);
        }
        EXPECT_GE(records, 400);
        EXPECT_LE(bytes, std::int64_t{256} << 20);
        EXPECT_LE(longest, 4 * schedule.distance());
    }
}

TEST(RecordSchedule, ASwitchStartsWithTheFinestDistance) {
    RecordSchedule schedule(1, 50);
    for (std::int64_t i = 0; i < 512; ++i) schedule.recorded(i * 50, 10);
    EXPECT_EQ(schedule.distance(), 100);
    schedule.set_level(1);  // no switch
    EXPECT_EQ(schedule.distance(), 100);
    schedule.set_level(2);
    EXPECT_EQ(schedule.distance(), 1);
}

}  // namespace
}  // namespace mantissa
