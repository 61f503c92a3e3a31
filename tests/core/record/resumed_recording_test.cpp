// A recording that begins in the middle of a plan: every reader takes its first step for what it is.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "record/decimation.h"
#include "record/export_steps.h"
#include "record/resume_record.h"
#include "record/run_summary.h"
#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;
using ::testing::HasSubstr;

CheckpointInfo at_300() {
    CheckpointInfo from;
    from.path = "/runs/20260101-000000-a-fp16/checkpoints/checkpoint_300";
    from.step = 300;
    from.applied_steps = 296;
    from.mode = Precision::Fp16;
    from.loss_scale = 4096;
    return from;
}

class ResumedRecording : public ::testing::Test {
  protected:
    void SetUp() override {
        m_recorder = recorder_in(m_folder.path());
        m_recorder->meta("planned_steps", "500");
        m_recorder->meta("mode", "bf16");
        record_resume(*m_recorder, at_300(), Precision::Bf16);
    }
    void record(std::int64_t first, std::int64_t last) {
        for (std::int64_t step = first; step < last; ++step) {
            StepRow row = step_row(step, step == 310 ? std::numeric_limits<double>::quiet_NaN() : 1.0);
            row.applied_step = step - 3;
            m_recorder->step(row);
        }
        ASSERT_TRUE(m_recorder->flush());
    }
    TemporaryFolder m_folder;
    std::unique_ptr<RunRecorder> m_recorder;
};

TEST_F(ResumedRecording, BeforeItsFirstStepItStandsWhereTheCheckpointLeftOff) {
    ASSERT_TRUE(m_recorder->flush());
    const auto summary = summarize_run(m_folder.path());
    ASSERT_TRUE(summary) << describe(summary.error());
    EXPECT_EQ(summary->steps, 300);
    EXPECT_EQ(summary->applied_steps, 296);
    EXPECT_FALSE(summary->final_loss.has_value());
}

TEST_F(ResumedRecording, TheSummaryCountsStepsOfThePlan) {
    record(300, 420);
    const auto summary = summarize_run(m_folder.path());
    ASSERT_TRUE(summary) << describe(summary.error());
    EXPECT_EQ(summary->steps, 420);
    EXPECT_EQ(summary->planned_steps, 500);
    EXPECT_EQ(summary->applied_steps, 416);
    EXPECT_EQ(summary->first_loss, 1.0);
    ASSERT_TRUE(summary->resumed);
    EXPECT_EQ(summary->resumed->run, "/runs/20260101-000000-a-fp16");
    EXPECT_EQ(summary->resumed->scale, ResumedScale::Dropped);
    const auto json = to_json(*summary);
    EXPECT_EQ(json["steps"], 420);
    EXPECT_EQ(json["resumed"]["step"], 300);
    EXPECT_EQ(json["resumed"]["saved_loss_scale"], 4096.0);
}

TEST_F(ResumedRecording, AFollowerGetsTheRowsAndThenTheNewOnes) {
    record(300, 310);
    const auto reader = reader_of(m_folder.path());
    auto rows = reader->read_new();
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->steps.size(), 10u);
    EXPECT_EQ(rows->steps.front().step, 300);
    record(310, 315);
    rows = reader->read_new(3);
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->steps.size(), 3u);
    EXPECT_EQ(rows->steps.front().step, 310);
    EXPECT_EQ(reader->read_new()->steps.back().step, 314);
}

TEST_F(ResumedRecording, ExportsHoldEveryStepByItsNumber) {
    record(300, 303);
    for (const ExportFormat format : {ExportFormat::Csv, ExportFormat::Json}) {
        std::ostringstream out;
        ASSERT_TRUE(export_steps(m_folder.path(), format, out));
        EXPECT_THAT(out.str(), HasSubstr(format == ExportFormat::Csv ? "\n300,297," : "\"step\": 300"));
        EXPECT_THAT(out.str(), HasSubstr(format == ExportFormat::Csv ? "\n302,299," : "\"step\": 302"));
    }
}

TEST_F(ResumedRecording, DrawingKeepsItsBadStepInItsPlace) {
    record(300, 420);
    std::vector<double> x, y;
    ASSERT_TRUE(for_each_step(m_folder.path(), [&](const StepRow& row) {
        x.push_back(static_cast<double>(row.step));
        y.push_back(row.loss);
        return true;
    }));
    const DecimatedLine line = decimate(x, y, 0, 500, 50);
    ASSERT_FALSE(line.columns.empty());
    EXPECT_EQ(line.columns.front().pixel, 30);
    EXPECT_EQ(line.columns.front().x, 300);
    std::int64_t bad = 0;
    for (const DecimatedColumn& column : line.columns) {
        bad += column.nan;
        if (column.nan > 0) {
            EXPECT_EQ(column.pixel, 31);
        }
    }
    EXPECT_EQ(bad, 1);
}

TEST_F(ResumedRecording, TheSameStepTwiceIsAnErrorOfTheRecordingNeverASecondRow) {
    record(300, 302);
    m_recorder->step(step_row(301));
    const auto flushed = m_recorder->flush();
    ASSERT_FALSE(flushed);
    EXPECT_THAT(flushed.error().message, HasSubstr("UNIQUE constraint failed: steps.step"));
    m_recorder.reset();
    EXPECT_EQ(reader_of(m_folder.path())->read_new()->steps.size(), 2u);
}

}  // namespace
}  // namespace mantissa
