#include "track/export_tensorboard.h"

#include <algorithm>

#include "base/clock.h"
#include "record/run_folder.h"
#include "record/run_reader.h"
#include "track/event_file.h"

namespace mantissa {
namespace {

constexpr std::int64_t piece = 20'000;

class Writer {
  public:
    explicit Writer(EventFile file) : m_file(std::move(file)) {}

    void add(const StepRow& row) {
        const double time = static_cast<double>(row.time_ns) / 1e9;
        m_time = time;
        const auto put = [&](const char* name, double value) {
            m_file.add(time, row.step, event::exact_scalar_summary(std::string("step/") + name, value));
        };
        put("applied_step", static_cast<double>(row.applied_step));
        put("epoch", static_cast<double>(row.epoch));
        put("time_ns", static_cast<double>(row.time_ns));
        put("loss", row.loss);
        put("learning_rate", row.learning_rate);
        put("grad_norm", row.grad_norm);
        if (row.loss_scale) put("loss_scale", *row.loss_scale);
        if (row.growth_tracker) put("growth_tracker", static_cast<double>(*row.growth_tracker));
        put("skipped", row.skipped ? 1 : 0);
        put("skip_kind", static_cast<double>(row.skip_kind));  // 0 none, 1 probing, 2 fault
        put("nonfinite_loss", row.nonfinite_loss ? 1 : 0);
        put("nonfinite_grads", static_cast<double>(row.nonfinite_grads));
        put("memory_bytes", static_cast<double>(row.memory_bytes));
        put("memory_peak_bytes", static_cast<double>(row.memory_peak_bytes));
        put("host_memory_bytes", static_cast<double>(row.host_memory_bytes));
        put("samples", static_cast<double>(row.samples));
        put("data_ns", static_cast<double>(row.data_ns));
        put("step_ns", static_cast<double>(row.step_ns));
    }
    void add(const MicroBatchRow& row) {
        m_file.add(m_time, row.step, event::exact_scalar_summary("micro_batch/" + std::to_string(row.index) + "/loss", row.loss));
    }
    void add(const EvaluationRow& row) {
        const std::string tag = row.split + "/" + row.metric + (row.precision.empty() ? "" : "/" + row.precision);
        m_file.add(m_time, row.step, event::exact_scalar_summary(tag, row.value));
    }
    Result<void> flush() { return m_file.flush(); }

  private:
    EventFile m_file;
    double m_time = 0;  // of the last step: evaluations carry none
};

bool has_events(const std::filesystem::path& folder) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        if (entry.path().filename().string().starts_with("events.out.tfevents.")) return true;
    return false;
}

}  // namespace

Result<void> export_tensorboard(const std::filesystem::path& run_folder, const std::filesystem::path& folder) {
    // TensorBoard would draw both files' curves as one.
    if (has_events(folder))
        return Error{ErrorCode::Usage, folder.string() + " holds event files already", "name a new folder"};
    auto reader = RunReader::open(run_folder);
    if (!reader) return reader.error();
    auto file = EventFile::create(folder, static_cast<double>(now_ns()) / 1e9);
    if (!file) return file.error();
    Writer writer(std::move(file).value());
    for (;;) {
        const auto rows = (*reader)->read_new(piece);
        if (!rows) return rows.error();
        for (const StepRow& row : rows->steps) writer.add(row);
        for (const MicroBatchRow& row : rows->micro_batches) writer.add(row);
        for (const EvaluationRow& row : rows->evaluations) writer.add(row);
        if (auto flushed = writer.flush(); !flushed) return flushed;
        if (rows->steps.size() < static_cast<std::size_t>(piece)) return {};
    }
}

Result<std::vector<std::string>> export_tensorboard(const ComparisonRecord& comparison, const std::filesystem::path& folder) {
    std::vector<std::string> missing;
    const std::size_t count = std::min(comparison.modes.size(), comparison.run_dirs.size());
    for (std::size_t i = 0; i < count; ++i) {
        std::error_code ignored;
        const std::string mode = to_string(comparison.modes[i]);
        if (!std::filesystem::exists(RunFolder{comparison.run_dirs[i]}.database(), ignored)) {
            missing.push_back(mode);
            continue;
        }
        if (auto written = export_tensorboard(comparison.run_dirs[i], folder / mode); !written) return written.error();
    }
    if (missing.size() == count)
        return Error{ErrorCode::InputOutput, "no run of the comparison " + comparison.id + " has a recording", ""};
    return missing;
}

}  // namespace mantissa
