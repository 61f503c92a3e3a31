#pragma once
// Writer of run.db. Threads: any thread may push; one thread of its own writes batches every 100 ms (a bounded queue: a full
// queue makes the pusher wait, nothing is ever dropped). `flush` returns when all that was pushed is committed.
// Errors (full disk, unwritable folder) are kept, reported by `error()`, and stop the run: the training loop looks at every step.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "record/rank_life.h"
#include "record/rows.h"

namespace mantissa {

class RunRecorder {
  public:
    /// Creates or opens RUN/run.db (WAL, synchronous=NORMAL) and starts the writer thread. Of several ranks all but the first one
    /// write RUN/rank-<n>.db.
    static Result<std::unique_ptr<RunRecorder>> open(const std::filesystem::path& run_folder, std::int64_t rank = 0);
    ~RunRecorder();  // flushes
    RunRecorder(const RunRecorder&) = delete;
    RunRecorder& operator=(const RunRecorder&) = delete;

    void step(const StepRow& row);
    void micro_batch(const MicroBatchRow& row);
    void evaluation(EvaluationRow row);
    void memory(MemoryRow row);
    void op_dtypes(OpDtypeRow row);
    void incident(IncidentRow row);
    void tensor_stat(TensorStatRow row);
    void extremes(ExtremesRow row);
    void local_error(LocalErrorRow row);
    void alarm(AlarmRow row);
    void state(RunState state, std::string reason = {});
    void meta(std::string key, std::string value);

    /// This process is the one that trains as `rank` from now on: it says so in the folder (record/rank_life.h) until `end_life`, or
    /// until it dies. Every step moves it, and every state Running or Paused.
    Result<void> begin_life(std::int64_t rank);
    void activity(Activity activity);
    void end_life(RunState state, const std::string& reason, int exit_code);

    /// Sees every tensor record as it is pushed, on the pushing thread (alarms). Set before the run, or empty to stop.
    void on_tensor_stat(std::function<void(const TensorStatRow&)> listener);

    Result<void> flush();
    /// flush(), and all of it on the disk: what is told before a run stops must survive the machine.
    Result<void> sync();
    [[nodiscard]] std::optional<Error> error() const;

  private:
    struct Impl;
    explicit RunRecorder(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace mantissa
