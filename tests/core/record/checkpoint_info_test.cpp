#include "record/checkpoint_info.h"

#include <gmock/gmock.h>

#include "tests/core/record/checkpoint_maker.h"
#include "tests/support/temporary_folder.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string sentence_of(const fs::path& checkpoint) {
    const auto info = read_checkpoint_info(checkpoint);
    return info ? "no error" : info.error().message;
}

TEST(CheckpointInfoTest, AllThatAListShowsIsRead) {
    const TemporaryFolder run;
    MadeCheckpoint made{120, 117, 2, Precision::Fp16, 8192, 14};
    made.plan.model.name = "cnn";
    const auto folder = make_checkpoint(run.path(), made);
    const auto info = read_checkpoint_info(folder);
    ASSERT_TRUE(info) << describe(info.error());
    EXPECT_EQ(info->path, folder);
    EXPECT_EQ(info->number, 120);
    EXPECT_EQ(info->step, 120);
    EXPECT_EQ(info->applied_steps, 117);
    EXPECT_EQ(info->epoch, 2);
    EXPECT_EQ(info->mode, Precision::Fp16);
    EXPECT_EQ(info->loss_scale, 8192);
    EXPECT_EQ(info->growth_tracker, 14);
    EXPECT_EQ(info->model, "cnn");
    EXPECT_EQ(info->dataset, "digits");
    EXPECT_EQ(info->program_version, "0.0.0");
    EXPECT_EQ(info->time_ns, 1'000'000'120);
    EXPECT_TRUE(info->is_of_a_run());
    EXPECT_EQ(info->bytes, static_cast<std::int64_t>(fs::file_size(folder / "model.safetensors") +
                                                     fs::file_size(folder / "state.json") +
                                                     fs::file_size(folder / "plan.json")));
}

TEST(CheckpointInfoTest, OneOfALibraryProgramHasNoPlanAndOneWithoutAScaleSaysSo) {
    const TemporaryFolder run;
    MadeCheckpoint made{3, 3, 0, Precision::Bf16};
    made.has_plan = false;
    const auto info = read_checkpoint_info(make_checkpoint(run.path(), made));
    ASSERT_TRUE(info) << describe(info.error());
    EXPECT_FALSE(info->is_of_a_run());
    EXPECT_FALSE(info->loss_scale.has_value());
    EXPECT_FALSE(info->growth_tracker.has_value());
}

TEST(CheckpointInfoTest, NewestFirstByNumberAndWhatIsUnfinishedIsNone) {
    const TemporaryFolder run;
    for (const std::int64_t step : {9, 100, 20}) make_checkpoint(run.path(), {step, step});
    const auto checkpoints = run.path() / "checkpoints";
    fs::remove(checkpoints / "checkpoint_20" / "state.json");
    fs::create_directories(checkpoints / ".checkpoint_200.part");
    write_text(checkpoints / ".checkpoint_200.part" / "state.json", state_json({200, 200}).dump());
    fs::create_directories(checkpoints / "checkpoint_x");
    write_text(checkpoints / "notes.txt", "mine");
    const CheckpointList list = list_checkpoints(run.path());
    ASSERT_EQ(list.checkpoints.size(), 2u);
    EXPECT_EQ(list.checkpoints[0].step, 100);
    EXPECT_EQ(list.checkpoints[1].step, 9);
    EXPECT_TRUE(list.damaged.empty());
    EXPECT_EQ(list.bytes(), list.checkpoints[0].bytes + list.checkpoints[1].bytes);
}

TEST(CheckpointInfoTest, DamagedOnesAreReportedAndTheOneBeforeIsFound) {
    const TemporaryFolder run;
    const auto whole = make_checkpoint(run.path(), {10, 10});
    const auto cut = make_checkpoint(run.path(), {20, 20});
    write_text(cut / "model.safetensors", "weigh");
    const CheckpointList list = list_checkpoints(run.path());
    ASSERT_EQ(list.damaged.size(), 1u);
    EXPECT_THAT(list.damaged[0], HasSubstr("model.safetensors has 5 bytes instead of 7"));
    const auto found = find_checkpoint(run.path());
    ASSERT_TRUE(found) << describe(found.error());
    EXPECT_EQ(found->path, whole);
    EXPECT_EQ(found->passed_over, list.damaged);  // and it is told
    EXPECT_TRUE(find_checkpoint(whole)->passed_over.empty());
    EXPECT_EQ(find_checkpoint(cut).error().message, list.damaged[0]);
}

TEST(CheckpointInfoTest, EveryBadStateIsASentenceThatNamesTheField) {
    const TemporaryFolder run;
    const auto folder = make_checkpoint(run.path(), {5, 4, 0, Precision::Fp16});
    const nlohmann::json good = state_json({5, 4, 0, Precision::Fp16});
    const std::vector<std::pair<nlohmann::json, const char*>> patches{
        {{{"format", "zip"}}, "mantissa-checkpoint"},
        {{{"version", 0}}, "version"},
        {{{"version", 2}}, "version 2, this program reads up to 1"},
        {{{"step", -1}}, "step"},
        {{{"step", "5"}}, "state.json.step must be a whole number"},
        {{{"applied_steps", 6}}, "applied_steps"},
        {{{"mixed_precision", "fp32"}}, "mixed_precision"},
        {{{"mixed_precision", nullptr}}, "mixed_precision"},
        {{{"loss_scale", {{"scale", "+Inf"}, {"growth_tracker", 0}}}}, "loss_scale.scale"},
        {{{"loss_scale", {{"scale", 2.0}}}}, "loss_scale.growth_tracker"},
        {{{"files", "all"}}, "files"},
        {{{"files", {{{"name", "../../etc/passwd"}, {"bytes", 1}}}}}, "files[0].name"},
        {{{"files", {{{"name", "gone.safetensors"}, {"bytes", 1}}}}}, "gone.safetensors is missing"},
    };
    EXPECT_EQ(sentence_of(folder), "no error");
    for (const auto& [patch, expected] : patches) {
        nlohmann::json state = good;
        state.update(patch);
        write_text(folder / "state.json", state.dump());
        EXPECT_THAT(sentence_of(folder), HasSubstr(expected)) << patch;
        EXPECT_THAT(sentence_of(folder), HasSubstr(folder.string())) << patch;
    }
    write_text(folder / "state.json", good.dump().substr(0, 40));
    EXPECT_THAT(sentence_of(folder), HasSubstr("no valid JSON at byte"));
    write_text(folder / "state.json", "[1]");
    EXPECT_THAT(sentence_of(folder), HasSubstr("must be a JSON object"));
}

TEST(CheckpointInfoTest, APlaceWithoutACheckpointSaysWhatIsThere) {
    const TemporaryFolder run;
    EXPECT_THAT(find_checkpoint(run.path()).error().message, HasSubstr("holds no checkpoint"));
    EXPECT_THAT(find_checkpoint(run.path() / "gone").error().message, HasSubstr("no run or checkpoint"));
    EXPECT_THAT(sentence_of(run.path()), HasSubstr("no state.json"));
    EXPECT_TRUE(list_checkpoints(run.path() / "gone").checkpoints.empty());
}

}  // namespace
}  // namespace mantissa
