// Kept states lead back to the run, to the bit: the one at the start of a bad step, and the older one. Batch norm's statistics, random
// numbers (noise on every batch, drawn as a dropout would), windows of three batches of which an epoch's last is short.
#include <cstring>

#include "record/checkpoint_info.h"
#include "record/meta_keys.h"
#include "replay_fixture.h"
#include "run/kept_states.h"
#include "run/replay_run.h"
#include "run/step_start.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

class Noise : public BeforeUpdate {
  public:
    std::function<void(std::int64_t step)> at_update;

    void batch_in_hand(std::int64_t, std::size_t, Batch& batch) override {
        batch.features = batch.features + 0.1 * torch::rand_like(batch.features);
    }
    void nonfinite_loss(std::int64_t, const std::vector<Batch>&, double) override {}
    void before_update(std::int64_t step, const std::vector<Batch>&) override {
        if (at_update) at_update(step);
    }
};

class KeptStatesTest : public Replaying {
  protected:
    enum class When { BeforeUpdate, AfterStep };

    static RunPlan noisy_plan(Precision mode) {
        RunPlan plan = preset("digits-cnn", mode, 40);
        plan.training.batch_size = 300;
        plan.training.gradient_accumulation_steps = 3;
        plan.training.scheduler.name = "step";
        plan.training.scheduler.step_size = 3;
        plan.loss_scale.initial = 0x1p20;
        plan.loss_scale.growth_factor = 16;
        plan.loss_scale.growth_interval = 2;
        plan.observe.keep_states_every = 5;
        return plan;
    }

    /// Trains so many steps with a KeptStates; when it is asked, it writes the states of an incident at step `at`.
    std::vector<StepFacts> train_with_states(const RunPlan& plan, std::int64_t steps, std::int64_t at, When when) {
        m_trained_plan = plan;
        m_folder = *create_run_folder(m_runs, plan.name, plan.mixed_precision);
        m_prepare(m_folder);
        const auto recorder = RunRecorder::open(m_folder.path);
        RunSession session{m_folder, **recorder, m_control};
        const auto parts = build_run(plan, *choose_run_device(plan));
        LoopState loop;
        loop.data_hash = (*parts)->hashes.data;
        loop.training_split_hash = training_split_hash(**parts);
        (*parts)->accelerator.register_for_checkpointing(std::make_shared<SavedLoop>(loop));
        IncidentSources sources;
        std::string halt_reason;
        KeptStates kept({plan, **parts, session, sources, halt_reason, loop});
        const auto write = [&](std::int64_t step) {
            if (step == at) m_files = sources.write_states(incident_folder(m_folder.path, at), at);
        };
        Noise noise;
        if (when == When::BeforeUpdate) noise.at_update = write;
        StepRunner runner(**parts, plan.training, &noise);
        std::vector<StepFacts> all;
        for (std::int64_t step = 0; step < steps; ++step) {
            kept.before_step(step);
            const StepFacts facts = runner.run().facts;
            loop.applied += facts.skipped ? 0 : 1;
            loop.skips.record({facts.skipped, facts.nonfinite_loss, facts.loss_scale_after});
            if (when == When::AfterStep) write(step);
            ++loop.step;
            all.push_back(facts);
        }
        return all;
    }

    /// From a written state the rest of the run comes out again.
    void expect_leads_back(const RunPlan& plan, const std::string& name, std::int64_t at, const std::vector<StepFacts>& run) {
        const auto info = read_checkpoint_info(incident_folder(m_folder.path, at) / name);
        ASSERT_TRUE(info.ok()) << describe(info.error());
        EXPECT_EQ(name, "state_" + std::to_string(info->step));
        EXPECT_EQ(info->run(), m_folder.path);
        EXPECT_TRUE(info->is_of_a_run());
        Noise noise;
        ReplayRun replay(plan, noise);
        replay.start_from(*info);
        ASSERT_EQ(replay.step(), info->step);
        while (replay.step() < static_cast<std::int64_t>(run.size())) {
            const StepFacts& was = run[static_cast<std::size_t>(replay.step())];
            const StepFacts is = replay.next_step().outcome.facts;
            EXPECT_EQ(is.losses, was.losses) << name << ", step " << was.step;
            EXPECT_TRUE(same_bits(is.grad_norm, was.grad_norm)) << name << ", step " << was.step;
            EXPECT_EQ(is.loss_scale, was.loss_scale) << name << ", step " << was.step;
            EXPECT_EQ(is.growth_tracker, was.growth_tracker) << name << ", step " << was.step;
            EXPECT_EQ(is.learning_rate, was.learning_rate) << name << ", step " << was.step;
            EXPECT_EQ(is.skipped, was.skipped) << name << ", step " << was.step;
        }
    }

