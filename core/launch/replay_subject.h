#pragma once
// What a replay is about, from the run's folder alone: which step, the states that it can start from, the control beside it.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan_sources.h"
#include "record/checkpoint_info.h"
#include "record/replay_report.h"
#include "record/rows.h"

namespace mantissa {

struct ReplaySubject {
    std::filesystem::path run;
    SourcedPlan plan;  // of the run; without a checkpoint to go on from
    std::int64_t step = 0;
    bool is_healthy = false;  // the record shows nothing bad there
    std::optional<IncidentReport> incident;  // of this step
    std::int64_t first_step = 0;  // of the recording; above 0 in a run that was gone on with
    std::vector<CheckpointInfo> states;  // usable, at or before the step, newest first
    std::vector<std::string> passed_over;  // a sentence for each one that is damaged
    std::vector<StepRow> steps;
    std::filesystem::path control_run;  // empty: there is none; of a run in mode `no` itself
    std::optional<bool> control_finite;  // there at the step; empty: it didn't come so far

    [[nodiscard]] Precision mode() const { return plan.plan.mixed_precision; }
    [[nodiscard]] std::filesystem::path folder() const { return incident_folder(run, step); }
    /// The newest state at or before `at`; nothing: from the seed.
    [[nodiscard]] const CheckpointInfo* state_at_or_before(std::int64_t at) const;
    [[nodiscard]] const CheckpointInfo* state_at(std::int64_t at) const;
    /// Time that the run needed from one step to another, by its record.
    [[nodiscard]] double recorded_seconds(std::int64_t from, std::int64_t to) const;
};

/// The step is the one asked for, else the first incident, else the first non-finite step of the record. Errors: Usage (healthy run,
/// step out of range), InputOutput (no record, damaged incident.json, a file of data or model that is gone, no way to the step).
Result<ReplaySubject> find_replay_subject(const std::filesystem::path& run, std::optional<std::int64_t> step);

}  // namespace mantissa
