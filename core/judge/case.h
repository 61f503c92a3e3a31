#pragma once
// The evidence of a comparison (or of one run) with the figures that all rules share, computed once.
#include <optional>
#include <string>
#include <vector>

#include "judge/control_health.h"
#include "judge/control_spread.h"
#include "judge/evidence.h"
#include "judge/run_figures.h"
#include "record/place_name.h"

namespace mantissa {

struct RunCase {
    const RunEvidence& run;
    RunFigures figures;

    [[nodiscard]] Precision mode() const { return run.summary.mode; }
    [[nodiscard]] std::string mode_name() const { return to_string(run.summary.mode); }
    [[nodiscard]] bool is_half() const { return mode() != Precision::No; }
    [[nodiscard]] bool emulated() const { return run.summary.support == Support::Emulated; }
    [[nodiscard]] bool finished() const { return run.summary.state == RunState::Finished; }
    [[nodiscard]] const IncidentRow* first_incident(std::string_view kind) const;
    /// The scale at its floor with gradients that still overflow; the alarm on its way there is none.
    [[nodiscard]] const IncidentRow* scale_collapse() const;
};

class Case {
  public:
    explicit Case(const ComparisonEvidence& evidence);  // keeps references: the evidence must outlive it

    [[nodiscard]] const std::vector<RunCase>& runs() const { return m_runs; }
    [[nodiscard]] const RunCase* run(Precision mode) const;
    /// The run of mode `no`, once it has a step.
    [[nodiscard]] const RunCase* control() const;
    [[nodiscard]] ControlHealth control_health_until(std::optional<std::int64_t> step) const;
    /// Healthy at that step, and then as far as it stays so: what is told of the control once a half run
    /// failed there.
    [[nodiscard]] ControlHealth control_health_from(std::int64_t step) const;
    /// How far the control had grown when the first run failed (itself included), at its end when none failed. A half run that failed
    /// before anything could grow leaves the control's own failure to be looked at.
    [[nodiscard]] ControlHealth control_health_at_failure() const;
    /// Of the control and its repetitions; empty unless they are enough to judge by.
    [[nodiscard]] const std::optional<ControlSpread>& spread() const { return m_spread; }
    [[nodiscard]] bool times_shared() const { return m_evidence.order == "at-once"; }
    [[nodiscard]] const ComparisonEvidence& evidence() const { return m_evidence; }

  private:
    const ComparisonEvidence& m_evidence;
    std::vector<RunCase> m_runs;
    std::optional<ControlSpread> m_spread;
};

/// "fp16, bf16"; empty for none.
[[nodiscard]] std::string mode_list(const std::vector<Precision>& modes);

}  // namespace mantissa
