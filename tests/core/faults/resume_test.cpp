// Saving, loading and going on: rows 33, 34, 36, and row 1's checkpoint in half.
#include "../../support/temporary_folder.h"
#include "fault_testing.h"
#include "formats/safetensors.h"

namespace mantissa {
namespace {

struct Run {
    explicit Run(const AcceleratorOptions& options)
        : accelerator(options), trained(accelerator, {.learning_rate = 0.1}) {}
    Accelerator accelerator;
    Trained trained;
};

AcceleratorOptions every_third_step_grows() {
    auto options = fp16(65536);
    options.loss_scale.growth_interval = 3;
    return options;
}

TEST(Faults, row_33_scale_tracker_and_next_growth_are_taken_up_again) {
    const mantissa::testing::TemporaryFolder folder;
    Run before(every_third_step_grows());
    for (int i = 0; i < 5; ++i) before.trained.step(1);
    EXPECT_EQ(before.accelerator.loss_scale_state(), (LossScaleSchedule::State{131072, 2}));
    before.accelerator.save_state(folder.path() / "state");

    Run after(every_third_step_grows());
    after.accelerator.load_state(folder.path() / "state");
    EXPECT_EQ(after.accelerator.loss_scale_state(), (LossScaleSchedule::State{131072, 2}));
    for (const LossScaleSchedule::State& next : {LossScaleSchedule::State{262144, 0}, LossScaleSchedule::State{262144, 1}}) {
        before.trained.step(1);
        after.trained.step(1);
        EXPECT_EQ(before.accelerator.loss_scale_state(), next);
        EXPECT_EQ(after.accelerator.loss_scale_state(), next);
        EXPECT_EQ(value(after.trained.weight), value(before.trained.weight));
    }
}

// The report's order: the scaler was restored, then moved by the loading of the optimizer. Nothing steps here.
TEST(Faults, row_33_loading_steps_nothing_and_an_object_prepared_later_changes_nothing) {
    const mantissa::testing::TemporaryFolder folder;
    Run before(every_third_step_grows());
    for (int i = 0; i < 4; ++i) before.trained.step(i == 2 ? infinity : 1);
    const auto saved = before.accelerator.loss_scale_state();
    before.accelerator.save_state(folder.path() / "state");
    Run after(every_third_step_grows());
    after.accelerator.load_state(folder.path() / "state");
    Trained later(after.accelerator, {.learning_rate = 0.1});
    EXPECT_EQ(after.accelerator.loss_scale_state(), saved);
}

TEST(Faults, row_33_the_state_machine_alone_goes_on_the_same) {
    LossScaleSchedule first({.initial = 65536, .growth_interval = 3}), second({.initial = 65536, .growth_interval = 3});
    for (int i = 0; i < 5; ++i) first.record(GradientFinding::Finite);
    second.restore(first.state());
    first.record(GradientFinding::Finite);
    second.record(GradientFinding::Finite);
    EXPECT_EQ(first.state(), second.state());
    EXPECT_EQ(second.state(), (LossScaleSchedule::State{262144, 0}));
}

AcceleratorOptions named(const std::filesystem::path& project) {
    auto options = fp16(1024);
    options.project = {.directory = project, .automatic_checkpoint_naming = true, .total_limit = 2};
    return options;
}

TEST(Faults, row_34_after_a_resume_names_go_on_and_the_newest_loads) {
    const mantissa::testing::TemporaryFolder folder;
    {
        Run first(named(folder.path()));
        for (int i = 0; i < 4; ++i) {
            first.trained.step(1);
            EXPECT_EQ(first.accelerator.save_state().filename(), "checkpoint_" + std::to_string(i));
        }
        EXPECT_FALSE(std::filesystem::exists(folder.path() / "checkpoints/checkpoint_1"));
        EXPECT_TRUE(std::filesystem::exists(folder.path() / "checkpoints/checkpoint_2"));
    }
    Run second(named(folder.path()));
    EXPECT_EQ(second.accelerator.load_state().folder.filename(), "checkpoint_3");
    EXPECT_NEAR(value(second.trained.weight), 0.6, 1e-6);
    second.trained.step(1);
    EXPECT_EQ(second.accelerator.save_state().filename(), "checkpoint_4");  // upstream: checkpoint_0
    Run third(named(folder.path()));
    EXPECT_EQ(third.accelerator.load_state().folder.filename(), "checkpoint_4");
    EXPECT_NEAR(value(third.trained.weight), 0.5, 1e-6);
}

// Without a load: what is there is neither written over nor taken for newer.
TEST(Faults, row_34_a_new_run_beside_old_checkpoints_does_not_start_at_0) {
    const mantissa::testing::TemporaryFolder folder;
    Run first(named(folder.path()));
    first.trained.step(1);
    first.accelerator.save_state();
    first.accelerator.save_state();
    Run second(named(folder.path()));
    EXPECT_EQ(second.accelerator.save_state().filename(), "checkpoint_2");
}

TEST(Faults, row_36_a_prepared_model_saves_bare_fp32_weights) {
    const mantissa::testing::TemporaryFolder folder;
    Accelerator accelerator(fp16(1024));
    torch::nn::Linear linear(2, 2);
    auto model = accelerator.prepare(std::move(linear));
    static_cast<void>(model(torch::ones({1, 2})));
    const auto files = accelerator.save_model(model, folder.path());
    ASSERT_EQ(files.size(), 1U);

    torch::nn::Linear plain(2, 2);
    Accelerator other(fp16(1024));
    auto loaded = other.prepare(std::move(plain));
    other.load_model(loaded, folder.path());
    EXPECT_TRUE(torch::equal(loaded.unwrap()->weight, model.unwrap()->weight));
    EXPECT_TRUE(torch::equal(loaded.unwrap()->bias, model.unwrap()->bias));

    const auto state = accelerator.get_state_dict(model);
    ASSERT_EQ(state.size(), 2U);
    EXPECT_EQ(state[0].first, "weight");
    EXPECT_EQ(state[1].first, "bias");
    for (const auto& [name, tensor] : state) EXPECT_EQ(tensor.scalar_type(), torch::kFloat) << name;
}

}  // namespace
}  // namespace mantissa
