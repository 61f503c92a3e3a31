#include "plan/run_plan.h"

#include "base/assert.h"

namespace mantissa {

TrainingPlan of_all_ranks(const RunPlan& plan) {
    TrainingPlan training = plan.training;
    const bool has_ranks = plan.launch.scope == LaunchScope::Ranks || plan.launch.scope == LaunchScope::Join;
    if (has_ranks && !training.split_batches) training.batch_size *= plan.launch.processes;
    return training;
}

std::int64_t planned_steps(const TrainingPlan& training, std::int64_t training_samples) {
    if (training.max_steps) return *training.max_steps;
    MANTISSA_ASSERT(training.batch_size > 0 && training.gradient_accumulation_steps > 0);
    const auto up = [](std::int64_t whole, std::int64_t part) {
        return whole / part + (whole % part != 0 ? 1 : 0);
    };
    // A short last batch is a batch unless it is dropped, and a short last window is a step (design: short_window says how it is
    // weighed).
    const std::int64_t batches =
        training.drop_last ? training_samples / training.batch_size : up(training_samples, training.batch_size);
    const std::int64_t windows = up(batches, training.gradient_accumulation_steps);
    return windows * training.epochs.value_or(default_epochs);
}

}  // namespace mantissa
