#include "launch/run_body.h"

#include "base/log.h"
#include "launch/engine_module.h"
#include "launch/run_files.h"
#include "launch/lost_rank.h"
#include "launch/model_content.h"
#include "launch/trusted_files.h"

namespace mantissa {

namespace {

RunResult failed(const Error& error) {
    return {RunState::Failed, describe(error), exit_code(error.code)};
}

using Say = std::function<void(const std::string&)>;

/// Rule 7: the first line says device, requested and effective precision.
std::string first_line(const std::string& device, const PrecisionChoice& choice) {
    return "device " + device + ", requested precision " + to_string(choice.requested) +
           ", effective precision " + to_string(choice.effective) + " (" + to_string(choice.support) +
           (choice.reason.empty() ? "" : ": " + choice.reason) + ")";
}

RunResult train(const RunPlan& plan, RunSession& session, const EngineApi& engine, const Say& say) {
    if (const auto trusted = require_trusted_model(plan); !trusted) return failed(trusted.error());
    if (const auto same = require_same_model(session.folder.path, plan.model); !same) return failed(same.error());
    const auto choice = engine.choose_precision(plan, plan.mixed_precision);
    if (!choice) return failed(choice.error());
    say(first_line(settled_device(engine, plan), *choice));
    const auto end = engine.run(plan, session);
    if (session.gate != nullptr) session.gate->run_ended();
    // What was recorded counts more than how the loop felt about it: a full disk is a failed run.
    if (const auto flushed = session.recorder.flush(); !flushed) return failed(flushed.error());
    if (!end) return failed(end.error());
    return {end->state, end->reason, launch_files::exit_code_of(end->state)};
}

/// The recorder's own last words need space that a full disk may not have; the run's reserve gives it.
void record_end_on_full_disk(const RunFolder& folder, const RunResult& result) {
    const auto recorded = launch_files::read_recorded(folder);
    if (recorded.last_state && recorded.last_state->state == result.state) return;
    const auto written = launch_files::write_state(folder, result.state, result.reason, result.exit_code);
    if (!written) log::error(describe(written.error()));
}

}  // namespace

std::string settled_device(const EngineApi& engine, const RunPlan& plan) {
    if (plan.device == "cuda") return "cuda:0";
    if (plan.device != "auto") return plan.device;
    RunPlan on_gpu = plan;
    on_gpu.device = "cuda";
    on_gpu.mixed_precision = Precision::No;
    return engine.choose_precision(on_gpu, Precision::No) ? "cuda:0" : "cpu";
}

RunResult execute_run(const RunFolder& folder, RunControl& control, StepGate* gate,
                      const EngineLoader& loader, const Say& say, const RankPlace* ranks) {
    const std::int64_t rank = ranks != nullptr ? ranks->rank : 0;
    const auto plan = launch_files::read_run_plan(folder.plan());
    auto recorder = RunRecorder::open(folder.path, rank);
    if (!recorder) return failed(recorder.error());
    if (const auto begun = (*recorder)->begin_life(rank); !begun) return failed(begun.error());
    if (gate != nullptr) {
        gate->on_waiting([&recorder](bool waits) { (*recorder)->activity(waits ? Activity::WaitingForTurn : Activity::Training); });
    }
    RunResult result;
    if (!plan) {
        result = failed(plan.error());
    } else {
        const auto engine = loader ? loader() : load_engine();
        if (!engine) {
            result = failed(engine.error());
        } else {
            (*recorder)->state(RunState::Running);
            std::optional<RankPlace> place = ranks != nullptr ? std::optional(*ranks) : std::nullopt;
            // In scope join the processes have met by now.
            if (place && !place->store_file.empty()) place->timeout_ms = plan->launch.group_timeout_seconds * 1000;
            RunSession session{folder, **recorder, control, gate, place ? &*place : nullptr};
            result = train(*plan, session, **engine, say);
        }
    }
    if (gate != nullptr) gate->on_waiting({});
    if (result.exit_code == exit_code(ErrorCode::WorkerLost) && ranks != nullptr) result.reason = who_was_lost(folder, rank, result.reason);
    if (result.state == RunState::Failed) (*recorder)->state(RunState::Failed, result.reason);
    (*recorder)->meta(launch_files::exit_code_key, std::to_string(result.exit_code));
    const auto flushed = (*recorder)->flush();
    if (!flushed && result.state != RunState::Failed) result = failed(flushed.error());
    (*recorder)->end_life(result.state, result.reason, result.exit_code);
    recorder->reset();
    // The end state and the reserve are the run's, not one rank's.
    if (rank == 0 && flushed) launch_files::free_reserve(folder);
    if (rank == 0 && !flushed) record_end_on_full_disk(folder, result);
    say(std::string("end: ") + to_string(result.state) + (result.reason.empty() ? "" : ": " + result.reason));
    return result;
}

}  // namespace mantissa
