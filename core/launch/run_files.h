#pragma once
// Small reads and writes in run folders that several parts of launch share. Internal to core/launch.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "plan/run_plan.h"
#include "record/rows.h"
#include "record/run_folder.h"

namespace mantissa::launch_files {

/// meta key of run.db: the exit code of design §5 that this run stands for, decimal. Written with the end
/// state.
inline constexpr const char* exit_code_key = "exit_code";
/// Locked by a supervisor (or a thread-scope process) in the job folder.
inline constexpr const char* supervisor_lock = "supervisor.lock";
inline constexpr const char* supervisor_log = "supervisor.log";

/// Space that a run folder keeps for its last words: freed when a full disk keeps the end state out of
/// run.db.
inline constexpr const char* reserve_file = "reserve";
inline constexpr std::int64_t reserve_bytes = 160 * 1024;
Result<void> make_reserve(const RunFolder& folder);
void free_reserve(const RunFolder& folder);

/// The plan of a run folder, from plan.json.
Result<RunPlan> read_run_plan(const std::filesystem::path& plan_file);

/// Adds a state row (and the exit code, if given) to a run that no worker writes to. When the disk is full,
/// the run's reserve makes room.
Result<void> write_state(const RunFolder& folder, RunState state, const std::string& reason,
                         std::optional<int> exit_code = std::nullopt);

struct Recorded {
    std::int64_t steps = 0;
    std::optional<StateRow> last_state;  // as written, without the reader's own verdict "lost"
};
/// What stands in run.db; nothing when it can't be read.
[[nodiscard]] Recorded read_recorded(const RunFolder& folder);

/// Opens and locks <folder>/supervisor.lock; the descriptor, or an error that says that a supervisor is at
/// work.
Result<int> lock_job(const std::filesystem::path& job_folder);
[[nodiscard]] bool is_job_locked(const std::filesystem::path& job_folder);

[[nodiscard]] int exit_code_of(RunState state);

}  // namespace mantissa::launch_files
