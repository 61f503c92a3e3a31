#include "track/export_tensorboard.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/files.h"
#include "record/run_recorder.h"
#include "tests/support/temporary_folder.h"
#include "track/event_file.h"

namespace mantissa {
namespace {

using testing::TemporaryFolder;

namespace fs = std::filesystem;
constexpr double infinity = std::numeric_limits<double>::infinity();

StepRow row(std::int64_t step, double loss) {
    StepRow row;
    row.step = step;
    row.applied_step = step;
    row.time_ns = 1'700'000'000'250'000'000 + step;
    row.loss = loss;
    row.learning_rate = 0.1;
    row.grad_norm = 2;
    row.loss_scale = step == 0 ? std::optional(65536.0) : std::nullopt;
    row.skipped = step == 1;
    row.skip_kind = step == 1 ? SkipKind::Fault : SkipKind::None;
    return row;
}

void record(const fs::path& run) {
    fs::create_directories(run);
    auto recorder = RunRecorder::open(run);
    ASSERT_TRUE(recorder);
    (*recorder)->step(row(0, 0.1));
    (*recorder)->step(row(1, std::numeric_limits<double>::quiet_NaN()));
    (*recorder)->step(row(2, -infinity));
    (*recorder)->micro_batch({0, 1, 0.3});
    (*recorder)->evaluation({.step = 3, .split = "validation", .metric = "accuracy", .value = 0.7, .precision = "fp32"});
    ASSERT_TRUE((*recorder)->flush());
}

std::string only_file(const fs::path& folder) {
    std::string bytes;
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        bytes = *read_file(entry.path());
        ++files;
    }
    EXPECT_EQ(files, 1) << folder;
    return bytes;
}

bool holds(const std::string& file, const StepRow& row, const std::string& tag, double value) {
    const auto event = event::with_summary(static_cast<double>(row.time_ns) / 1e9, row.step,
                                           event::exact_scalar_summary(tag, value));
    return file.find(tf_record(event)) != std::string::npos;
}

TEST(ExportTensorBoard, EveryColumnIsACurveWithItsValuesAsTheyAre) {
    const TemporaryFolder folder;
    record(folder.path() / "run");
    const auto target = folder.path() / "logs";
    const auto written = export_tensorboard(folder.path() / "run", target);
    ASSERT_TRUE(written) << describe(written.error());
    const std::string file = only_file(target);
    EXPECT_TRUE(holds(file, row(0, 0), "step/loss", 0.1));
    EXPECT_TRUE(holds(file, row(1, 0), "step/loss", std::numeric_limits<double>::quiet_NaN()));
    EXPECT_TRUE(holds(file, row(2, 0), "step/loss", -infinity));
    EXPECT_TRUE(holds(file, row(0, 0), "step/loss_scale", 65536));
    EXPECT_FALSE(holds(file, row(1, 0), "step/loss_scale", 0)) << "not measured is no value";
    EXPECT_TRUE(holds(file, row(1, 0), "step/skipped", 1));
    EXPECT_TRUE(holds(file, row(1, 0), "step/skip_kind", 2));
    EXPECT_TRUE(holds(file, row(2, 0), "step/time_ns", 1'700'000'000'250'000'002.0));
    const auto last_time = static_cast<double>(row(2, 0).time_ns) / 1e9;
    EXPECT_NE(file.find(event::with_summary(last_time, 0, event::exact_scalar_summary("micro_batch/1/loss", 0.3))),
              std::string::npos);
    EXPECT_NE(file.find(event::with_summary(last_time, 3, event::exact_scalar_summary("validation/accuracy/fp32", 0.7))),
              std::string::npos);
    const auto again = export_tensorboard(folder.path() / "run", target);
    ASSERT_FALSE(again);
    EXPECT_EQ(describe(again.error()), target.string() + " holds event files already — name a new folder");
}

TEST(ExportTensorBoard, AComparisonBecomesOneFolderPerMode) {
    const TemporaryFolder folder;
    record(folder.path() / "a");
    record(folder.path() / "b");
    ComparisonRecord comparison;
    comparison.id = "x";
    comparison.modes = {Precision::No, Precision::Fp16, Precision::Bf16};
    comparison.run_dirs = {folder.path() / "a", folder.path() / "b", folder.path() / "c"};
    const auto missing = export_tensorboard(comparison, folder.path() / "logs");
    ASSERT_TRUE(missing) << describe(missing.error());
    EXPECT_EQ(*missing, std::vector<std::string>{"bf16"});
    EXPECT_TRUE(holds(only_file(folder.path() / "logs" / "no"), row(0, 0), "step/loss", 0.1));
    EXPECT_TRUE(holds(only_file(folder.path() / "logs" / "fp16"), row(0, 0), "step/loss", 0.1));
}

}  // namespace
}  // namespace mantissa
