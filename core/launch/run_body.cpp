#include "launch/run_body.h"

#include "base/log.h"
#include "launch/engine_module.h"
#include "launch/run_files.h"

namespace mantissa {

namespace {

RunResult failed(const Error& error) { return {RunState::Failed, describe(error), exit_code(error.code)}; }

/// Rule 7: the first line says device, requested and effective precision.
std::string first_line(const RunPlan& plan, const PrecisionChoice& choice) {
    return "device " + plan.device + ", requested precision " + to_string(choice.requested) + ", effective precision " +
           to_string(choice.effective) + " (" + to_string(choice.support) +
           (choice.reason.empty() ? "" : ": " + choice.reason) + ")";
}

RunResult train(const RunPlan& plan, RunSession& session, const EngineApi& engine) {
    const auto choice = engine.choose_precision(plan, plan.mixed_precision);
    if (!choice) return failed(choice.error());
    log::info(first_line(plan, *choice));
    const auto end = engine.run(plan, session);
    if (session.gate != nullptr) session.gate->run_ended();
    // What was recorded counts more than how the loop felt about it: a full disk is a failed run.
    if (const auto flushed = session.recorder.flush(); !flushed) return failed(flushed.error());
    if (!end) return failed(end.error());
    return {end->state, end->reason, launch_files::exit_code_of(end->state)};
}

}  // namespace

RunResult execute_run(const RunFolder& folder, RunControl& control, StepGate* gate, const EngineLoader& loader) {
    const auto plan = launch_files::read_run_plan(folder.plan());
    auto recorder = RunRecorder::open(folder.path);
    if (!recorder) return failed(recorder.error());
    RunResult result;
    if (!plan) {
        result = failed(plan.error());
    } else {
        const auto engine = loader ? loader() : load_engine();
        if (!engine) {
            result = failed(engine.error());
        } else {
            (*recorder)->state(RunState::Running);
            RunSession session{folder, **recorder, control, gate};
            result = train(*plan, session, **engine);
        }
    }
    if (result.state == RunState::Failed) (*recorder)->state(RunState::Failed, result.reason);
    (*recorder)->meta(launch_files::exit_code_key, std::to_string(result.exit_code));
    if (const auto flushed = (*recorder)->flush(); !flushed && result.state != RunState::Failed) result = failed(flushed.error());
    if (result.state == RunState::Failed) log::error(result.reason);
    else log::info(std::string("end: ") + to_string(result.state) + (result.reason.empty() ? "" : ": " + result.reason));
    return result;
}

}  // namespace mantissa
