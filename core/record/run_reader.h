#pragma once
// Reader of run folders: a running one, a lost one, last year's. Read-only; never blocks the writer. A follower keeps positions and
// returns what is new since its last call.
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/rows.h"

namespace mantissa {

struct RunRows {  // what is new
    std::vector<StepRow> steps;
    std::vector<MicroBatchRow> micro_batches;
    std::vector<EvaluationRow> evaluations;
    std::vector<MemoryRow> memory;
    std::vector<OpDtypeRow> op_dtypes;
    std::vector<IncidentRow> incidents;
    std::vector<TensorStatRow> tensor_stats;  // without their histograms
    std::vector<LocalErrorRow> local_errors;
    std::vector<AlarmRow> alarms;
    std::vector<StateRow> states;
    [[nodiscard]] bool empty() const;
};

class RunReader {
  public:
    /// Opens RUN/run.db read-only. A folder whose run.db isn't there yet is an error the caller may retry.
    /// `rank`: of a run of several, what that one recorded (record/rank_file.h).
    static Result<std::unique_ptr<RunReader>> open(const std::filesystem::path& run_folder, std::int64_t rank = 0);
    ~RunReader();

    /// Rows since the last call (all rows at the first), at most `limit` steps.
    Result<RunRows> read_new(std::int64_t limit = 200'000);
    /// Records with their histograms, in the order of steps: of all tensors of a role, or of one; those of [from_step, to_step].
    Result<std::vector<TensorStatRow>> tensor_stats(TensorRole role, const std::string& tensor = {}, std::int64_t from_step = 0,
                                                    std::int64_t to_step = std::numeric_limits<std::int64_t>::max());
    /// Level 0 over the whole run, in the order of steps; names are in meta::parameters (a JSON list).
    Result<std::vector<ExtremesRow>> extremes();
    Result<std::map<std::string, std::string>> meta();
    /// Last state row; a run without an end state whose lock is free is Lost.
    Result<StateRow> state();
    [[nodiscard]] const std::filesystem::path& folder() const;

  private:
    struct Impl;
    explicit RunReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

}  // namespace mantissa
