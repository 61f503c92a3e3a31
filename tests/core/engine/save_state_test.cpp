// Where save_state writes, what stays, what load_state finds and refuses, and what happens to the loss scale across modes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/accelerator.h"
#include "tests/core/engine/small_model.h"
#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

namespace fs = std::filesystem;
using mantissa::testing::content_of;
using mantissa::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename Call>
std::string refusal(Call&& call) {
    try {
        call();
    } catch (const std::exception& problem) {
        return problem.what();
    }
    return "no refusal";
}

AcceleratorOptions options(const fs::path& project, std::optional<std::int64_t> limit = {}) {
    return {.mixed_precision = Precision::No, .device = "cpu",
            .project = {.directory = project, .automatic_checkpoint_naming = true, .total_limit = limit}};
}

// A number of the program's own, which may refuse.
struct Note : Stateful {
    explicit Note(double start) : value(start) {}
    double value;
    bool refuses = false;
    [[nodiscard]] StateBundle state() const override {
        return {.facts = {{"value", value}}, .tensors = {{"square", torch::tensor(value * value)}}};
    }
    void load_state(const StateBundle& bundle) override {
        if (refuses) throw std::runtime_error("not today");
        value = bundle.fact<double>("value");
    }
};

struct Training {
    explicit Training(const AcceleratorOptions& given, double start = 1.0) : accelerator(given), net(small_model(start)) {
        model.emplace(accelerator.prepare(std::shared_ptr<SmallModel>(net)));
        optimizer.emplace(accelerator.prepare(sgd({net->weight}, {.learning_rate = 0.1, .momentum = 0.9})));
    }
    void step(double gradient = 1.0) {
        accelerator.backward((*model)(torch::full({1}, gradient)).sum());
        optimizer->step();
        optimizer->zero_grad();
    }
    [[nodiscard]] double weight() const { return value(net->weight); }
    Accelerator accelerator;
    std::shared_ptr<SmallModel> net;
    std::optional<PreparedModel<std::shared_ptr<SmallModel>>> model;
    std::optional<PreparedOptimizer> optimizer;
};

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

TEST(SaveStateTest, Fault34NamesGoOnAfterAResumeAndTheNewestIsFound) {
    const TemporaryFolder folder;
    const fs::path checkpoints = folder.path() / "checkpoints";
    double last = 0;
    {
        Training first(options(folder.path(), 2));
        for (int i = 0; i < 4; ++i) {
            first.step();
            EXPECT_EQ(first.accelerator.save_state(), checkpoints / ("checkpoint_" + std::to_string(i)));
        }
        last = first.weight();
    }
    EXPECT_THAT(names_in(checkpoints), ElementsAre("checkpoint_2", "checkpoint_3"));
    Training second(options(folder.path(), 2), 5.0);
    const LoadedState loaded = second.accelerator.load_state();
    EXPECT_EQ(loaded.folder, checkpoints / "checkpoint_3");
    EXPECT_EQ(loaded.step, 4);
    EXPECT_THAT(loaded.notices, IsEmpty());
    EXPECT_EQ(second.weight(), last);
    second.step();
    EXPECT_EQ(second.accelerator.save_state(), checkpoints / "checkpoint_4");
    EXPECT_THAT(names_in(checkpoints), ElementsAre("checkpoint_3", "checkpoint_4"));
    Training third(options(folder.path(), 2), 7.0);
    EXPECT_EQ(third.accelerator.load_state().folder, checkpoints / "checkpoint_4");
    EXPECT_EQ(third.weight(), second.weight());
}

TEST(SaveStateTest, TheNewestIsTheHighestNumberAndUnfinishedOnesAreNone) {
    const TemporaryFolder folder;
    const fs::path checkpoints = folder.path() / "checkpoints";
    Training run(options(folder.path()));
    for (int i = 0; i < 11; ++i) run.accelerator.save_state();
    fs::create_directories(checkpoints / "checkpoint_99");
    fs::create_directories(checkpoints / ".checkpoint_98.1.unfinished");
    fs::create_directories(checkpoints / "checkpoint_077");
    EXPECT_EQ(run.accelerator.load_state().folder, checkpoints / "checkpoint_10");
    // From an older one: the next number lies above all that are there, so that the newest stays the newest.
    run.accelerator.load_state(checkpoints / "checkpoint_3");
    EXPECT_EQ(run.accelerator.save_state(), checkpoints / "checkpoint_11");
}

