// Saving, loading and going on: rows 33, 34, 36, and row 1's checkpoint in half.
#include "../../support/temporary_folder.h"
#include "fault_testing.h"

namespace mantissa {
namespace {

struct Session {
    explicit Session(const AcceleratorOptions& options)
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
    Session before(every_third_step_grows());
    for (int i = 0; i < 5; ++i) before.trained.step(1);
    EXPECT_EQ(before.accelerator.loss_scale_state(), (LossScaleSchedule::State{131072, 2}));
    before.accelerator.save_state(folder.path() / "state");

    Session after(every_third_step_grows());
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
    Session before(every_third_step_grows());
    for (int i = 0; i < 4; ++i) before.trained.step(i == 2 ? infinity : 1);
    const auto saved = before.accelerator.loss_scale_state();
    before.accelerator.save_state(folder.path() / "state");
    Session after(every_third_step_grows());
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
        Session first(named(folder.path()));
        for (int i = 0; i < 4; ++i) {
            first.trained.step(1);
            EXPECT_EQ(first.accelerator.save_state().filename(), "checkpoint_" + std::to_string(i));
        }
        EXPECT_FALSE(std::filesystem::exists(folder.path() / "checkpoints/checkpoint_1"));
        EXPECT_TRUE(std::filesystem::exists(folder.path() / "checkpoints/checkpoint_2"));
    }
    Session second(named(folder.path()));
    EXPECT_EQ(second.accelerator.load_state().folder.filename(), "checkpoint_3");
    EXPECT_NEAR(value(second.trained.weight), 0.6, 1e-6);
    second.trained.step(1);
    EXPECT_EQ(second.accelerator.save_state().filename(), "checkpoint_4");  // upstream: checkpoint_0
    Session third(named(folder.path()));
    EXPECT_EQ(third.accelerator.load_state().folder.filename(), "checkpoint_4");
    EXPECT_NEAR(value(third.trained.weight), 0.5, 1e-6);
}

// Without a load, as upstream: what is there is never written over; the new run is told.
TEST(Faults, row_34_a_new_run_that_loads_nothing_writes_over_nothing) {
    const mantissa::testing::TemporaryFolder folder;
    Session first(named(folder.path()));
    first.trained.step(1);
    first.accelerator.save_state();
    Session second(named(folder.path()));
    EXPECT_THAT(message_of([&] { second.accelerator.save_state(); }), HasSubstr("checkpoint_0 exists already"));
    EXPECT_EQ(second.accelerator.load_state().folder.filename(), "checkpoint_0");
    EXPECT_EQ(second.accelerator.save_state().filename(), "checkpoint_1");
}

struct Nested : torch::nn::Module {
    Nested() {
        encoder = register_module("encoder", torch::nn::Linear(2, 3));
        norm = register_module("norm", torch::nn::BatchNorm1d(3));
    }
    torch::Tensor forward(const torch::Tensor& input) { return norm(encoder(input)); }
    torch::nn::Linear encoder{nullptr};
    torch::nn::BatchNorm1d norm{nullptr};
};

TEST(Faults, row_36_a_prepared_model_saves_bare_fp32_weights_that_load_into_a_plain_one) {
    const mantissa::testing::TemporaryFolder folder;
    Accelerator accelerator(fp16(1024));
    auto model = accelerator.prepare(std::make_shared<Nested>());
    static_cast<void>(model(torch::ones({4, 2})));
    const auto files = accelerator.save_model(model, folder.path());
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].filename(), "model.safetensors");

    std::vector<std::string> names;
    for (const auto& [name, tensor] : read_weights(folder.path())) {
        names.push_back(name);
        EXPECT_EQ(tensor.scalar_type(), name == "norm.num_batches_tracked" ? torch::kLong : torch::kFloat) << name;
    }
    EXPECT_THAT(names, ::testing::UnorderedElementsAre("encoder.weight", "encoder.bias", "norm.weight", "norm.bias",
                                                       "norm.running_mean", "norm.running_var", "norm.num_batches_tracked"));
    Nested plain;
    EXPECT_TRUE(load_weights(plain, folder.path()).is_complete());
    EXPECT_TRUE(torch::equal(plain.encoder->weight, model.unwrap()->encoder->weight));
    EXPECT_TRUE(torch::equal(plain.norm->running_mean, model.unwrap()->norm->running_mean));
}

// diffusers#1246: weights were loaded in the dtype of their file, and so became half. Here they keep theirs.
TEST(Faults, row_1_a_file_of_half_weights_leaves_the_weights_fp32) {
    const mantissa::testing::TemporaryFolder folder;
    save_weights({{"weight", torch::full({1, 1}, 0.1, torch::kHalf)}, {"bias", torch::zeros({1}, torch::kHalf)}}, folder.path());
    Accelerator accelerator(fp16(1024));
    torch::nn::Linear linear(1, 1);
    auto raw_optimizer = sgd(linear->parameters(), {.learning_rate = 0.1});
    auto [model, optimizer] = accelerator.prepare(std::move(linear), std::move(raw_optimizer));
    accelerator.load_model(model, folder.path());
    EXPECT_EQ(model.unwrap()->weight.scalar_type(), torch::kFloat);
    EXPECT_EQ(as_float(model.unwrap()->weight), 0.0999755859375F);
    accelerator.backward(model(torch::ones({1, 1})).sum());
    EXPECT_EQ(*accelerator.clip_grad_norm(model.parameters(), 1e9), std::sqrt(2.0F));
    optimizer.step();
    EXPECT_NEAR(value(model.unwrap()->weight), 0, 1e-4);
}

}  // namespace
}  // namespace mantissa
