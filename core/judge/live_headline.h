#pragma once
// While a comparison (or a run) goes on: one sentence for the window's headline. It says the worst thing
// first.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/comparison_record.h"
#include "record/rows.h"
#include "record/run_summary.h"
#include "record/stall.h"

namespace mantissa {

struct LiveRunState {
    Precision mode = Precision::No;
    RunState state = RunState::Queued;
    std::string state_reason;
    std::int64_t steps = 0, planned_steps = 0;
    std::optional<std::int64_t> first_nonfinite_step;
    std::int64_t skipped_probing = 0, skipped_fault = 0;
    std::string where;  // "gate.mul": producer of the first bad value, when an incident names it
    std::optional<Stall> stall;  // it stands still
};

struct LiveHeadline {
    std::string text;
    std::string severity = "ok";  // ok note warning error
};

[[nodiscard]] LiveRunState live_run_state(const RunSummary& summary,
                                          const std::vector<IncidentRow>& incidents);
/// `repeating`: of a comparison whose modes have ended (ComparisonRecord::repeating).
[[nodiscard]] LiveHeadline live_headline(const std::vector<LiveRunState>& runs, std::string_view language,
                                         const std::optional<Repeating>& repeating = {});

}  // namespace mantissa