    std::map<std::string, std::string> meta() const {
        const auto reader = RunReader::open(m_folder.path);
        return reader.ok() ? *(*reader)->meta() : std::map<std::string, std::string>{};
    }

    RunFolder m_folder;
    KeptStateFiles m_files;
};

void expect_same_tensors(const NamedTensors& is, const NamedTensors& was, std::int64_t step) {
    ASSERT_EQ(is.size(), was.size()) << step;
    for (std::size_t i = 0; i < is.size(); ++i) {
        EXPECT_EQ(is[i].first, was[i].first);
        EXPECT_TRUE(is[i].second.equal(was[i].second)) << is[i].first << ", step " << step;
    }
}

// Noted in numbers before every step; read whole, at the same moment, it says the same. Seven epochs in another order each, whose last
// window is short; skips; numbers drawn in pairs, of which one waits.
TEST_F(KeptStatesTest, TheNotedStartOfAStepIsWhatTheWholeStateTold) {
    const RunPlan plan = noisy_plan(Precision::Fp16);
    const auto parts = build_run(plan, *choose_run_device(plan));
    LoopState loop;
    loop.data_hash = "data";
    (*parts)->accelerator.register_for_checkpointing(std::make_shared<SavedLoop>(loop));
    Noise noise;
    StepRunner runner(**parts, plan.training, &noise);
    StepStart start;
    std::int64_t skips = 0, epochs = 0;
    for (; loop.step < 14; ++loop.step) {
        static_cast<void>(torch::randn({3}));
        static_cast<void>(torch::randn({1}, at::kDouble));
        start.note(loop.step, **parts, loop);
        EXPECT_EQ(start.step(), loop.step);
        const Checkpoint was = (*parts)->accelerator.state();
        const StepOutcome outcome = runner.run();
        Checkpoint is = (*parts)->accelerator.state();
        start.put_into(is);
        EXPECT_EQ(is.step, was.step);
        EXPECT_EQ(is.applied_steps, was.applied_steps);
        EXPECT_EQ(is.epoch, was.epoch);
        EXPECT_EQ(is.loss_scale->scale, was.loss_scale->scale);
        EXPECT_EQ(is.loss_scale->growth_tracker, was.loss_scale->growth_tracker);
        EXPECT_EQ(is.loaders.at(0).facts, was.loaders.at(0).facts) << loop.step;
        EXPECT_EQ(is.objects.at(0).facts, was.objects.at(0).facts) << loop.step;
        expect_same_tensors(is.random_states, was.random_states, loop.step);
        for (const char* name : {"micro_step", "window_size", "attempts", "applied", "attempt_open", "is_due", "was_held", "facts_open",
                                 "end_of_data", "losses", "optimizer.0.stage"})
            EXPECT_EQ(is.accelerator.facts.at(name), was.accelerator.facts.at(name)) << name << ", step " << loop.step;
        loop.applied += outcome.facts.skipped ? 0 : 1;
        loop.skips.record({outcome.facts.skipped, outcome.facts.nonfinite_loss, outcome.facts.loss_scale_after});
        skips += outcome.facts.skipped ? 1 : 0;
        epochs = outcome.epoch;
    }
    EXPECT_GT(skips, 1);
    EXPECT_GE(epochs, 6);
}

TEST_F(KeptStatesTest, BeforeAnUpdateTheStartOfTheStepAndAnOlderState) {
    const RunPlan plan = noisy_plan(Precision::No);
    const auto run = train_with_states(plan, 16, 13, When::BeforeUpdate);
    EXPECT_EQ(m_files.names, (std::vector<std::string>{"state_5", "state_13"})) << m_files.reason;
    EXPECT_EQ(m_files.reason, "");
    for (const std::string& name : m_files.names) expect_leads_back(plan, name, 13, run);
    std::int64_t bytes = 0;
    for (const auto& file : fs::recursive_directory_iterator(m_folder.incidents()))
        if (file.is_regular_file()) bytes += static_cast<std::int64_t>(file.file_size());
    EXPECT_EQ(m_files.bytes, bytes);
    EXPECT_EQ(meta().at(meta::kept_states), "2");
    EXPECT_EQ(meta().at(meta::kept_states_reason), "");
}

