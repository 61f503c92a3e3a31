#include "record/run_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "tests/core/record/recording.h"

namespace mantissa {
namespace {

using namespace mantissa::testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// A second connection, as any SQLite program would open it.
class OtherConnection {
  public:
    explicit OtherConnection(const std::filesystem::path& folder) {
        sqlite3_open((folder / "run.db").c_str(), &m_handle);
    }
    ~OtherConnection() { sqlite3_close(m_handle); }
    void run(const char* sql) {
        ASSERT_EQ(sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr), SQLITE_OK)
            << sqlite3_errmsg(m_handle);
    }
    std::string text(const char* sql) {
        sqlite3_stmt* statement = nullptr;
        sqlite3_prepare_v2(m_handle, sql, -1, &statement, nullptr);
        std::string result = "no row";
        if (sqlite3_step(statement) == SQLITE_ROW) {
            const auto* bytes = sqlite3_column_text(statement, 0);
            result = bytes ? reinterpret_cast<const char*>(bytes) : "NULL";
        }
        sqlite3_finalize(statement);
        return result;
    }

  private:
    sqlite3* m_handle = nullptr;
};

TEST(RunRecorderTest, WithoutItsFolderItSaysSo) {
    const TemporaryFolder folder;
    const auto recorder = RunRecorder::open(folder.path() / "none");
    ASSERT_FALSE(recorder);
    EXPECT_EQ(recorder.error().code, ErrorCode::InputOutput);
    EXPECT_EQ(recorder.error().message,
              "the run folder " + (folder.path() / "none").string() + " isn't there");
}

TEST(RunRecorderTest, TensorRecordsOfAStepAreFoundByAnIndex) {
    const TemporaryFolder folder;
    recorder_in(folder.path());
    EXPECT_EQ(OtherConnection(folder.path()).text("SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'tensor_stats'"),
              "CREATE INDEX tensor_stats_step ON tensor_stats(step)");
}

TEST(RunRecorderTest, ANewerRecordingIsRefusedWithBothVersions) {
    const TemporaryFolder folder;
    recorder_in(folder.path());
    OtherConnection(folder.path()).run("PRAGMA user_version = 7");
    const auto recorder = RunRecorder::open(folder.path());
    ASSERT_FALSE(recorder);
    EXPECT_THAT(recorder.error().message, HasSubstr("has recording format 7, this program reads up to 2"));
    EXPECT_THAT(RunReader::open(folder.path()).error().message,
                HasSubstr("has recording format 7, this program reads up to 2"));
}

TEST(RunRecorderTest, AFileThatIsNoRecordingIsRefused) {
    const TemporaryFolder folder;
    static_cast<void>(folder.file("run.db", std::string(8192, 'x')));
    EXPECT_THAT(RunRecorder::open(folder.path()).error().message, HasSubstr("is damaged or is no recording"));
    EXPECT_THAT(RunReader::open(folder.path()).error().message, HasSubstr("is damaged or is no recording"));
}

TEST(RunRecorderTest, TheSameStepTwiceIsAnErrorThatKeepsWhatWasSaved) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    for (int step = 0; step < 10; ++step) recorder->step(step_row(step));
    ASSERT_TRUE(recorder->flush());
    recorder->step(step_row(9));
    const auto flushed = recorder->flush();
    ASSERT_FALSE(flushed);
    EXPECT_THAT(flushed.error().message, HasSubstr("UNIQUE constraint failed: steps.step"));
    EXPECT_THAT(flushed.error().message,
                HasSubstr("saved are 10 steps, the last is step 9, 1 newer rows are not"));
    ASSERT_TRUE(recorder->error());
    EXPECT_EQ(recorder->error()->message, flushed.error().message);
    recorder->state(RunState::Failed, "recording");
    recorder.reset();  // the state is saved even so
    const auto reader = reader_of(folder.path());
    EXPECT_EQ(reader->read_new()->steps.size(), 10u);
    EXPECT_EQ(reader->state()->state, RunState::Failed);
}

