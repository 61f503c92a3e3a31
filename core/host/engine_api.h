#pragma once
// What the engine module (torch side, a shared module loaded on demand) offers, seen from the torch-free side. The module exports
//   extern "C" const mantissa::EngineApi* mantissa_engine_api();
// Both sides are built together: `abi` must equal `engine_abi`, else the module is refused with both texts.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "host/run_control.h"
#include "plan/run_plan.h"
#include "record/reports.h"
#include "record/run_folder.h"
#include "record/run_recorder.h"

namespace mantissa {

inline constexpr const char* engine_abi = "mantissa-engine-1";

struct RunSession {
    RunFolder folder;
    RunRecorder& recorder;
    RunControl& control;
    StepGate* gate = nullptr;  // none: no turns
};

/// How a run ended; its state row is written by the engine before it returns.
struct RunEnd {
    RunState state = RunState::Finished;
    std::string reason;
};

struct EngineApi {
    const char* abi;
    const char* torch_version;
    /// Trains as the plan says (already validated; `mixed_precision` is the mode). Writes environment.json before step 0.
    /// Every exception of torch becomes an Error here. Called on a thread of the caller's: the worker thread.
    Result<RunEnd> (*run)(const RunPlan& plan, RunSession& session);
    /// Refusal before training: device there? mode supported, emulated and allowed? (rules 5, 6)
    Result<PrecisionChoice> (*choose_precision)(const RunPlan& plan, Precision mode);
    Result<TrialReport> (*trial)(const RunPlan& plan, Precision mode);
    Result<ProbeReport> (*probe)();
    /// Versions and numeric settings for `mantissa env` and environment.json, as a JSON text.
    Result<std::string> (*environment)(const RunPlan& plan);
};

}  // namespace mantissa