TEST(SaveStateTest, TheLastAndTheOneBeforeStayWhateverTheLimit) {
    const TemporaryFolder folder;
    Training run(options(folder.path(), 1));
    for (int i = 0; i < 4; ++i) run.accelerator.save_state();
    EXPECT_THAT(names_in(folder.path() / "checkpoints"), ElementsAre("checkpoint_2", "checkpoint_3"));
}

TEST(SaveStateTest, RefusalsNameWhatIsWrong) {
    const TemporaryFolder folder;
    Training named({.mixed_precision = Precision::No, .device = "cpu"});
    EXPECT_THAT(refusal([&] { named.accelerator.save_state(); }), HasSubstr("save_state got no folder"));
    EXPECT_THAT(refusal([&] { named.accelerator.load_state(); }), HasSubstr("load_state got no folder"));
    named.accelerator.save_state(folder.path() / "one");
    EXPECT_THAT(refusal([&] { named.accelerator.save_state(folder.path() / "one"); }), HasSubstr("one exists already"));
    EXPECT_THAT(refusal([&] { named.accelerator.load_state(folder.path() / "two"); }), HasSubstr("there is no checkpoint folder"));
    Training automatic(options(folder.path()));
    EXPECT_THAT(refusal([&] { automatic.accelerator.load_state(); }), HasSubstr("holds no checkpoint"));
    Training limited(options(folder.path(), 0));
    EXPECT_THAT(refusal([&] { limited.accelerator.save_state(); }), HasSubstr("project.total_limit is 0"));
    Training fresh(options(folder.path()));
    fresh.accelerator.save_state();
    EXPECT_THAT(refusal([&] { automatic.accelerator.save_state(); }), HasSubstr("checkpoint_0 exists already"));
    EXPECT_THAT(refusal([&] { fresh.accelerator.register_for_checkpointing(nullptr); }), HasSubstr("an empty object"));
}

TEST(SaveStateTest, ObjectsOfTheProgramComeBackAndAnotherCountIsAnError) {
    const TemporaryFolder folder;
    Training first(options(folder.path()));
    first.accelerator.register_for_checkpointing(std::make_shared<Note>(infinity));
    const fs::path saved = first.accelerator.save_state();
    EXPECT_TRUE(fs::exists(saved / "custom_checkpoint_0.safetensors"));
    Training none(options(folder.path()), 5.0);
    EXPECT_THAT(refusal([&] { none.accelerator.load_state(saved); }),
                HasSubstr("it holds 1 registered object(s), 0 are prepared or registered here"));
    EXPECT_EQ(none.weight(), 5.0);
    Training second(options(folder.path()));
    auto note = std::make_shared<Note>(3);
    second.accelerator.register_for_checkpointing(note);
    second.accelerator.load_state(saved);
    EXPECT_EQ(note->value, infinity);
}

TEST(SaveStateTest, WhenOneObjectRefusesNothingHasChanged) {
    const TemporaryFolder folder;
    Training first(options(folder.path()));
    first.step();
    for (int i = 0; i < 2; ++i) first.accelerator.register_for_checkpointing(std::make_shared<Note>(8 + i));
    const fs::path saved = first.accelerator.save_state();
    Training second(options(folder.path()), 5.0);
    const auto one = std::make_shared<Note>(1), two = std::make_shared<Note>(2);
    two->refuses = true;
    second.accelerator.register_for_checkpointing(one);
    second.accelerator.register_for_checkpointing(two);
    EXPECT_THAT(refusal([&] { second.accelerator.load_state(saved); }), HasSubstr("registered object 1: not today"));
    EXPECT_EQ(one->value, 1);
    EXPECT_EQ(second.weight(), 5.0);
    EXPECT_THAT(second.optimizer->core().state().tensors, IsEmpty());
}

