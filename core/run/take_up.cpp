#include "run/take_up.h"

#include "engine/engine_error.h"
#include "plan/plan_file.h"
#include "plan/resume_check.h"

namespace mantissa {
namespace {

/// The saved rate is where the schedule has brought it; a changed plan moves the schedule's whole course by one factor.
void change_learning_rate(double saved, double now, RunParts& parts) {
    const auto moved = [saved, now](double rate) { return rate == saved || saved == 0 ? now : rate * (now / saved); };
    for (ParameterGroup& group : parts.optimizer.core().groups()) {
        group.learning_rate = moved(group.learning_rate);
        group.initial_learning_rate = moved(group.initial_learning_rate);
    }
    SchedulerCore& scheduler = parts.scheduler.core();
    StateBundle state = scheduler.state();
    auto rates = state.fact<std::vector<double>>("base_rates");
    for (double& rate : rates) rate = moved(rate);
    state.facts["base_rates"] = std::move(rates);
    scheduler.load_state(state);
}

void follow_learning_rate(const RunPlan& saved, const RunPlan& plan, RunParts& parts) {
    const double before = saved.training.optimizer.learning_rate, now = plan.training.optimizer.learning_rate;
    if (before != now) change_learning_rate(before, now, parts);
}

}  // namespace

void take_up(const CheckpointInfo& checkpoint, const RunPlan& plan, RunParts& parts) {
    const Result<SourcedPlan> saved = read_plan_file(checkpoint.plan());
    if (!saved) throw EngineError(saved.error());
    const auto fits = check_resume(saved->plan, checkpoint.step, plan);
    if (!fits) throw EngineError(fits.error());
    parts.accelerator.load_state(checkpoint.path);
    follow_learning_rate(saved->plan, plan, parts);
    parts.hashes.initial_state = state_hash(parts.bare_model());
}

void take_up(const Checkpoint& state, const RunPlan& saved, const RunPlan& plan, RunParts& parts) {
    if (const auto fits = check_resume(saved, state.step, plan); !fits) throw EngineError(fits.error());
    parts.accelerator.take_state(state);
    follow_learning_rate(saved, plan, parts);
}

}  // namespace mantissa
