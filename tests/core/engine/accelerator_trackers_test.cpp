// F47: trackers of the Accelerator: by name, by folder, a class of one's own, and a run folder that is followed.
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/accelerator.h"
#include "engine/process_group.h"
#include "record/run_reader.h"
#include "record/run_summary.h"
#include "small_model.h"
#include "tests/support/temporary_folder.h"
#include "track/run_folder_tracker.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

/// A class of a program's own.
class Notebook : public Tracker {
  public:
    [[nodiscard]] std::string name() const override { return "notebook"; }
    Result<void> start(const TrackerStart& start) override {
        if (fails) return Error{ErrorCode::InputOutput, "the page is full", "turn it"};
        lines.push_back("start " + start.project + " lr=" + std::to_string(*start.config.at("lr").number()));
        return {};
    }
    Result<void> log(const TrackedValues& values, std::optional<std::int64_t> step) override {
        for (const auto& [name, value] : values)
            lines.push_back(name + "=" + std::to_string(*value.number()) + "@" + std::to_string(step.value_or(-1)));
        return {};
    }
    Result<void> attempt(const TrackedAttempt& attempt) override {
        rows.push_back(attempt.row);
        return {};
    }
    Result<void> finish() override {
        lines.emplace_back("finish");
        return {};
    }
    std::vector<std::string> lines;
    std::vector<StepRow> rows;
    bool fails = false;
};

struct Rank : ProcessGroup {
    explicit Rank(std::int64_t rank) : m_rank(rank) {}
    [[nodiscard]] std::int64_t rank() const override { return m_rank; }
    [[nodiscard]] std::int64_t size() const override { return 2; }
    std::vector<torch::Tensor> all_gather(const torch::Tensor& tensor) override { return {tensor, tensor}; }
    void all_reduce(torch::Tensor&, ReduceOperation) override {}
    void broadcast(torch::Tensor&, std::int64_t) override {}
    void barrier() override {}
    std::int64_t m_rank;
};

template <typename Use>
std::string refusal(Use use) {
    try {
        use();
    } catch (const EngineError& error) {
        return error.error().message;
    }
    return "accepted";
}

// Loss = w · gradient, so that the gradient of the step is what the list says.
void train(Accelerator& accelerator, const std::vector<float>& gradients) {
    auto weight = torch::ones(1).requires_grad_();
    Optimizer raw = sgd({weight}, {.learning_rate = 0.5});
    Scheduler rate = exponential_lr(raw, 0.5);
    auto scheduler = accelerator.prepare(std::move(rate));
    auto optimizer = accelerator.prepare(std::move(raw));
    for (const float gradient : gradients) {
        accelerator.accumulate();
        accelerator.backward((weight * gradient).sum());
        optimizer.step();
        scheduler.step();
        optimizer.zero_grad();
    }
}

TEST(Trackers, names_are_checked_when_the_accelerator_is_made) {
    EXPECT_EQ(refusal([] { Accelerator({.log_with = {"wandb"}}); }), "no tracker is named \"wandb\"");
    EXPECT_EQ(refusal([] { Accelerator({.log_with = {"tensorboard"}}); }),
              "the tracker tensorboard needs a logging folder, and none was given");
    EXPECT_EQ(refusal([] { Accelerator({.log_with = {std::shared_ptr<Tracker>()}}); }), "log_with holds an empty tracker");
    Accelerator all({.log_with = {"all", "mantissa", std::make_shared<Notebook>()}, .logging_dir = "/nowhere"});
    EXPECT_EQ(all.get_tracker("json_lines").name(), "json_lines");
    EXPECT_EQ(all.get_tracker("notebook").name(), "notebook");
    EXPECT_EQ(refusal([&] { static_cast<void>(all.get_tracker("aim")); }), "this Accelerator has no tracker named \"aim\"");
    Accelerator none;
    EXPECT_EQ(refusal([&] { static_cast<void>(none.get_tracker("mantissa")); }),
              "this Accelerator has no tracker named \"mantissa\"");
    none.init_trackers("nothing");  // without trackers these do nothing, as upstream
    none.log({{"a", 1}}, 1);
    none.end_training();
}

TEST(Trackers, a_class_of_ones_own_is_told_everything) {
    const auto notebook = std::make_shared<Notebook>();
    Accelerator accelerator({.mixed_precision = Precision::Fp16, .loss_scale = {.initial = 1024}, .log_with = {notebook}});
    EXPECT_EQ(refusal([&] { accelerator.log({{"early", 1}}, 0); }), "log was called, but no tracker is running");
    accelerator.init_trackers("project", {{"lr", 0.5}});
    EXPECT_EQ(refusal([&] { accelerator.init_trackers("again", {{"lr", 1}}); }), "init_trackers was called twice");
    train(accelerator, {2, 1e38F, 3});
    accelerator.log({{"accuracy", 0.75}}, 3);
    accelerator.end_training();
    EXPECT_EQ(notebook->lines, (std::vector<std::string>{"start project lr=0.500000", "accuracy=0.750000@3", "finish"}));
    EXPECT_EQ(refusal([&] { accelerator.log({{"late", 1}}, 0); }), "log was called, but no tracker is running");
}