TEST(SaveStateTest, AnotherModelOrOptimizerIsNamedAndNothingHasChanged) {
    const TemporaryFolder folder;
    Training first(options(folder.path()));
    first.step();
    const fs::path saved = first.accelerator.save_state();
    Accelerator other(options(folder.path()));
    const auto wide = std::make_shared<SmallModel>(torch::full({2}, 5.0));
    auto model = other.prepare(std::shared_ptr<SmallModel>(wide));
    auto optimizer = other.prepare(adamw({wide->weight}));
    EXPECT_THAT(refusal([&] { other.load_state(saved); }),
                HasSubstr("model 0: the saved weights don't fit: of another shape: weight: Float [1] in the file, Float [2] in the model"));
    Accelerator adam_run(options(folder.path()));
    const auto net = small_model(5.0);
    auto prepared = adam_run.prepare(std::shared_ptr<SmallModel>(net));
    auto adam_optimizer = adam_run.prepare(adamw({net->weight}));
    EXPECT_THAT(refusal([&] { adam_run.load_state(saved); }), HasSubstr("optimizer 0: the saved state doesn't fit the optimizer adamw"));
    EXPECT_EQ(value(net->weight), 5.0);
}

TEST(SaveStateTest, EveryDamagedFileIsNamedAndNothingIsLoadedHalf) {
    const TemporaryFolder folder;
    Training first(options(folder.path()));
    first.accelerator.register_for_checkpointing(std::make_shared<Note>(4));
    first.step();
    const fs::path saved = first.accelerator.save_state();
    Training second(options(folder.path()), 5.0);
    second.accelerator.register_for_checkpointing(std::make_shared<Note>(1));
    const auto names = names_in(saved);
    EXPECT_THAT(names, ElementsAre("custom_checkpoint_0.safetensors", "model.safetensors", "optimizer.safetensors",
                                   "random_states_0.safetensors", "state.json"));
    for (const std::string& name : names) {
        const std::string whole = content_of(saved / name);
        std::string flipped = whole;
        flipped[flipped.size() * 2 / 3] = static_cast<char>(flipped[flipped.size() * 2 / 3] ^ 1);
        for (const std::string& bad : {whole.substr(0, whole.size() / 2), flipped, std::string()}) {
            std::ofstream(saved / name, std::ios::binary) << bad;
            EXPECT_THAT(refusal([&] { second.accelerator.load_state(saved); }), HasSubstr((saved / name).string() + " is damaged"));
        }
        fs::remove(saved / name);
        EXPECT_THAT(refusal([&] { second.accelerator.load_state(saved); }), HasSubstr(name));
        std::ofstream(saved / name, std::ios::binary) << whole;
        EXPECT_EQ(second.weight(), 5.0);
    }
    second.accelerator.load_state(saved);
    EXPECT_EQ(second.weight(), first.weight());
}

TEST(SaveStateTest, HooksGetTheFolderAndCanBeRemoved) {
    const TemporaryFolder folder;
    Training run(options(folder.path()));
    int saves = 0;
    std::vector<fs::path> loads;
    HookHandle handle = run.accelerator.register_save_state_pre_hook([&](const fs::path& place) {
        ++saves;
        std::ofstream(place / "notes.txt") << "mine";
    });
    run.accelerator.register_load_state_pre_hook([&](const fs::path& place) { loads.push_back(place); });
    const fs::path saved = run.accelerator.save_state();
    EXPECT_EQ(content_of(saved / "notes.txt"), "mine");
    EXPECT_THAT(content_of(saved / "state.json"), HasSubstr("notes.txt"));
    handle.remove();
    run.accelerator.save_state();
    EXPECT_EQ(saves, 1);
    run.accelerator.load_state(saved);
    EXPECT_THAT(loads, ElementsAre(saved));
}

