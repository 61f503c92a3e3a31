// Schedulers by the ids of the catalogue.
#include "engine/engine_error.h"
#include "engine/scheduler.h"

namespace mantissa {

Scheduler make_scheduler(const SchedulerPlan& plan, const Optimizer& optimizer, std::int64_t plan_steps) {
    if (plan.name == "constant") return constant(optimizer);
    if (plan.name == "step") return step_lr(optimizer, plan.step_size, plan.gamma);
    if (plan.name == "linear") return linear_lr(optimizer, plan.start_factor, plan.end_factor, plan.total_iters);
    if (plan.name == "cosine") return cosine_lr(optimizer, plan.t_max, plan.eta_min);
    const std::int64_t total = plan.total_steps == 0 ? plan_steps : plan.total_steps;
    if (plan.name == "constant_with_warmup") return constant_with_warmup(optimizer, plan.warmup_steps);
    if (plan.name == "linear_with_warmup") return linear_with_warmup(optimizer, plan.warmup_steps, total);
    if (plan.name == "cosine_with_warmup") {
        return cosine_with_warmup(optimizer, plan.warmup_steps, total, plan.num_cycles);
    }
    if (plan.name == "one_cycle") {
        return one_cycle_lr(optimizer, {.max_lr = plan.max_lr,
                                        .total_steps = total,
                                        .pct_start = plan.pct_start,
                                        .div_factor = plan.div_factor,
                                        .final_div_factor = plan.final_div_factor,
                                        .cosine = plan.anneal_strategy == "cos",
                                        .cycle_momentum = plan.cycle_momentum,
                                        .three_phase = plan.three_phase,
                                        .base_momentum = plan.base_momentum,
                                        .max_momentum = plan.max_momentum});
    }
    throw EngineError({ErrorCode::BadPlan, "training.scheduler.name is '" + plan.name + "'",
                       "use constant, step, linear, cosine, one_cycle, or constant, linear or cosine + _with_warmup"});
}

}  // namespace mantissa
