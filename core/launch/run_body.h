#pragma once
// One run from plan.json to its end state, on a thread of its own: the same in a worker process and in the
// window's process. Internal to core/launch.
#include <functional>
#include <string>

#include "host/engine_api.h"
#include "launch/worker.h"

namespace mantissa {

struct RunResult {
    RunState state = RunState::Failed;
    std::string reason;
    int exit_code = 1;
};

/// "auto" is the first GPU that can be computed on, else the CPU: the engine's own rule.
[[nodiscard]] std::string settled_device(const EngineApi& engine, const RunPlan& plan);

/// Opens the recorder, asks for the precision, trains. Everything that goes wrong becomes the state `failed`
/// with its sentence. `gate` may be null; `say` takes the lines of the run's log.
/// Of several ranks the main one writes the run, the others what they see (record/rank_file.h).
RunResult execute_run(const RunFolder& folder, RunControl& control, StepGate* gate,
                      const EngineLoader& loader, const std::function<void(const std::string&)>& say,
                      const RankPlace* ranks = nullptr);

}  // namespace mantissa
