#include "folder_maker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

#include "base/files.h"
#include "record/meta_keys.h"
#include "record/run_folder.h"
#include "record/run_recorder.h"

namespace mantissa::test {
namespace {

void write_meta(RunRecorder& recorder, const RunSummary& run, const std::string& comparison_id) {
    recorder.meta(meta::name, run.name);
    recorder.meta(meta::model, run.model);
    recorder.meta(meta::dataset, run.dataset);
    recorder.meta(meta::mode, to_string(run.mode));
    recorder.meta(meta::requested, to_string(run.requested));
    recorder.meta(meta::effective, to_string(run.effective));
    recorder.meta(meta::support, to_string(run.support));
    recorder.meta(meta::support_reason, run.support_reason);
    recorder.meta(meta::device, run.device);
    recorder.meta(meta::device_name, run.device_name);
    recorder.meta(meta::planned_steps, std::to_string(run.planned_steps));
    recorder.meta(meta::validation_samples, std::to_string(run.validation_samples));
    recorder.meta(meta::metric, run.metric_name);
    recorder.meta(meta::started_ns, "1800000000000000000");
    if (!comparison_id.empty()) recorder.meta(meta::comparison_id, comparison_id);
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
    static std::atomic<int> next{0};
    m_path = std::filesystem::path(::testing::TempDir()) /
             ("judge-" + std::to_string(::getpid()) + "-" + std::to_string(next++));
    std::filesystem::create_directories(m_path);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

std::filesystem::path write_run(const std::filesystem::path& runs, const RunEvidence& run,
                                const std::string& comparison_id) {
    const auto folder = create_run_folder(runs, run.summary.name, run.summary.mode);
    MANTISSA_ASSERT(folder.ok());
    MANTISSA_ASSERT(write_file_atomically(folder->environment(), run.environment_json).ok());
    const std::string plan =
        R"({"mantissa_plan": 1, "plan": {"training": {"optimizer": {"learning_rate": 0.003}}, "loss_scale": {"floor": 6.103515625e-05}, "on_nonfinite": "stop"},
        "sources": {"training.optimizer.learning_rate": {"source": "flag", "detail": "--set", "value": "0.003",
        "overruled": [{"source": "preset", "detail": "gated-overflow", "value": "0.001"}]}}})";
    MANTISSA_ASSERT(write_file_atomically(folder->plan(), plan).ok());
    auto recorder = RunRecorder::open(folder->path);
    MANTISSA_ASSERT(recorder.ok());
    write_meta(**recorder, run.summary, comparison_id);
    (*recorder)->state(RunState::Running);
    for (const StepRow& row : run.rows.steps) (*recorder)->step(row);
    for (const OpDtypeRow& row : run.rows.op_dtypes) (*recorder)->op_dtypes(row);
    for (const IncidentRow& row : run.rows.incidents) (*recorder)->incident(row);
    for (const std::int64_t step : {60, 120, 180, 240, 300}) {
        if (!run.summary.metric || step > run.summary.steps) continue;
        const double metric = *run.summary.metric - 0.0005 * static_cast<double>(300 - step);
        (*recorder)->evaluation(
            {step, "validation", run.summary.metric_name, metric, "fp32", run.summary.validation_samples});
    }
    (*recorder)->state(run.summary.state, run.summary.state_reason);
    MANTISSA_ASSERT((*recorder)->flush().ok());
    return folder->path;
}

std::filesystem::path write_comparison_folder(const std::filesystem::path& runs,
                                              const ComparisonEvidence& evidence, const std::string& name) {
    ComparisonRecord record;
    record.id = "20270115-080000-" + std::string("test");
    record.name = name;
    record.started_ns = 1'800'000'000'000'000'000;
    record.state = "finished";
    record.order = evidence.order;
    record.modes = evidence.modes;
    record.trials = evidence.trials;
    for (const RunEvidence& run : evidence.runs) record.run_dirs.push_back(write_run(runs, run, record.id));
    const auto folder = comparison_folder(runs, record.id);
    MANTISSA_ASSERT(make_folders(folder).ok());
    MANTISSA_ASSERT(write_comparison(folder, record).ok());
    return folder;
}

}  // namespace mantissa::test
