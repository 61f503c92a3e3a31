#pragma once
// What is to be run: one run, or a comparison of several modes. Preparing makes the folders, so that
// everything that follows (supervisor, window, a later reader) needs one path only: the *job folder*, which
// is the comparison's folder or, for a single run, the run's own.
#include <filesystem>
#include <string>
#include <vector>

#include "base/precision.h"
#include "base/result.h"
#include "launch/run_claim.h"
#include "plan/run_plan.h"
#include "record/replica.h"
#include "record/run_folder.h"

namespace mantissa {

struct SourcedPlan;  // plan/plan_sources.h

enum class JobKind { SingleRun, Comparison };

struct JobRun {
    Precision mode = Precision::No;
    RunFolder folder;
    Replica replica = {};
};

struct PreparedJob {
    JobKind kind = JobKind::SingleRun;
    std::filesystem::path folder;  // RUNS/comparisons/<id>, or the run folder of a single run
    std::string comparison_id;     // empty for a single run
    ComparisonOrder order = ComparisonOrder::Turns;
    std::vector<JobRun> runs;  // in the order of the plan's modes, the control first
    /// More runs of the control (plan.repetitions): they begin when the modes have ended, one by one.
    std::vector<JobRun> replicas;
    [[nodiscard]] std::vector<JobRun> all_runs() const;  // those of the modes, then the replicas
    /// The locks of all runs, in that order. Held from the moment the folders exist, handed to the supervisor and by it to the
    /// workers, so that no reader ever takes a queued run for a lost one.
    std::vector<RunClaim> claims;
};

/// Makes the run folders (plan.json each with its mode, run.db with state queued) and, for a comparison, its
/// folder with comparison.json. A comparison runs `plan.modes`, with the control `no` added in front if it is
/// missing, and the replicas of it; a single run uses `plan.mixed_precision`. Errors: InputOutput (with the folder), BadPlan
/// (comparison in scope thread; a checkpoint to go on from that doesn't fit) or in scope join. Nothing is left behind by a job that could
/// not be prepared.
Result<PreparedJob> prepare_job(JobKind kind, const SourcedPlan& plan,
                                const std::filesystem::path& runs_folder);

/// Reads a job folder that somebody prepared. The claims stay empty.
Result<PreparedJob> read_job(const std::filesystem::path& job_folder);

}  // namespace mantissa