TEST(RunRecorderTest, SpecialValuesComeBackAsTheyWere) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    StepRow row = step_row(3, nan);
    row.learning_rate = -0.0;
    row.grad_norm = inf;
    row.loss_scale = -inf;
    row.growth_tracker = 0;
    row.skipped = true;
    row.skip_kind = SkipKind::Fault;
    row.nonfinite_loss = true;
    constexpr std::int64_t largest = (std::int64_t{1} << 62) - 1;  // of amounts that are read
    row.nonfinite_grads = largest;
    row.epoch = 4;
    row.memory_bytes = 5;
    row.memory_peak_bytes = 6;
    row.host_memory_bytes = 7;
    row.samples = 8;
    row.data_ns = 9;
    row.step_ns = 10;
    recorder->step(row);
    StepRow plain = step_row(4, 5e-324);  // the smallest subnormal
    plain.grad_norm = 0.1;
    recorder->step(plain);
    StepRow scaled = step_row(5);
    scaled.loss_scale = nan;
    recorder->step(scaled);
    ASSERT_TRUE(recorder->flush());

    const auto rows = reader_of(folder.path())->read_new();
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->steps.size(), 3u);
    const StepRow& back = rows->steps[0];
    EXPECT_TRUE(std::isnan(back.loss));
    EXPECT_EQ(back.learning_rate, 0.0);
    EXPECT_EQ(back.grad_norm, inf);
    EXPECT_EQ(back.loss_scale, -inf);
    EXPECT_EQ(back.growth_tracker, 0);
    EXPECT_TRUE(back.skipped && back.nonfinite_loss);
    EXPECT_EQ(back.skip_kind, SkipKind::Fault);
    EXPECT_EQ(back.nonfinite_grads, largest);
    EXPECT_EQ(back.step, 3);
    EXPECT_EQ(back.applied_step, 4);
    EXPECT_EQ(back.epoch, 4);
    EXPECT_EQ(back.time_ns, 1'000'000'003);
    EXPECT_EQ(back.memory_bytes, 5);
    EXPECT_EQ(back.memory_peak_bytes, 6);
    EXPECT_EQ(back.host_memory_bytes, 7);
    EXPECT_EQ(back.samples, 8);
    EXPECT_EQ(back.data_ns, 9);
    EXPECT_EQ(back.step_ns, 10);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(rows->steps[1].loss), 1u);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(rows->steps[1].grad_norm), std::bit_cast<std::uint64_t>(0.1));
    EXPECT_FALSE(rows->steps[1].loss_scale);
    EXPECT_FALSE(rows->steps[1].growth_tracker);
    ASSERT_TRUE(rows->steps[2].loss_scale);
    EXPECT_TRUE(std::isnan(*rows->steps[2].loss_scale));

    // In the file itself, as the design says, for other programs.
    OtherConnection other(folder.path());
    EXPECT_EQ(other.text("SELECT typeof(loss) || ' ' || loss FROM steps WHERE step = 3"), "text NaN");
    EXPECT_EQ(other.text("SELECT count(*) FROM steps WHERE grad_norm = 9e999 AND typeof(grad_norm) = 'real'"),
              "1");
    EXPECT_EQ(
        other.text("SELECT count(*) FROM steps WHERE loss_scale = -9e999 AND typeof(loss_scale) = 'real'"),
        "1");
    EXPECT_EQ(other.text("SELECT loss_scale FROM steps WHERE step = 4"), "NULL");
    EXPECT_EQ(other.text("SELECT typeof(loss_scale) FROM steps WHERE step = 5"), "text");
    EXPECT_EQ(other.text("SELECT group_concat(name) FROM pragma_table_info('steps')"),
              "step,applied_step,epoch,time_ns,loss,learning_rate,grad_norm,loss_scale,growth_tracker,"
              "skipped,skip_kind,"
              "nonfinite_loss,nonfinite_grads,memory_bytes,memory_peak_bytes,host_memory_bytes,samples,data_"
              "ns,step_ns");
    EXPECT_EQ(other.text("PRAGMA journal_mode"), "wal");
}

