// A run of several ranks as each of them recorded it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "base/work_folder.h"
#include "record/export_rows.h"
#include "record/rank_views.h"
#include "record/run_recorder.h"

namespace mantissa {
namespace {

using ::testing::ElementsAre;

/// `steps` steps of a rank, of which it skips those that divide by `skips`.
void record(const std::filesystem::path& run, std::int64_t rank, std::int64_t steps, std::int64_t skips) {
    auto recorder = RunRecorder::open(run, rank);
    ASSERT_TRUE(recorder.ok());
    std::int64_t applied = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
        StepRow row;
        row.step = step;
        row.skipped = step % skips == skips - 1;
        applied += row.skipped ? 0 : 1;
        row.applied_step = applied;
        row.loss_scale = 8.0;
        row.loss = static_cast<double>(10 * rank + step);
        row.samples = rank == 2 && step == steps - 1 ? 0 : 4;
        (*recorder)->step(row);
    }
    if (rank == 1) (*recorder)->incident({0, 3, "forward", "activation_overflow", "error", "gate", "mul", "", "{}"});
}

TEST(RankViews, tell_what_each_had_and_that_all_decided_alike) {
    const auto folder = WorkFolder::make("ranks");
    for (const std::int64_t rank : {0, 1, 2}) record(folder->path(), rank, rank == 1 ? 9 : 10, 5);  // rank 1 is a step behind
    EXPECT_THAT(recorded_ranks(folder->path()), ElementsAre(1, 2));
    const auto views = read_rank_views(folder->path());
    ASSERT_TRUE(views.ok());
    EXPECT_EQ(views->compared_steps, 9);
    EXPECT_EQ(views->skipped, 1);
    EXPECT_FALSE(views->first_other_decision());
    ASSERT_EQ(views->ranks.size(), 2U);
    const RankView &one = views->ranks[0], &two = views->ranks[1];
    EXPECT_EQ(one.rank, 1);
    EXPECT_EQ(one.steps, 9);
    EXPECT_EQ(one.skipped, 1);
    EXPECT_EQ(one.samples, 36);
    EXPECT_EQ(one.final_loss, 18.0);
    EXPECT_EQ(one.incidents, 1);
    EXPECT_EQ(two.steps, 10);
    EXPECT_EQ(two.samples, 36);
    EXPECT_EQ(two.final_loss, 28.0);  // of the last step in which it had samples
    std::ostringstream csv;
    ASSERT_TRUE(export_table(folder->path(), ExportTable::Steps, ExportFormat::Csv, csv, 2).ok());
    EXPECT_THAT(csv.str(), testing::HasSubstr("\n9,"));
    EXPECT_THAT(csv.str(), testing::HasSubstr(",29,"));
}

TEST(RankViews, name_the_first_step_at_which_one_decided_otherwise) {
    const auto folder = WorkFolder::make("ranks");
    record(folder->path(), 0, 10, 5);
    record(folder->path(), 1, 10, 5);
    record(folder->path(), 2, 10, 4);  // skips step 3 alone
    const auto views = read_rank_views(folder->path());
    ASSERT_TRUE(views.ok());
    EXPECT_EQ(views->first_other_decision(), 3);
    EXPECT_FALSE(views->ranks[0].first_other_decision);
    EXPECT_EQ(views->ranks[1].first_other_decision, 3);
}

TEST(RankViews, a_run_of_one_process_has_none) {
    const auto folder = WorkFolder::make("ranks");
    record(folder->path(), 0, 3, 5);
    EXPECT_TRUE(recorded_ranks(folder->path()).empty());
    EXPECT_TRUE(read_rank_views(folder->path())->ranks.empty());
}

}  // namespace
}  // namespace mantissa
