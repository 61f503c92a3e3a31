#pragma once
// Who looks on at the training loop: tensor records, kept states, alarms, local error. Each is one file and one line in make_watches().
// The loop calls them in that order at the points named below. Thread: the one that trains; what a watch costs is part of the step's
// time only where it says so.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/engine_api.h"
#include "models/module_scope.h"
#include "record/rows.h"
#include "run/loop_state.h"
#include "run/run_parts.h"
#include "run/step_runner.h"

namespace mantissa {

struct KeptStateFiles {
    std::vector<std::string> names;  // folders below the incident's, oldest first: "state_94"
    std::int64_t bytes = 0;
    std::string reason;  // why there are none
};

/// What an incident takes along from watches; a watch that has it sets it in its constructor.
struct IncidentSources {
    std::function<std::vector<ExtremesRow>()> last_extremes;  // up to 2,000 steps, oldest first
    std::vector<std::string> parameters;                      // the names that its values go by
    /// Writes the states from which this step can be done again, in the form of checkpoints.
    std::function<KeptStateFiles(const std::filesystem::path& incident_folder, std::int64_t step)> write_states;
};

struct LoopContext {
    const RunPlan& plan;
    RunParts& parts;
    RunSession& session;
    IncidentSources& incident_sources;
    std::string& halt_reason;  // said of the next pause or stop that session.control was told: "alarm headroom on gate.mul"
    const LoopState& state;    // the loop's own counters
};

class LoopWatch {
  public:
    virtual ~LoopWatch() = default;
    /// Between two steps: everything is as the last step left it.
    virtual void before_step(std::int64_t /*step*/) {}
    /// Asked before every forward pass of a step (one a micro-batch): who sees the outputs of named places in it; null: not interested.
    virtual OutputWatch* outputs(std::int64_t /*step*/) { return nullptr; }
    /// After all backward passes: gradients are still scaled and not clipped, weights are those of the forward pass.
    virtual void before_update(std::int64_t /*step*/, const std::vector<Batch>& /*micro_batches*/) {}
    /// The step's row is recorded; gradients are there until the next step begins (unscaled, clipped).
    virtual void after_step(const StepOutcome& /*outcome*/, const std::vector<Batch>& /*micro_batches*/) {}
    /// No more steps; the recording still takes rows.
    virtual void at_end() {}
};

[[nodiscard]] std::vector<std::unique_ptr<LoopWatch>> make_watches(const LoopContext& context);

}  // namespace mantissa