TEST(RunRecorderTest, EveryTableComesBack) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    recorder->micro_batch({7, 1, -inf});
    recorder->evaluation({60, "validation", "accuracy", 0.953, "fp32", 360});
    recorder->memory({7, "saved_for_backward", 1 << 20});
    recorder->op_dtypes({0, "backward", "mm", "float16", 9, 1'000'000'000'000});
    recorder->incident(
        {0, 144, "forward", "activation_overflow", "error", "gate", "mul", "output", R"({"largest": 261})"});
    recorder->incident({0, 145, "loss", "weights_poisoned", "error", "", "", "", "{}"});
    recorder->state(RunState::Running);
    recorder->state(RunState::Finished, "all 300 steps");
    recorder->meta("mode", "fp16");
    recorder->meta("mode", "bf16");
    recorder->meta("name", "it's \"数字\"");
    recorder.reset();

    const auto reader = reader_of(folder.path());
    const auto rows = reader->read_new();
    ASSERT_TRUE(rows) << rows.error().message;
    ASSERT_EQ(rows->micro_batches.size(), 1u);
    EXPECT_EQ(rows->micro_batches[0].index, 1);
    EXPECT_EQ(rows->micro_batches[0].loss, -inf);
    ASSERT_EQ(rows->evaluations.size(), 1u);
    EXPECT_EQ(rows->evaluations[0].step, 60);
    EXPECT_EQ(rows->evaluations[0].split, "validation");
    EXPECT_EQ(rows->evaluations[0].metric, "accuracy");
    EXPECT_EQ(rows->evaluations[0].value, 0.953);
    EXPECT_EQ(rows->evaluations[0].precision, "fp32");
    EXPECT_EQ(rows->evaluations[0].samples, 360);
    ASSERT_EQ(rows->memory.size(), 1u);
    EXPECT_EQ(rows->memory[0].part, "saved_for_backward");
    EXPECT_EQ(rows->memory[0].bytes, 1 << 20);
    ASSERT_EQ(rows->op_dtypes.size(), 1u);
    EXPECT_EQ(rows->op_dtypes[0].phase + rows->op_dtypes[0].op + rows->op_dtypes[0].dtype,
              "backwardmmfloat16");
    EXPECT_EQ(rows->op_dtypes[0].multiply_adds, 1'000'000'000'000);
    ASSERT_EQ(rows->incidents.size(), 2u);
    EXPECT_EQ(rows->incidents[0].id, 1);
    EXPECT_EQ(rows->incidents[1].id, 2);
    EXPECT_EQ(rows->incidents[0].kind, "activation_overflow");
    EXPECT_EQ(rows->incidents[0].module, "gate");
    EXPECT_EQ(rows->incidents[0].detail_json, R"({"largest": 261})");
    ASSERT_EQ(rows->states.size(), 2u);
    EXPECT_EQ(rows->states[1].state, RunState::Finished);
    EXPECT_EQ(rows->states[1].reason, "all 300 steps");
    EXPECT_GT(rows->states[0].time_ns, 0);
    EXPECT_EQ(reader->meta()->at("mode"), "bf16");
    EXPECT_EQ(reader->meta()->at("name"), "it's \"数字\"");
}

TEST(RunRecorderTest, RowsAppearWithinTheBatchIntervalWithoutAFlush) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    const auto reader = reader_of(folder.path());
    recorder->step(step_row(0));
    const auto start = std::chrono::steady_clock::now();
    while (reader->read_new()->steps.empty()) {
        ASSERT_LT(std::chrono::steady_clock::now() - start, 3s);
        std::this_thread::sleep_for(5ms);
    }
}

TEST(RunRecorderTest, AnOpenedAgainRecordingGoesOn) {
    const TemporaryFolder folder;
    for (int part = 0; part < 3; ++part) {
        auto recorder = recorder_in(folder.path());
        recorder->step(step_row(part));
        recorder->incident({0, part, "loss", "cause_open", "error", "", "", "", "{}"});
    }
    const auto rows = reader_of(folder.path())->read_new();
    EXPECT_EQ(rows->steps.size(), 3u);
    ASSERT_EQ(rows->incidents.size(), 3u);
    EXPECT_EQ(rows->incidents[2].id, 3);
}

TEST(RunRecorderTest, AFullQueueMakesThePusherWaitAndLosesNothing) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    constexpr std::int64_t count = 150'000;
    std::atomic<std::int64_t> pushed{0};
    OtherConnection other(folder.path());
    other.run("BEGIN IMMEDIATE");  // the writer can't write while this lasts
    std::thread pusher([&] {
        for (; pushed < count; ++pushed) recorder->step(step_row(pushed));
    });
    std::int64_t before = -1;
    while (pushed != before) {
        before = pushed;
        std::this_thread::sleep_for(300ms);
    }
    EXPECT_GE(before, 65'536);          // it isn't blocked early …
    EXPECT_LE(before, 2 * 65'536 + 1);  // … and memory stays bounded: one batch being written, one waiting
    EXPECT_FALSE(recorder->error());
    other.run("ROLLBACK");
    pusher.join();
    ASSERT_TRUE(recorder->flush());
    EXPECT_EQ(other.text("SELECT count(*) || ' ' || max(step) FROM steps"), "150000 149999");
}

TEST(RunRecorderTest, ManyThreadsMayPush) {
    const TemporaryFolder folder;
    auto recorder = recorder_in(folder.path());
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&recorder, thread] {
            for (int step = 0; step < 2'000; ++step) {
                recorder->step(step_row(thread * 2'000 + step));
                if (step % 500 == 0) {
                    EXPECT_TRUE(recorder->flush());
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(recorder->flush());
    EXPECT_EQ(reader_of(folder.path())->read_new()->steps.size(), 8'000u);
}

}  // namespace
}  // namespace mantissa
