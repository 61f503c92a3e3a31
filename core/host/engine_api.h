#pragma once
// What the engine module (torch side, a shared module loaded on demand) offers, seen from the torch-free side. The module exports
//   extern "C" const mantissa::EngineApi* mantissa_engine_api();
// Both sides are built together: `abi` must equal `engine_abi`, else the module is refused with both texts.
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/run_control.h"
#include "plan/rank_place.h"
#include "plan/run_plan.h"
#include "record/replay_report.h"
#include "record/reports.h"
#include "record/run_folder.h"
#include "record/run_recorder.h"

namespace mantissa {

inline constexpr const char* engine_abi = "mantissa-engine-6";

struct RunSession {
    RunFolder folder;
    RunRecorder& recorder;
    RunControl& control;
    StepGate* gate = nullptr;          // none: no turns
    const RankPlace* ranks = nullptr;  // none: this process trains alone
};

/// How a run ended; its state row is written by the engine before it returns.
struct RunEnd {
    RunState state = RunState::Finished;
    std::string reason;
};

/// One replay, in a process of its own: the run's state is taken up (or its seed), it goes forward to `step` and does that step.
struct ReplayRequest {
    std::filesystem::path run;    // its folder: the plan and the record that the replay is compared with
    RunPlan plan;                 // the run's own, with the variant's one change; mixed_precision is the variant's mode
    std::filesystem::path state;  // a checkpoint folder; empty: from the seed
    std::int64_t step = 0;        // the step that is looked at
    std::optional<std::int64_t> change_from;  // from this step on the change holds (half_rate); empty: from `step`
    bool watch_ops = false;       // level 3 at `step`: births and the ops around them
    /// Its largest value is read in every step on the way, as a birth there names it; all empty: none.
    std::string watch_place;      // "gate.mul"
    std::string watch_phase;      // empty: a place of the forward pass that the model itself names
    std::string watch_kernel;     // of a backward: what computes it
    std::string watch_tensor;     // of the batch, a weight or a buffer that was bad from the start, or after an update
    bool previous_batch = false;  // the batch of step − 1 instead of its own
    std::optional<double> loss_scale;  // at `step` and from there on fixed (scale_1)
    std::int64_t later_steps = 0;      // further steps
    std::filesystem::path keep_state;  // a new folder, outside the run's, for the state at the start of `step`: another mode begins there
    VariantReport variant;             // id, mode, island of the answer
    std::optional<RankPlace> ranks;    // of a run of several processes: all are asked the same at once, the first one tells the answer of all
};

struct ReplayAnswer {
    VariantReport variant;
    /// Of the record of all steps before the change; of an unchanged replay those up to `step`.
    Reproduced reproduced = Reproduced::No;
    std::string reproduced_reason;
    std::optional<BirthReport> birth;
    std::vector<OpReading> ops;
    double limit = 0;
    std::vector<StepValue> producer_largest;
    std::int64_t start_step = 0;
};
void watch_birth(ReplayRequest& request, const BirthReport& birth);
nlohmann::json to_json(const ReplayRequest& request);
Result<ReplayRequest> replay_request_from_json(const nlohmann::json& json);
nlohmann::json to_json(const ReplayAnswer& answer);
Result<ReplayAnswer> replay_answer_from_json(const nlohmann::json& json);

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
    /// Never writes into the run's folder. A step that refuses (rule 12) is an answer, not an error.
    Result<ReplayAnswer> (*replay)(const ReplayRequest& request);
    /// Meets the other processes of a launch, once; the run that follows in this process with that place trains with them. Every
    /// process returns the text of rank 0. Error WorkerLost when not all come.
    Result<std::string> (*meet)(const RankPlace& place, const std::string& text) = nullptr;
};

}  // namespace mantissa