TEST(SaveStateTest, AFailingHookLeavesNoFolderAndTheNameIsFree) {
    const TemporaryFolder folder;
    Training run(options(folder.path()));
    HookHandle handle = run.accelerator.register_save_state_pre_hook([](const fs::path&) { throw std::runtime_error("no room"); });
    EXPECT_THAT(refusal([&] { run.accelerator.save_state(); }), HasSubstr("no room"));
    EXPECT_THAT(names_in(folder.path() / "checkpoints"), IsEmpty());
    handle.remove();
    EXPECT_EQ(run.accelerator.save_state(), folder.path() / "checkpoints" / "checkpoint_0");
}

// --- across modes: a checkpoint of each mode is made in a child process, since a process has one precision.

fs::path saved_in(Precision mode, const TemporaryFolder& folder) {
    const fs::path target = folder.path() / to_string(mode);
    at::set_num_threads(1);  // a child has none of its parent's OpenMP threads, and would wait for them
    const pid_t child = ::fork();
    if (child == 0) {
        try {
            Training run({.mixed_precision = mode, .device = "cpu", .loss_scale = {.initial = 4, .growth_interval = 3}});
            for (int i = 0; i < 5; ++i) run.step();
            run.accelerator.save_state(target);
            ::_exit(0);
        } catch (...) {
            ::_exit(1);
        }
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return target;
}

TEST(ResumeRuleTest, Fault33InFp16ScaleTrackerAndNextGrowthAreIdentical) {
    const TemporaryFolder folder;
    const fs::path saved = saved_in(Precision::Fp16, folder);
    Training run({.mixed_precision = Precision::Fp16, .device = "cpu", .loss_scale = {.initial = 1024, .growth_interval = 3}}, 5.0);
    EXPECT_THAT(run.accelerator.load_state(saved).notices, IsEmpty());
    EXPECT_EQ(*run.accelerator.loss_scale_state(), (LossScaleSchedule::State{8, 2}));
    run.step();
    EXPECT_EQ(*run.accelerator.loss_scale_state(), (LossScaleSchedule::State{16, 0}));
}

void expect_anew(Precision from) {
    const TemporaryFolder folder;
    const fs::path saved = saved_in(from, folder);
    Training run({.mixed_precision = Precision::Fp16, .device = "cpu", .loss_scale = {.initial = 1024}}, 5.0);
    const LoadedState loaded = run.accelerator.load_state(saved);
    EXPECT_EQ(loaded.saved_precision, from);
    EXPECT_THAT(loaded.notices, ElementsAre("The checkpoint was saved in mode " + std::string(to_string(from)) +
                                            " without a loss scale: fp16 starts with 2^10 and looks for its place anew."));
    EXPECT_EQ(*run.accelerator.loss_scale_state(), (LossScaleSchedule::State{1024, 0}));
}
TEST(ResumeRuleTest, FromNoToFp16TheScaleStartsAnewAndItIsSaid) { expect_anew(Precision::No); }
TEST(ResumeRuleTest, FromBf16ToFp16TheScaleStartsAnewAndItIsSaid) { expect_anew(Precision::Bf16); }

void expect_dropped(Precision to) {
    const TemporaryFolder folder;
    const fs::path saved = saved_in(Precision::Fp16, folder);
    Training run({.mixed_precision = to, .device = "cpu"}, 5.0);
    const LoadedState loaded = run.accelerator.load_state(saved);
    EXPECT_THAT(loaded.notices, ElementsAre("The loss scale of the checkpoint, 2^3 with growth tracker 2, is dropped: mode " +
                                            std::string(to_string(to)) + " goes on without one."));
    EXPECT_FALSE(run.accelerator.loss_scale_state());
    EXPECT_NEAR(run.weight(), 1 - 0.1 * (1 + 1.9 + 2.71 + 3.439 + 4.0951), 1e-6);  // five steps with momentum
}
TEST(ResumeRuleTest, FromFp16ToNoTheScaleIsDroppedAndItIsSaid) { expect_dropped(Precision::No); }
TEST(ResumeRuleTest, FromFp16ToBf16TheScaleIsDroppedAndItIsSaid) { expect_dropped(Precision::Bf16); }

}  // namespace
}  // namespace mantissa
