#include "judge/run_figures.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace mantissa {
namespace {

constexpr std::int64_t persistent_row = 8;
constexpr std::size_t persistent_in_window = 10;
constexpr std::int64_t persistent_window = 50;

struct SkipState {
    std::int64_t fault_row = 0, skip_row = 0;
    bool is_after_start = false;  // the scale found its place before the first row
    std::deque<std::int64_t> recent_faults;
};

void count_skip(const StepRow& row, RunFigures& figures, SkipState& state) {
    if (!row.skipped) {
        state.fault_row = state.skip_row = 0;
        return;
    }
    ++state.skip_row;
    const bool before_first = figures.applied == 0 && !state.is_after_start;
    if (before_first) ++figures.skips_at_start;
    if (!before_first)
        figures.longest_later_skip_row = std::max(figures.longest_later_skip_row, state.skip_row);
    if (row.skip_kind != SkipKind::Fault) {
        ++figures.probing;
        if (!before_first) ++figures.skips_later_probing;
        state.fault_row = 0;
        return;
    }
    ++figures.faults;
    ++state.fault_row;
    if (!figures.first_fault_step) figures.first_fault_step = row.step;
    figures.longest_fault_row = std::max(figures.longest_fault_row, state.fault_row);
    state.recent_faults.push_back(row.step);
    while (state.recent_faults.front() <= row.step - persistent_window) state.recent_faults.pop_front();
    if (state.fault_row >= persistent_row || state.recent_faults.size() >= persistent_in_window)
        figures.persistent = true;
}

void count_nonfinite(const StepRow& row, RunFigures& figures) {
    if (row.nonfinite_loss || !std::isfinite(row.loss)) {
        ++figures.nonfinite_losses;
        if (!figures.first_nonfinite_loss) {
            figures.first_nonfinite_loss = row.step;
            figures.first_nonfinite_value = row.loss;
        }
    }
    if (!row.loss_scale && row.nonfinite_grads > 0 && !figures.first_nonfinite_gradient) {
        figures.first_nonfinite_gradient = row.step;
    }
}

void follow_scale(const StepRow& row, std::optional<double> floor, RunFigures& figures) {
    if (!row.loss_scale) return;
    if (!figures.scale_first) figures.scale_first = row.loss_scale;
    figures.scale_last = row.loss_scale;
    if (!row.skipped && !figures.scale_settled) figures.scale_settled = row.loss_scale;
    if (row.skipped && floor && *row.loss_scale <= *floor && !figures.first_floor_skip_step) {
        figures.first_floor_skip_step = row.step;
    }
}

std::optional<std::int64_t> earlier(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
    if (!a) return b;
    return b ? std::min(*a, *b) : *a;
}

}  // namespace

std::optional<std::int64_t> RunFigures::first_bad_step() const {
    return earlier(first_nonfinite_loss, first_nonfinite_gradient);
}

std::optional<std::int64_t> RunFigures::trouble_step() const {
    return persistent ? earlier(first_bad_step(), first_fault_step) : first_bad_step();
}

RunFigures run_figures(const std::vector<StepRow>& steps, std::optional<double> scale_floor,
                       bool scale_goes_on) {
    RunFigures figures;
    SkipState skips;
    // Steps that were applied before a checkpoint don't count here.
    const std::int64_t before =
        steps.empty() || steps.front().step == 0
            ? 0
            : std::max<std::int64_t>(steps.front().applied_step - (steps.front().skipped ? 0 : 1), 0);
    skips.is_after_start = scale_goes_on && before > 0;
    for (const StepRow& row : steps) {
        ++figures.attempts;
        figures.last_step = row.step;
        count_skip(row, figures, skips);
        count_nonfinite(row, figures);
        follow_scale(row, scale_floor, figures);
        // A run that stops at a bad value has an attempt that is neither applied nor skipped by a scaler:
        // applied_step tells.
        if (!row.skipped && row.applied_step - before > figures.applied)
            figures.applied = row.applied_step - before;
    }
    figures.skips_in_row_at_end = skips.skip_row;
    return figures;
}

}  // namespace mantissa