TEST(Trackers, each_attempt_is_told_with_its_facts) {
    const auto notebook = std::make_shared<Notebook>();
    Accelerator accelerator({.mixed_precision = Precision::Fp16, .loss_scale = {.initial = 1024}, .on_nonfinite = OnNonfinite::Mark,
                             .log_with = {notebook}});
    accelerator.init_trackers("project", {{"lr", 0.5}});
    train(accelerator, {2, 1e38F, 3});
    accelerator.end_training();
    ASSERT_EQ(notebook->rows.size(), 3U);
    const auto& rows = notebook->rows;
    EXPECT_EQ(rows[0].grad_norm, 2);
    EXPECT_EQ(rows[0].loss, 2);  // the weight is one
    EXPECT_EQ(rows[0].learning_rate, 0.5);
    EXPECT_EQ(rows[0].loss_scale, 1024);
    EXPECT_EQ(rows[0].applied_step, 1);
    EXPECT_TRUE(rows[1].skipped);  // 1e38 · 1024 is Inf
    EXPECT_EQ(rows[1].skip_kind, SkipKind::Probing);
    EXPECT_EQ(rows[1].applied_step, 1);
    EXPECT_EQ(rows[2].loss_scale, 512);
    EXPECT_EQ(rows[2].learning_rate, 0.25);  // the schedule was held once
    EXPECT_EQ(rows[2].applied_step, 2);
    EXPECT_GT(rows[2].host_memory_bytes, 1 << 20);
}

TEST(Trackers, an_own_trackers_error_carries_its_name) {
    const auto notebook = std::make_shared<Notebook>();
    notebook->fails = true;
    Accelerator accelerator({.log_with = {notebook}});
    EXPECT_EQ(refusal([&] { accelerator.init_trackers("p", {{"lr", 1}}); }), "tracker notebook: the page is full");
}

TEST(Trackers, only_the_main_process_writes) {
    const auto notebook = std::make_shared<Notebook>();
    Accelerator accelerator({.processes = std::make_shared<Rank>(1), .log_with = {notebook}});
    accelerator.init_trackers("p", {{"lr", 1}});
    accelerator.log({{"a", 1}}, 1);
    accelerator.end_training();
    EXPECT_TRUE(notebook->lines.empty());
    EXPECT_TRUE(notebook->rows.empty());
}

TEST(Trackers, a_program_of_ones_own_is_a_run_like_any_other) {
    const testing::TemporaryFolder folder;
    const auto tracker = std::make_shared<RunFolderTracker>(folder.path());
    Accelerator accelerator({.mixed_precision = Precision::Fp16, .gradient_accumulation_steps = 1,
                             .loss_scale = {.initial = 1024}, .log_with = {tracker}});
    accelerator.init_trackers("own program", {{"lr", 0.5}, {"note", "by hand"}});
    auto followed = RunReader::open(tracker->folder());
    ASSERT_TRUE(followed) << describe(followed.error());
    EXPECT_EQ((*followed)->state()->state, RunState::Running);
    train(accelerator, {2, 1e38F, 3});
    accelerator.log({{"validation/accuracy", 0.5}});
    accelerator.end_training();
    const auto rows = (*followed)->read_new();
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->steps.size(), 3U);
    EXPECT_TRUE(rows->steps[1].skipped);
    ASSERT_EQ(rows->evaluations.size(), 1U);
    EXPECT_EQ(rows->evaluations[0].step, 3);
    const auto summary = summarize_run(tracker->folder());
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->name, "own program");
    EXPECT_EQ(summary->state, RunState::Finished);
    EXPECT_EQ(summary->mode, Precision::Fp16);
    EXPECT_EQ(summary->applied_steps, 2);
    EXPECT_EQ(summary->skipped_probing, 1);
    EXPECT_EQ(summary->metric, 0.5);
}

TEST(Trackers, tensorboard_lies_below_the_logging_folder) {
    const testing::TemporaryFolder folder;
    Accelerator accelerator({.project = {.directory = folder.path()}, .log_with = {"tensorboard"}});
    accelerator.init_trackers("mnist", {{"lr", 0.5}});
    accelerator.log({{"loss", 1.5}}, 0);
    accelerator.end_training();
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path() / "mnist"))
        files += entry.path().filename().string().starts_with("events.out.tfevents.") ? 1 : 0;
    EXPECT_EQ(files, 2);  // values, hyper-parameters
}

}  // namespace
}  // namespace mantissa