TEST_F(KeptStatesTest, AfterASkippedStepItsStartAndAfterAnAppliedOneTheOlderAlone) {
    const RunPlan plan = noisy_plan(Precision::Fp16);
    const auto run = train_with_states(plan, 16, -1, When::AfterStep);
    std::int64_t skipped = -1, applied = -1;
    for (const StepFacts& facts : run) {
        if (facts.step > 6 && facts.step % 5 != 0 && skipped < 0 && facts.skipped) skipped = facts.step;
        if (facts.step > 6 && applied < 0 && !facts.skipped) applied = facts.step;
    }
    ASSERT_TRUE(skipped > 0 && applied > 0);
    train_with_states(plan, 16, skipped, When::AfterStep);
    ASSERT_EQ(m_files.names.size(), 2u) << m_files.reason;
    EXPECT_EQ(m_files.names[1], "state_" + std::to_string(skipped));
    for (const std::string& name : m_files.names) expect_leads_back(plan, name, skipped, run);
    train_with_states(plan, 16, applied, When::AfterStep);
    ASSERT_EQ(m_files.names.size(), 1u);
    expect_leads_back(plan, m_files.names[0], applied, run);
}

TEST_F(KeptStatesTest, ThreeIncidentsTakeStatesAlong) {
    const RunPlan plan = preset("digits-mlp", Precision::No, 10);
    const RunFolder folder = *create_run_folder(m_runs, "many", Precision::No);
    const auto recorder = RunRecorder::open(folder.path);
    RunSession session{folder, **recorder, m_control};
    const auto parts = build_run(plan, *choose_run_device(plan));
    LoopState loop;
    IncidentSources sources;
    std::string halt_reason;
    KeptStates kept({plan, **parts, session, sources, halt_reason, loop});
    (*parts)->accelerator.register_for_checkpointing(std::make_shared<SavedLoop>(loop));
    StepRunner runner(**parts, plan.training, nullptr);
    for (loop.step = 0; loop.step < 4; ++loop.step) {
        kept.before_step(loop.step);
        runner.run();
        for (int twice = 0; twice < 2; ++twice) {
            const KeptStateFiles files = sources.write_states(incident_folder(folder.path, loop.step), loop.step);
            EXPECT_EQ(files.names.size(), loop.step < 3 ? 1u : 0u) << loop.step << files.reason;
            EXPECT_EQ(files.reason.empty(), loop.step < 3);
        }
    }
}

TEST_F(KeptStatesTest, AStateAboveTheBoundIsNotKeptAndSaysSo) {
    RunPlan plan = preset("digits-mlp", Precision::No, 3);
    plan.model.hidden = 4096;  // 307,210 weights: 1.2 MB, with AdamW's moments 3.7 MB
    plan.observe.keep_states_mib = 3;
    plan.observe.keep_states_every = 2;
    train_with_states(plan, 4, 3, When::AfterStep);
    EXPECT_TRUE(m_files.names.empty());
    EXPECT_NE(m_files.reason.find("observe.keep_states_mib = 3"), std::string::npos) << m_files.reason;
    EXPECT_EQ(meta().at(meta::kept_states), "0");
    EXPECT_EQ(meta().at(meta::kept_states_reason), m_files.reason);
    EXPECT_EQ(meta().at(meta::kept_states_bytes), "0");
}

TEST_F(KeptStatesTest, ADamagedStateIsNamed) {
    const RunPlan plan = noisy_plan(Precision::No);
    train_with_states(plan, 8, 7, When::BeforeUpdate);
    ASSERT_FALSE(m_files.names.empty());
    const fs::path state = incident_folder(m_folder.path, 7) / m_files.names.back();
    {
        std::fstream weights(state / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
        weights.seekp(-4, std::ios::end);
        weights.write("\x7f", 1);
    }
    ReplayRequest request = request_of(m_folder.path, plan, 7, "as_was");
    request.state = state;
    const Error error = refused_replay(request);
    EXPECT_NE(error.message.find("model.safetensors is damaged"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace mantissa
