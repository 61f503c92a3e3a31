#include "plan/resume_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/numbers.h"
#include "plan/plan_fields.h"
#include "plan/validate.h"

namespace mantissa {
namespace {

enum class Change { Free, Told, Refused };

constexpr std::array<std::string_view, 21> free_fields{
    "name",           "modes",          "mixed_precision",  "device",
    "launch.scope",   "launch.order",   "training.epochs",  "training.max_steps",
    "allow_emulated", "on_nonfinite",   "observe.",         "repetitions.",
    "evaluation.",    "checkpoint.",    "dataset.name",     "dataset.file",
    "model.file",     "model.weights", "model.partial_weights", "training.scheduler.total_steps", "launch.group_timeout_seconds"};
constexpr std::array<std::string_view, 10> told_fields{
    "training.optimizer.learning_rate", "training.optimizer.implementation", "training.clip_grad_norm",
    "training.clip_grad_value",         "training.deterministic",            "launch.threads",
    "loss_scale.",                      "fp32_islands",                      "cpu_half",
    "tf32"};

template <std::size_t Count>
bool holds(const std::array<std::string_view, Count>& names, const std::string& path) {
    return std::any_of(names.begin(), names.end(), [&path](std::string_view name) {
        return name.ends_with('.') ? path.starts_with(name) : path == name;
    });
}

Change change_of(const std::string& path) {
    if (holds(free_fields, path)) return Change::Free;
    return holds(told_fields, path) ? Change::Told : Change::Refused;
}

Error refused(const std::string& path, const std::string& before, const std::string& after) {
    return {ErrorCode::BadPlan, path + " is " + after + ", the checkpoint was saved with " + before,
            "what may change is the mode, the length, the learning rate, the loss scale, fp32 islands, clipping, "
            "evaluation and device; for anything else start a new run"};
}

// The file of a model or data set may have moved: what is in it is compared by the engine, by hash.
Result<void> check_subject(const RunPlan& saved, const RunPlan& now) {
    if (saved.dataset.name != now.dataset.name)
        return refused("dataset.name", saved.dataset.name, now.dataset.name);
    if (saved.model.file.empty() != now.model.file.empty())
        return refused("model.file", saved.model.file.empty() ? "none" : saved.model.file,
                       now.model.file.empty() ? "none" : now.model.file);
    return {};
}

bool is_one_cycle(const RunPlan& plan) {
    return plan.training.scheduler.name == "one_cycle";
}

std::int64_t steps_of(const RunPlan& plan) {
    return planned_steps(of_all_ranks(plan), planned_samples(plan.dataset).training);
}

bool has_known_length(const RunPlan& plan) {
    return plan.training.max_steps.has_value() || plan.dataset.file.empty();
}

Result<void> check_cycle(const RunPlan& saved, const RunPlan& now) {
    if (!is_one_cycle(saved)) return {};
    if (saved.training.optimizer.learning_rate != now.training.optimizer.learning_rate)
        return Error{ErrorCode::BadPlan,
                     "training.optimizer.learning_rate can't change in the middle of a one_cycle schedule, which "
                     "sets the rate of every step itself",
                     "leave it at " + to_text(saved.training.optimizer.learning_rate)};
    const std::int64_t cycle = with_schedule_of(saved, now).training.scheduler.total_steps;
    if (now.training.scheduler.total_steps != 0 && now.training.scheduler.total_steps != cycle)
        return refused("training.scheduler.total_steps", std::to_string(cycle),
                       std::to_string(now.training.scheduler.total_steps));
    if (cycle > 0 && has_known_length(now) && steps_of(now) > cycle)
        return Error{ErrorCode::BadPlan,
                     "the one_cycle schedule of the checkpoint ends after " + std::to_string(cycle) +
                         " steps, the plan has " + std::to_string(steps_of(now)),
                     "train at most " + std::to_string(cycle) + " steps, or start a new run with a longer cycle"};
    return {};
}

std::string shown(const std::string& value) { return value.empty() ? "none" : value; }

}  // namespace

RunPlan with_schedule_of(const RunPlan& saved, RunPlan now) {
    SchedulerPlan& schedule = now.training.scheduler;
    if (!is_one_cycle(saved) || !is_one_cycle(now)) return now;
    const std::int64_t cycle = saved.training.scheduler.total_steps;
    if (cycle > 0 || has_known_length(saved)) schedule.total_steps = cycle > 0 ? cycle : steps_of(saved);
    return now;
}

Error nothing_left_to_do(std::int64_t planned, std::int64_t done) {
    return {ErrorCode::BadPlan,
            "nothing is left to do: the plan has " + std::to_string(planned) + " steps, and the checkpoint was saved after " +
                std::to_string(done),
            "make the plan longer, for example --max-steps " + std::to_string(done + std::max<std::int64_t>(planned, 1))};
}

Result<std::vector<std::string>> check_resume(const RunPlan& saved, std::int64_t saved_step, const RunPlan& now) {
    std::vector<std::string> told;
    if (auto subject = check_subject(saved, now); !subject) return subject.error();
    if (auto cycle = check_cycle(saved, now); !cycle) return cycle.error();
    for (const PlanField& field : plan_fields()) {
        const std::string before = field_text(field, saved), after = field_text(field, now);
        if (before == after) continue;
        switch (change_of(field.path)) {
            case Change::Free:
                break;
            case Change::Told:
                told.push_back(field.path + " changes from " + shown(before) + " to " + shown(after) + " at step " +
                               std::to_string(saved_step));
                break;
            case Change::Refused:
                return refused(field.path, before, after);
        }
    }
    if (has_known_length(now) && steps_of(now) <= saved_step) return nothing_left_to_do(steps_of(now), saved_step);
    return told;
}

}  // namespace mantissa
